#!/bin/sh
# Builds the package at $1 in the private folder $2 and copies the library to $3.
set -eu
"$1/pipelines/need-swift.sh"
swift build -c release --product gstdepthmatte --disable-local-rpath --package-path "$1" --scratch-path "$2"
cp "$2/release/libgstdepthmatte.so" "$3"
