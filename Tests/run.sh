#!/bin/sh
# Installs what is missing, builds everything and runs every test, those of the launch lines in pipelines/ included.
#
#     ./Tests/run.sh [--get-swift] [--verbose]
#
# --get-swift fetches Swift from swift.org where it is missing (pipelines/need-swift.sh). --verbose shows what the steps
# print, which else goes to .build/log.
#
# With DEPTHMATTE_REAL_DATA set to a folder of recorded RGB-D cases (a manifest.json and the pictures it names), those
# run too. DEPTHMATTE_TEST_OUTPUT names a folder that keeps their composites.
set -eu

get=
for option in "$@"; do
    case $option in
    -h | --help)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --get-swift) get=--get-swift ;;
    --verbose) export DEPTHMATTE_VERBOSE=1 ;;
    *)
        echo "usage: $0 [--get-swift] [--verbose]" >&2
        exit 2
        ;;
    esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
PATH=$(pipelines/need-swift.sh $get)
export PATH
pipelines/install.sh build run test
pipelines/step.sh build "building everything" swift build -c release --build-tests --disable-local-rpath
pipelines/step.sh test "testing" Tests/leftovers.sh Tests/summary.sh swift test -c release --skip-build --no-parallel
if [ -z "${DEPTHMATTE_VERBOSE-}${CI-}" ]; then
    grep 'Test run with' "${DEPTHMATTE_LOGS:-.build/log}/test.log" | tail -n 1
fi
