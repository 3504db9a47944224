#!/bin/sh
# Completes the tree that `meson dist` packs: it takes the Meson files alone, which lie in a folder of the repository.
set -eu
root=$(git -C "$MESON_PROJECT_SOURCE_ROOT" rev-parse --show-toplevel)
git -C "$root" archive HEAD | tar -C "$MESON_PROJECT_DIST_ROOT" -x
