#!/bin/sh
# Completes the tree that `meson dist` packs: it takes the Meson files alone, which lie in a folder of the repository.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
root=$(git -C "$MESON_PROJECT_SOURCE_ROOT" rev-parse --show-toplevel)
git -C "$root" archive HEAD | tar -C "$MESON_PROJECT_DIST_ROOT" -x
