#!/bin/sh
# Breaks the kernels, the pairing and the privacy paths in more than 100 known ways, and shows which test notices each.
#
#     Tests/mutants.sh [ID...]   all faults, or those of some numbers
#
# The faults are the tables of Tests/mutants/*.toml. A copy of the sources, in .build/mutants/tree, is built once with all of
# them; an environment variable switches one on. Without one the copy has to pass the tests. The table is printed, and
# written to .build/mutants/table.md. Fails where a fault is not noticed, or where its code is no longer in the sources.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
for id in "$@"; do
    case $id in
    *[!0-9]* | '')
        echo "usage: $0 [ID...]" >&2
        exit 2
        ;;
    esac
done

cd "$(dirname "$0")/.."
PATH=$(pipelines/need-swift.sh)
export PATH
pipelines/install.sh build run test
tree=.build/mutants/tree
mkdir -p "$tree"
Tests/mutants/mutants.py copy "$tree"
swift build -c release --package-path "$tree" --build-tests --disable-local-rpath
exec Tests/mutants/mutants.py run "$tree" "$@"
