#!/bin/sh
# Makes a chroot of a Debian suite in .build/chroots on the first call, and prints its folder. For the tests that need one; as root.
#
#     Tests/chroot.sh SUITE NAME PACKAGE...
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
suite=$1
name=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
chroot=$root/.build/chroots/$suite-$name
if [ "$(id -u)" != 0 ]; then
    echo "a chroot needs root" >&2
    exit 1
fi
if [ ! -e "$chroot/.complete" ]; then
    {
        command -v debootstrap || apt-get install -y debootstrap
        rm -rf "$chroot"
        mkdir -p "$chroot"
        # An older debootstrap knows no suites that are newer than it; all are made alike.
        debootstrap --variant=minbase "$suite" "$chroot" http://deb.debian.org/debian /usr/share/debootstrap/scripts/sid
        cp /etc/resolv.conf "$chroot/etc/resolv.conf"
        # A mirror that lags behind is good enough.
        chroot "$chroot" apt-get -o Acquire::Check-Valid-Until=false update
        if [ $# -gt 0 ]; then
            chroot "$chroot" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
        fi
        touch "$chroot/.complete"
    } >&2
fi
echo "$chroot"
