#!/bin/sh
# Makes a program's manual page from its help, so that the two say the same.
#
#     meson-shim/man.sh FILE NAME VERSION
#
# FILE is the program, a shell or Python script whose help is its first comment or docstring: a sentence, the usage as indented
# lines, and paragraphs, in which "--option: text." explains an option. NAME is how the program is called where it is installed.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
[ $# = 3 ] || { echo "usage: $0 FILE NAME VERSION" >&2; exit 2; }

case $(head -n 1 "$1") in
*python*) sed -n '2s/^"""//; 2,/"""$/{s/"""$//; p;}' "$1" ;;
*) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1" ;;
esac | awk -v name="$2" -v version="$3" -v file="$(basename "$1")" '
    function escape(text) {
        gsub(/\\/, "\\e", text)
        gsub(/-/, "\\-", text)
        sub(/^[.\047]/, "\\\\\\&&", text)
        return text
    }
    # The text of a paragraph, with its options as a list.
    function paragraph(text, place) {
        if (match(text, /^--[a-z][-a-z]*[^:.]*: /)) {
            print ".TP\n.B " escape(substr(text, 1, RLENGTH - 2))
            text = substr(text, RLENGTH + 1)
            if (match(text, /\. --[a-z][-a-z]*[^:.]*: /)) {
                place = RSTART
                print escape(substr(text, 1, place))
                paragraph(substr(text, place + 2))
                return
            }
        } else if (started) {
            print ".PP"
        }
        started = 1
        print escape(text)
    }
    function flush() {
        if (text != "") paragraph(text)
        text = ""
    }
    { sub("(pipelines/)?" file, name) }
    NR == 1 {
        sub(/\.$/, "")
        print ".TH " toupper(name) " 1 \"\" \"gst-depthmatte " version "\"\n.SH NAME"
        print escape(name) " \\- " escape(tolower(substr($0, 1, 1)) substr($0, 2))
        next
    }
    /^$/ { flush(); if (usage == 1) { usage = 2; print ".fi\n.SH DESCRIPTION" } next }
    /^    / && usage == 0 { usage = 1; print ".SH SYNOPSIS\n.nf" }
    /^    / && usage == 1 { sub(/^    /, ""); print escape($0); next }
    /^    / { flush(); sub(/^    /, ""); print ".PP\n.RS\n.nf\n" escape($0) "\n.fi\n.RE"; next }
    { text = text (text == "" ? "" : " ") $0 }
    END {
        flush()
        print ".SH SEE ALSO\n.BR gst\\-launch\\-1.0 (1),\n.BR gst\\-inspect\\-1.0 (1)"
    }'
