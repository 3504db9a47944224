#!/bin/sh
# Runs a command, and ends what it started and left behind: lists it, and fails with status 99 where the command did not.
#
#     Tests/leftovers.sh Tests/summary.sh swift test --no-parallel
#
# Processes are known by a variable of their environment. They are ended too where this script is killed.
set -eu
case ${1-} in
-h | --help | '')
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

run=$$-$(date +%s)
# The files of the processes that are left. A process that has ended has no environment, nor for a moment one that
# starts a program: so all have ended where a few looks in a row find none.
left="grep -lzxF DEPTHMATTE_TEST_RUN=$run /proc/[0-9]*/environ 2>/dev/null"

# In a session of its own, so that no signal to this one's group ends it too.
# shellcheck disable=SC2016
setsid sh -c 'tail -s 0.2 --pid="$1" -f /dev/null
    for look in 1 2 3; do
        for file in $(eval "$2"); do kill -KILL "$(basename "$(dirname "$file")")" 2>/dev/null; done
        sleep 0.1
    done' guard $$ "$left" \
    </dev/null >/dev/null 2>&1 &

status=0
DEPTHMATTE_TEST_RUN=$run "$@" || status=$?
# What ends by the end of its parent takes a moment.
quiet=0
for _ in $(seq 30); do
    quiet=$((quiet + 1))
    [ -z "$(eval "$left")" ] || quiet=0
    [ "$quiet" -lt 3 ] || exit "$status"
    sleep 0.1
done
echo "Tests/leftovers.sh: $1 left processes behind:" >&2
for file in $(eval "$left"); do
    folder=$(dirname "$file")
    echo "    $(basename "$folder"): $(tr '\0\n' '  ' <"$folder/cmdline" | cut -c 1-200)" >&2
done
[ "$status" -ne 0 ] || status=99
exit "$status"
