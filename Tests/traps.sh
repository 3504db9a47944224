#!/bin/sh
# Lists where Swift would end the host program: the traps in the machine code of the library as it is shipped, each with
# its kind and our function that it belongs to. Fails where one is not explained in Tests/traps/explained.txt, or where that
# explains one that is gone. So it does where code for newer processors may be taken for all: code of the objects of
# DepthLoopsV3, beside the library, under a name that is not that module's own.
#
#     Tests/traps.sh [LIBRARY]             compares; the library of `swift build -c release` by default
#     Tests/traps.sh --list [LIBRARY]      prints each with its lines in the sources and its explanation
#     Tests/traps.sh --update [LIBRARY]    writes the list anew, with ? where an explanation is missing
#
# The list was made with Swift 6.3 for x86_64: another compiler keeps other checks, and has another list.
set -eu
option=
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--list | --update)
    option=$1
    shift
    ;;
-*)
    echo "usage: $0 [--list|--update] [LIBRARY]" >&2
    exit 2
    ;;
esac

folder=$(dirname "$0")
library=${1:-$folder/../.build/release/libgstdepthmatte.so}
if [ ! -f "$library" ]; then
    echo "$library is missing: swift build -c release --product gstdepthmatte" >&2
    exit 2
fi
PATH=$("$folder/../pipelines/need-swift.sh")
export PATH
tools=$(dirname "$(readlink -f "$(command -v swift)")")
exec python3 "$folder/traps/traps.py" "$tools" "$library" ${option:+"$option"}
