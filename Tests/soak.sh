#!/bin/sh
# Runs the endurance tests in full: 10,000 state cycles, 20,000 flushing seeks, 50,000 requests of each pad, 1,000,000
# frames, 300,000 of three inputs; eight hours of 30 frames a second, in which settings, caps, seeks, stops and lost depth
# follow each other by a seed, and eight live hours on a test clock; 64 instances at once; 1,000 processes that load the
# plugin. It ends with a summary: what happened, and by how much memory grew. All output is in .build/log/soak.log.
#
#     Tests/soak.sh [FILTER]
#
# FILTER: a regular expression of test names; all endurance tests by default
#
# DEPTHMATTE_SEED    the number that the events follow from; 1 by default
# DEPTHMATTE_LOGS    another folder for the log
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

cd "$(dirname "$0")/.."
PATH=$(pipelines/need-swift.sh)
export PATH
pipelines/install.sh build run test
swift build -c release --build-tests --disable-local-rpath
log=${DEPTHMATTE_LOGS:-.build/log}/soak.log
mkdir -p "$(dirname "$log")"
status_file=$(mktemp)
trap 'rm -f "$status_file"' EXIT
# With one arena the allocator does not grow by the megabyte when another thread happens to ask; with slices from malloc
# GLib does not keep freed events and buffers in stacks that grow whenever threads contend for them.
{
    status=0
    Tests/summary.sh env MALLOC_ARENA_MAX=1 G_SLICE=always-malloc SWIFT_BACKTRACE=enable=no DEPTHMATTE_SOAK=full \
        swift test -c release --skip-build --no-parallel --filter "${1:-SoakTests}" 2>&1 || status=$?
    echo "$status" >"$status_file"
} | tee "$log"
echo "Summary:"
grep -E '^(soak:|resident memory)|Test run with' "$log" || true
exit "$(cat "$status_file")"
