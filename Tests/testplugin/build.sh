#!/bin/sh
# Builds the test plugin into the folder named by the only argument, when it is older than its source.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=$1/libgstdepthmattetest.so
if [ -n "$(find "$output" -newer "$here/roiset.c" 2>/dev/null)" ]; then exit 0; fi
mkdir -p "$1"
compiler=${CC:-$(command -v cc || command -v clang)}
# shellcheck disable=SC2046
"$compiler" -shared -fPIC -O2 -Wall -Werror -o "$output" "$here/roiset.c" \
    $(pkg-config --cflags --libs gstreamer-1.0 gstreamer-base-1.0 gstreamer-video-1.0)
