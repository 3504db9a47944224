#!/bin/sh
# Installs Debian packages that are missing, and does nothing, not even read the package lists, when none is.
#
#     pipelines/install.sh build run test lint
#
# build: to build the plugin, for which Swift must be there already. run: to run the demo and the launch lines.
# test: to run the tests. lint: to check the scripts.
set -eu

wanted=
for purpose in "$@"; do
    case $purpose in
    build)
        "$(dirname "$0")/need-swift.sh"
        wanted="$wanted pkg-config libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev"
        ;;
    run)
        wanted="$wanted gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-x"
        wanted="$wanted gstreamer1.0-plugins-bad gstreamer1.0-libav gstreamer1.0-opencv opencv-data"
        ;;
    test) wanted="$wanted gstreamer1.0-plugins-bad binutils meson ninja-build xvfb xdotool libfreenect0.5" ;;
    lint) wanted="$wanted shellcheck" ;;
    *)
        echo "usage: $0 [build] [run] [test] [lint]" >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "$0: this is no Debian; meson-shim/README.md says what to install" >&2
    exit 0
fi

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=absent
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing$missing"
as_root="env DEBIAN_FRONTEND=noninteractive"
[ "$(id -u)" -eq 0 ] || as_root="sudo $as_root"
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing
