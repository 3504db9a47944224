#!/bin/sh
# Writes the generated parts of README.md: the launch lines from the files in this folder, and the tables of properties
# from what the built plugin says about itself.
#
#     pipelines/readme.sh          writes
#     pipelines/readme.sh --check  writes nothing; fails and shows the difference when README.md is not up to date
#
# A part stands between "<!-- begin line FILE -->" or "<!-- begin properties ELEMENT -->" and "<!-- end -->".
set -eu

here=$(cd "$(dirname "$0")" && pwd)
readme=$here/../README.md
if [ -z "${GST_PLUGIN_PATH-}" ]; then
    GST_PLUGIN_PATH=$(cd "$here/../.build/release" && pwd)
    export GST_PLUGIN_PATH
fi

launch_line() {
    # shellcheck disable=SC2016
    printf '```sh\n./pipelines/run.sh pipelines/%s\n```\n```text\n' "$1"
    grep -v '^#' "$here/$1"
    printf '```\n\n'
    # shellcheck disable=SC2016
    sed -n 's/^#: *\([A-Z_]*\)=\([^ ]*\)  *\(.*\)/- `\1` (`\2`): \3/p' "$here/$1"
}

# gst-inspect-1.0 gives for each property its name and meaning, its flags, its type with range and default, and the
# values of an enumeration. What every element or aggregator has is left out.
properties() {
    inspected=$(LC_ALL=C gst-inspect-1.0 --no-colors "$1")
    printf '| Property | Type and range | Default | Changes | Meaning |\n|---|---|---|---|---|\n'
    printf '%s\n' "$inspected" | awk '
        function flush() {
            if (name != "" && !(name in inherited))
                printf "| `%s` | %s | %s | %s | %s%s |\n", name, type, value, changes, meaning, nicks
            name = ""
        }
        function trim(text) { gsub(/^ +| +$/, "", text); gsub(/ +/, " ", text); return text }
        BEGIN {
            split("name parent emit-signals latency min-upstream-latency start-time start-time-selection", list, " ")
            for (i in list) inherited[list[i]] = 1
        }
        /^Element Properties:/ { inside = 1; next }
        inside && /^[^ ]/ { flush(); inside = 0 }
        !inside { next }
        /^  [a-z][-a-z0-9]* *: / {
            flush()
            name = trim(substr($0, 1, index($0, ":") - 1))
            meaning = trim(substr($0, index($0, ":") + 1))
            type = value = changes = nicks = ""
            next
        }
        /^ +flags: / {
            changes = /controllable/ ? "any time" : "any time, no controller"
            if (/changeable only in NULL or READY/) changes = "stopped"
            if (!/writable/) changes = "never"
            next
        }
        /^ +\([-0-9]+\): / {
            nick = trim(substr($0, index($0, ":") + 1))
            cut = index(nick, " - ")
            nicks = nicks "<br>`" trim(substr(nick, 1, cut - 1)) "`: " substr(nick, cut + 3)
            next
        }
        / Default: / || /^ +(Enum|Boolean|String)/ {
            value = trim(substr($0, index($0, "Default: ") + 9))
            type = trim(substr($0, 1, index($0, "Default: ") - 1))
            if (type ~ /^Enum/) { type = "enumeration"; sub(/^[-0-9]+, /, "", value); gsub(/"/, "", value) }
            sub(/\. ?Range: /, ", ", type)
            sub(/\.$/, "", type)
            gsub(/ - /, " to ", type)
            if (name ~ /-color$/) value = sprintf("0x%08x", value)
            value = "`" value "`"
            type = tolower(type)
        }
        END { flush() }'
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
skipping=no
while IFS= read -r text; do
    case $text in
    '<!-- begin line '*' -->')
        file=${text#'<!-- begin line '}
        printf '%s\n' "$text"
        launch_line "${file%' -->'}"
        skipping=yes
        ;;
    '<!-- begin properties '*' -->')
        element=${text#'<!-- begin properties '}
        printf '%s\n' "$text"
        properties "${element%' -->'}"
        skipping=yes
        ;;
    '<!-- end -->')
        printf '%s\n' "$text"
        skipping=no
        ;;
    *) [ "$skipping" = yes ] || printf '%s\n' "$text" ;;
    esac
done <"$readme" >"$output"

if [ "${1-}" = --check ]; then
    diff -u "$readme" "$output"
else
    cat "$output" >"$readme"
fi
