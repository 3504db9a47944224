#!/bin/sh
# Builds the package at $1 in the private folder $2 and copies the library to $3. Within a build of GStreamer the rest are the
# libraries of GStreamer that were built there.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
package=$1
scratch=$2
output=$3
shift 3
PATH=$("$package/pipelines/need-swift.sh")
export PATH
if [ $# -gt 0 ]; then
    # Meson marks the files of what is not installed by their names, by which Swift's package manager does not find them.
    mkdir -p "$scratch/pkgconfig"
    for file in meson-uninstalled/*-uninstalled.pc; do
        ln -sf "$PWD/$file" "$scratch/pkgconfig/$(basename "$file" -uninstalled.pc).pc"
    done
    export PKG_CONFIG_PATH="$PWD/$scratch/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
    for library; do
        set -- "$@" -Xlinker "-L$PWD/$(dirname "$library")"
        shift
    done
fi
swift build -c release --product gstdepthmatte --disable-local-rpath --package-path "$package" --scratch-path "$scratch" "$@"
cp "$scratch/release/libgstdepthmatte.so" "$output"
