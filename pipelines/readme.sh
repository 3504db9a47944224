#!/bin/sh
# Writes the generated parts of the README files: the launch lines from the files in this folder, and the tables of
# properties from what the built plugin says about itself.
#
#     pipelines/readme.sh          writes
#     pipelines/readme.sh --check  writes nothing; fails and shows the difference where a page is not up to date
#
# A part stands between "<!-- begin KIND WHAT -->" and "<!-- end -->". Its kind is
#
#     line FILE           the launch line of a file, with its variables
#     command FILE        the same as one gst-launch-1.0 command, with the variables' defaults
#     properties ELEMENT  the table of an element's properties
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/pipelines
if [ -z "${GST_PLUGIN_PATH-}" ]; then
    GST_PLUGIN_PATH=$(cd "$root/.build/release" && pwd)
    export GST_PLUGIN_PATH
fi

launch_line() {
    # shellcheck disable=SC2016
    printf '```sh\n./pipelines/run.sh pipelines/%s\n```\n```text\n' "$1"
    grep -v '^#' "$here/$1"
    printf '```\n\n'
    # shellcheck disable=SC2016
    # A default ends at two spaces.
    sed -n '/^#: */{s///; s/  /\n/; s/^\([A-Z_]*\)=\(.*\)\n *\(.*\)/- `\1` (`\2`): \3/p}' "$here/$1"
}

command_line() {
    # shellcheck disable=SC2016
    printf '```sh\nexport GST_PLUGIN_PATH=$PWD/.build/release\n'
    variables=$(sed -n 's/^#: *\([A-Z_]*=[^ ]*\).*/\1/p' "$here/$1")
    text=$(grep -v '^#' "$here/$1")
    for variable in $variables 'PIPELINES=pipelines'; do
        text=$(printf '%s\n' "$text" | sed "s|[$]${variable%%=*}|${variable#*=}|g")
    done
    printf '%s\n' "$text" | sed '1s/^/gst-launch-1.0 /; 2,$s/^ */    /; $!s/$/ \\/'
    # shellcheck disable=SC2016
    printf '```\n'
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
            split("name parent emit-signals latency min-upstream-latency start-time start-time-selection qos", list, " ")
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

# The text of a page with its generated parts as they should be.
page() {
    skipping=no
    while IFS= read -r text; do
        part=${text#'<!-- begin '}
        part=${part%' -->'}
        case $text in
        '<!-- begin line '*' -->') printf '%s\n' "$text"; launch_line "${part#line }"; skipping=yes ;;
        '<!-- begin command '*' -->') printf '%s\n' "$text"; command_line "${part#command }"; skipping=yes ;;
        '<!-- begin properties '*' -->') printf '%s\n' "$text"; properties "${part#properties }"; skipping=yes ;;
        '<!-- end -->') printf '%s\n' "$text"; skipping=no ;;
        *) [ "$skipping" = yes ] || printf '%s\n' "$text" ;;
        esac
    done <"$1"
}

output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
cd "$root"
for file in README.md pipelines/README.md pipelines/outputs.md pipelines/depth-video.md Sources/DepthMattePlugin/*/README.md; do
    page "$file" >"$output"
    if [ "${1-}" = --check ]; then
        diff -u "$file" "$output" || status=1
    else
        cat "$output" >"$file"
    fi
done
exit "$status"
