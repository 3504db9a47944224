#!/bin/sh
# Installs Debian packages that are missing, and does nothing, not even read the package lists, when none is.
#
#     pipelines/install.sh build run test package lint reference swift
#
# build: to build the plugin, for which Swift must be there already. run: to run the demo and the launch lines.
# test: to run the tests. package: to build the Debian package. lint: to check the scripts. reference: to compare mattes with
# the reference in Python. swift: to fetch Swift's toolchain and to run it.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

wanted=
# Tests of these are skipped where they cannot be had.
optional=
for purpose in "$@"; do
    case $purpose in
    build)
        "$(dirname "$0")/need-swift.sh" >/dev/null
        wanted="$wanted pkg-config libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev"
        ;;
    run)
        wanted="$wanted gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-x"
        wanted="$wanted gstreamer1.0-plugins-bad gstreamer1.0-libav gstreamer1.0-opencv opencv-data"
        ;;
    test)
        wanted="$wanted gstreamer1.0-plugins-bad binutils meson ninja-build xvfb xdotool curl gpg"
        optional="$optional valgrind libfreenect0.5 libopenni2-0 python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0"
        optional="$optional parallel mkvtoolnix rsync openssh-client openssh-server iproute2"
        optional="$optional pipewire wireplumber gstreamer1.0-pipewire gstreamer1.0-nice gir1.2-gst-plugins-bad-1.0 ffmpeg"
        optional="$optional gir1.2-gst-rtsp-server-1.0 python3-venv desktop-file-utils"
        optional="$optional python3-gi-cairo gir1.2-gtk-3.0 gstreamer1.0-gtk3 gstreamer1.0-gl"
        ;;
    package) wanted="$wanted binutils debhelper meson" ;;
    lint) wanted="$wanted shellcheck" ;;
    reference) wanted="$wanted python3-numpy python3-opencv" ;;
    swift)
        # What Swift's own images install; g++ brings the libstdc++ of this system.
        wanted="$wanted curl ca-certificates gpg binutils git g++ pkg-config libicu-dev libcurl4-openssl-dev libedit-dev"
        wanted="$wanted libsqlite3-dev libncurses-dev libpython3-dev libxml2-dev uuid-dev tzdata"
        ;;
    *)
        echo "usage: $0 [build] [run] [test] [package] [lint] [reference] [swift]" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "$0: this is no Debian; meson-shim/README.md says what to install" >&2
    exit 0
fi

absent() {
    for package in "$@"; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=absent
        [ "$state" = installed ] || printf ' %s' "$package"
    done
}
# shellcheck disable=SC2086
missing=$(absent $wanted)
# shellcheck disable=SC2086
optional=$(absent $optional)
[ -n "$missing$optional" ] || exit 0

as_root="env DEBIAN_FRONTEND=noninteractive"
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo $as_root"
    if ! command -v sudo >/dev/null; then
        {
            echo "$0: packages are missing, and without sudo they cannot be installed from here. As root:"
            echo
            echo "    apt-get install --no-install-recommends$missing$optional"
            echo
        } >&2
        # Without the optional ones the tests run, except theirs.
        [ -z "$missing" ] || exit 1
        exit 0
    fi
fi

step=$(dirname "$0")/step.sh
# shellcheck disable=SC2086
"$step" packages "reading the package lists" $as_root apt-get update -qq
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    "$step" install "installing$missing" $as_root apt-get install -y -qq --no-install-recommends $missing
fi
[ -n "$optional" ] || exit 0
# One that cannot be had must not keep the others out.
# shellcheck disable=SC2086
"$step" install-optional "installing$optional" $as_root apt-get install -y -qq --no-install-recommends $optional ||
    for package in $optional; do
        "$step" "install-$package" "installing $package" $as_root apt-get install -y -qq --no-install-recommends "$package" ||
            echo "$0: $package cannot be had; its tests are skipped" >&2
    done
