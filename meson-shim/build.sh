#!/bin/sh
# Builds the package at $1 in the private folder $2 and copies the library to $3.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
PATH=$("$1/pipelines/need-swift.sh")
export PATH
swift build -c release --product gstdepthmatte --disable-local-rpath --package-path "$1" --scratch-path "$2"
cp "$2/release/libgstdepthmatte.so" "$3"
