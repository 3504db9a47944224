#!/bin/sh
# Builds the test plugin into the folder named by the only argument, when it is older than its sources.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
output=$1/libgstdepthmattetest.so
rules=$here/../CStreamRules
# shellcheck disable=SC2012 # the names are the project's own
newest=$(ls -t "$here"/*.c "$rules"/*.c "$rules"/include/*.h | head -n 1)
if [ -n "$(find "$output" -newer "$newest" 2>/dev/null)" ]; then exit 0; fi
mkdir -p "$1"
compiler=${CC:-$(command -v cc || command -v clang)}
# shellcheck disable=SC2046
"$compiler" -shared -fPIC -O2 -Wall -Werror -I"$rules/include" -o "$output" "$here/roiset.c" "$rules/CStreamRules.c" \
    $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-base-1.0 gstreamer-video-1.0)
