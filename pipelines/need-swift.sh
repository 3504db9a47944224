#!/bin/sh
# Does nothing where Swift is new enough for Package.swift. Otherwise it says how Swift is installed, and fails.
set -eu

package=$(dirname "$0")/../Package.swift
needed=$(sed -n '1s/.*swift-tools-version: *\([0-9]*\.[0-9]*\).*/\1/p' "$package")
found=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)

number() { # of a version MAJOR.MINOR, for comparisons
    echo $((${1%.*} * 1000 + ${1#*.}))
}

if [ -n "$found" ]; then
    [ "$(number "$found")" -lt "$(number "$needed")" ] || exit 0
    state="the swift in the path is version $found"
elif command -v swift >/dev/null; then
    state="$(command -v swift) does not say its version"
else
    state="there is no swift in the path"
fi

# shellcheck disable=SC2016
{
    echo "Building gst-depthmatte needs Swift $needed or newer; $state. These commands install the latest"
    echo 'on Linux, for the current user:'
    echo
    echo '    curl -O "https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz"'
    echo '    tar -zxf "swiftly-$(uname -m).tar.gz"'
    echo '    ./swiftly init'
    echo '    . "${SWIFTLY_HOME_DIR:-$HOME/.local/share/swiftly}/env.sh"'
    echo '    swiftly install latest'
    echo '    swiftly use latest'
    echo
    echo 'https://www.swift.org/install/linux/ says more about them, and about other systems.'
} >&2
exit 1
