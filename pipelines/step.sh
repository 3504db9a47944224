#!/bin/sh
# Runs a command as one quiet step: it prints one line, and what the command prints is kept in a log.
#
#     pipelines/step.sh NAME TITLE COMMAND...
#
# The log is .build/log/NAME.log. When the command fails, the failures that Tests/summary.sh listed are shown, or else the
# last lines. With CI or DEPTHMATTE_VERBOSE set all is shown as it comes. DEPTHMATTE_LOGS names another folder for logs.
set -eu

case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
[ $# -ge 3 ] || { echo "usage: $0 NAME TITLE COMMAND..." >&2; exit 2; }

folder=${DEPTHMATTE_LOGS:-$(cd "$(dirname "$0")/.." && pwd)/.build/log}
mkdir -p "$folder"
log=$folder/$1.log
title=$2
shift 2

verbose=no
[ -z "${DEPTHMATTE_VERBOSE-}" ] || verbose=yes
case ${CI-} in
'' | 0 | false) ;;
*) verbose=yes ;;
esac

keep() {
    if [ "$verbose" = yes ]; then tee "$log"; else cat >"$log"; fi
}

if [ "$verbose" = yes ]; then
    echo "$title …"
else
    echo "$title … (log: ${log#"$PWD"/})"
fi
status_file=$(mktemp)
trap 'rm -f "$status_file"' EXIT
# SwiftPM does not pass on the -pthread of pkg-config's files, and says so for each of them at every build.
{
    status=0
    "$@" 2>&1 || status=$?
    echo "$status" >"$status_file"
} | { grep --line-buffered -v 'prohibited flag(s)' || :; } | keep
status=$(cat "$status_file")
if [ "$status" -ne 0 ] && [ "$verbose" = no ]; then
    {
        echo "$title failed, with status $status. The end of $log:"
        if grep -q '^Tests/summary.sh: .* exited with' "$log"; then
            sed -n '/^Tests\/summary.sh: .* exited with/,$p' "$log"
        else
            tail -n 20 "$log"
        fi
    } >&2
fi
exit "$status"
