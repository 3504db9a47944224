#!/bin/sh
# Builds the Debian package.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<END
usage: meson-shim/package.sh [FOLDER]

Builds the Debian package gstreamer1.0-depthmatte with dpkg-buildpackage from the files that git knows, and leaves it in FOLDER
(default: .build/package). Needs Swift, and installs the Debian packages that the build needs where they are missing.
END
}

case ${1:-} in
-h | --help) usage && exit ;;
-*) usage >&2 && exit 2 ;;
esac
"$root/pipelines/install.sh" build package
folder=${1:-$root/.build/package}
work=$folder/source
mkdir -p "$work"
# Files that the last build left there are kept, so that Swift compiles only what changed.
find "$work" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
git -C "$root" ls-files -z | tar -C "$root" --null -T - -c | tar -C "$work" -x
cp -R "$root/meson-shim/debian" "$work/debian"
cd "$work"
dpkg-buildpackage -us -uc -b
