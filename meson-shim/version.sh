#!/bin/sh
# Prints the version, which the plugin's header defines.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
folder=$(dirname "$0")
[ -e "$folder/Package.swift" ] || folder=$folder/..
header=$folder/Sources/CDepthMatte/include/CDepthMatte.h
version=$(sed -n 's/^#define DEPTHMATTE_VERSION "\(.*\)"$/\1/p' "$header")
[ -n "$version" ] || { echo "$0: no DEPTHMATTE_VERSION in $header" >&2; exit 1; }
echo "$version"
