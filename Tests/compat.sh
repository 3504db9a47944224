#!/bin/sh
# Runs the built library on a newer GStreamer: Debian's, in a chroot without Swift.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<END
usage: Tests/compat.sh [SUITE]

Builds the plugin and runs it in a chroot of a Debian suite: trixie (the default, GStreamer 1.26), forky or sid. Its frames
must be those of this system's GStreamer, and the metas of gst-analytics must be read and written.

The chroot is made by debootstrap on the first run, which takes a minute or two, and kept under .build/chroots. Needs root.
END
}

case ${1:-trixie} in
-h | --help) usage && exit ;;
trixie | forky | sid) suite=${1:-trixie} ;;
*) usage >&2 && exit 2 ;;
esac
cd "$root"
chroot=$(Tests/chroot.sh "$suite" gstreamer gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
    gstreamer1.0-plugins-bad python3-gst-1.0 gir1.2-gst-plugins-base-1.0 gir1.2-gst-plugins-bad-1.0)

PATH=$(pipelines/need-swift.sh)
export PATH
swift build -c release --product gstdepthmatte
work=$chroot/tmp/compat
rm -rf "$work"
mkdir -p "$work"
cp .build/release/libgstdepthmatte.so Tests/compat/check.py "$work"
export SWIFT_BACKTRACE=enable=no
GST_REGISTRY=$work/here.bin GST_PLUGIN_PATH=$work timeout -s KILL 300 \
    /usr/bin/python3 "$work/check.py" frames "$work/frames"
chroot "$chroot" env GST_REGISTRY=/tmp/compat/there.bin GST_PLUGIN_PATH=/tmp/compat timeout -s KILL 300 \
    /usr/bin/python3 /tmp/compat/check.py compare /tmp/compat/frames
