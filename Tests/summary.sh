#!/bin/sh
# Runs a command and, when it fails, repeats the lines that tell of failures at the end of its output.
#
#     Tests/summary.sh swift test --no-parallel
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

log=$(mktemp)
trap 'rm -f "$log" "$log.status"' EXIT
{
    status=0
    "$@" 2>&1 || status=$?
    echo "$status" >"$log.status"
} | tee "$log"
status=$(cat "$log.status")
if [ "$status" -ne 0 ]; then
    echo "$0: $1 exited with $status. Failures:"
    grep -E '✘|↳|Fatal error|(WARNING|ERROR|SUMMARY): [A-Z][a-z]+Sanitizer' "$log" || true
fi
exit "$status"
