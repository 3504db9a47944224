#!/bin/sh
# Finds a Swift that is new enough for Package.swift and prints a PATH with it.
#
#     PATH=$(pipelines/need-swift.sh [--get-swift])
#
# It looks in SWIFT_TOOLCHAIN (the folder of a toolchain), in the path, in swiftly's folder (SWIFTLY_BIN_DIR or
# ~/.local/share/swiftly/bin), and among the toolchains that it fetched before. Where there is none, --get-swift, or a
# yes at the prompt of a terminal, fetches swift.org's for this Debian or Ubuntu, checks the signature and unpacks it
# under ~/.local/share/gst-depthmatte. Otherwise it says how Swift is installed, and fails.
#
# SWIFT_RELEASE        the release to fetch; 6.3.1 by default
# SWIFT_MIRROR         where releases are, instead of https://download.swift.org
# SWIFT_KEYS_URL       where the public keys are, instead of https://www.swift.org/keys/all-keys.asc
# SWIFT_SIGNING_KEY    the fingerprint of the key that signed the release, instead of Swift's for 6.x
set -eu

get=no
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--get-swift) get=yes ;;
'') ;;
*)
    echo "usage: $0 [--get-swift]" >&2
    exit 2
    ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
needed=$(sed -n '1s/.*swift-tools-version: *\([0-9]*\.[0-9]*\).*/\1/p' "$here/../Package.swift")
release=${SWIFT_RELEASE:-6.3.1}
mirror=${SWIFT_MIRROR:-https://download.swift.org}
keys=${SWIFT_KEYS_URL:-https://www.swift.org/keys/all-keys.asc}
# The "Swift 6.x Release Signing Key" of https://www.swift.org/keys/active/ and of Swift's Docker files.
key=${SWIFT_SIGNING_KEY:-52BB7E3DE28A71BE22EC05FFEF80A866B47A981F}
own=${HOME-}/.local/share/gst-depthmatte

number() { # of a version MAJOR.MINOR, for comparisons
    echo $((${1%.*} * 1000 + ${1#*.}))
}

version() { # of the swift in the folder $1, MAJOR.MINOR; nothing where it does not say
    "$1/swift" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1
}

new_enough() { # the swift in the folder $1
    [ -x "$1/swift" ] || return 1
    found=$(version "$1")
    [ -n "$found" ] && [ "$(number "$found")" -ge "$(number "$needed")" ]
}

# The folder of a swift that is there but does not run, as where a library that it needs is not installed.
broken=
keep_if_broken() { # the folder $1
    if [ -x "$1/swift" ] && [ -z "$(version "$1")" ]; then broken=$1; fi
}

complaint() { # of the swift in the folder $broken
    said=$("$broken/swift" --version 2>&1 | head -n 1)
    echo "$broken/swift does not say its version${said:+ ($said)}"
}

use() { # the folder $1
    if [ "$(command -v swift || :)" = "$1/swift" ]; then
        echo "$PATH"
    else
        echo "$1:$PATH"
    fi
    exit 0
}

if [ -n "${SWIFT_TOOLCHAIN-}" ]; then
    for folder in "$SWIFT_TOOLCHAIN/usr/bin" "$SWIFT_TOOLCHAIN/bin" "$SWIFT_TOOLCHAIN"; do
        if new_enough "$folder"; then use "$folder"; fi
        [ -n "$broken" ] || keep_if_broken "$folder"
    done
    echo "$0: SWIFT_TOOLCHAIN is $SWIFT_TOOLCHAIN, but there is no Swift $needed or newer" >&2
    [ -z "$broken" ] || complaint >&2
fi

state="there is no swift in the path"
if swift=$(command -v swift); then
    folder=$(dirname "$swift")
    if new_enough "$folder"; then use "$folder"; fi
    found=$(version "$folder")
    state="the swift in the path is version $found"
    if [ -z "$found" ]; then
        broken=$folder
        state=$(complaint)
    fi
fi

for folder in "${SWIFTLY_BIN_DIR:-${SWIFTLY_HOME_DIR:-${HOME-}/.local/share/swiftly}/bin}" \
    "$own/swift-$release/usr/bin" "$own"/swift-*/usr/bin; do
    if new_enough "$folder"; then use "$folder"; fi
done

# The name of swift.org's builds for this system. Debian 13 runs those for Debian 12.
system=
if [ -r /etc/os-release ]; then
    system=$(
        # shellcheck disable=SC1091
        . /etc/os-release
        case ${UBUNTU_CODENAME:-${DEBIAN_CODENAME:-${VERSION_CODENAME-}}} in
        bookworm | trixie) echo debian12 ;;
        jammy) echo ubuntu22.04 ;;
        noble) echo ubuntu24.04 ;;
        esac
    )
fi
case $(uname -m) in
x86_64) ;;
aarch64) system=${system:+$system-aarch64} ;;
*) system= ;;
esac

if [ "$get" = no ] && [ -n "$system" ] && [ -t 0 ] && [ -t 2 ]; then
    echo "Building gst-depthmatte needs Swift $needed or newer; $state." >&2
    printf 'Fetch Swift %s (1 GB, unpacked 3 GB) to %s? [y/N] ' "$release" "$own" >&2
    read -r answer || answer=
    case $answer in
    [yY]*) get=yes ;;
    esac
fi

if [ "$get" = no ]; then
    # shellcheck disable=SC2016
    {
        echo "Building gst-depthmatte needs Swift $needed or newer; $state."
        [ -z "$broken" ] || echo "On Debian, $here/install.sh swift installs the packages that Swift needs."
        [ -z "$system" ] || echo "The option --get-swift fetches it from swift.org to $own."
        echo 'These commands install the latest on Linux, for the current user:'
        echo
        echo '    curl -O "https://download.swift.org/swiftly/linux/swiftly-$(uname -m).tar.gz"'
        echo '    tar -zxf "swiftly-$(uname -m).tar.gz"'
        echo '    ./swiftly init'
        echo '    . "${SWIFTLY_HOME_DIR:-$HOME/.local/share/swiftly}/env.sh"'
        echo '    swiftly install latest'
        echo '    swiftly use latest'
        echo
        echo 'https://www.swift.org/install/linux/ says more about them, and about other systems.'
        echo 'A toolchain that is elsewhere is named by SWIFT_TOOLCHAIN.'
    } >&2
    exit 1
fi

fail() { # with what happened and what to do; nothing of the download stays
    {
        echo "$0: $1"
        [ $# -lt 2 ] || echo "$2"
        echo "Nothing was kept. A toolchain that was unpacked by other means is named by SWIFT_TOOLCHAIN."
    } >&2
    exit 1
}

[ -n "$system" ] || fail "swift.org has no Swift $release for this system that is known here." \
    "https://www.swift.org/install/ lists the systems."
[ -n "${HOME-}" ] || fail "HOME is not set, so there is no folder for Swift."

"$here/install.sh" swift >&2
# With them, the swift that was there may run.
if [ -n "$broken" ] && new_enough "$broken"; then use "$broken"; fi

if ! mkdir -p "$own" || ! work=$(mktemp -d "$own/.fetch.XXXXXX"); then
    fail "$own cannot be written." "Make it writable, or make room on its disk."
fi
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

fail_of_space() {
    free=$(df -Pm "$own" 2>/dev/null | awk 'NR == 2 { print $4 }')
    fail "there is no space left for Swift in $own (${free:-?} MB are free)." \
        "The download and the toolchain take 4 GB. Make room, or link that folder to a larger disk."
}

fetch() { # the address $1 to the file $2
    status=0
    # What programs say is kept in variables, as the disk may be full.
    { said=$(
        curl --fail --location --show-error "$progress" --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
            --output "$2" "$1" 2>&"$messages"
    ) || status=$?; } 3>&2
    case $status in
    0) return ;;
    23) fail_of_space ;;
    5 | 6 | 7 | 35 | 60) what="cannot be reached" todo="Check the network and https_proxy, or name a mirror by SWIFT_MIRROR." ;;
    18 | 28 | 55 | 56 | 92) what="broke off" todo="Run the same command again." ;;
    22) what="is not there" todo="Check SWIFT_RELEASE and SWIFT_MIRROR." ;;
    *) what="cannot be fetched" todo="Run the same command again." ;;
    esac
    fail "$1 $what (${said:-curl ended with $status})." "$todo"
}

name=swift-$release-RELEASE
address=$mirror/swift-$release-release/$(echo "$system" | tr -d .)/$name/$name-$system.tar.gz
echo "fetching Swift $release for $system from $mirror …" >&2
# A terminal shows how far the download is.
progress=--silent messages=1
fetch "$keys" "$work/keys.asc"
fetch "$address.sig" "$work/swift.tar.gz.sig"
if [ -t 2 ]; then progress=--progress-bar messages=3; fi
fetch "$address" "$work/swift.tar.gz"

echo "checking its signature …" >&2
mkdir -m 700 "$work/gnupg"
verify() {
    gpg --homedir "$work/gnupg" --batch --quiet --no-autostart "$@"
}
said=$(verify --import "$work/keys.asc" 2>&1) || :
said_of() { # the lines of $said with the pattern $1
    printf '%s\n' "$said" | grep -i "$1"
}
if said_of 'no space left' >/dev/null; then fail_of_space; fi
status=$(verify --status-fd 1 --verify "$work/swift.tar.gz.sig" "$work/swift.tar.gz" 2>/dev/null) || :
# A release stays good when its key expires later, but not when the key is revoked. VALIDSIG ends in the fingerprint of
# the primary key.
why=
case $status in
*"[GNUPG:] BADSIG "*) why="the signature is that of another file" ;;
*"[GNUPG:] REVKEYSIG "*) why="the key was revoked" ;;
*) printf '%s\n' "$status" | grep -q "^\[GNUPG:\] VALIDSIG .* $key\$" || why="no signature by that key was found" ;;
esac
if [ -n "$why" ]; then
    fail "$address is not signed by the key $key ($why)." \
        "It was changed on the way, or the mirror has another file. Run the same command again; if that does not help, do not use this mirror."
fi

echo "unpacking it …" >&2
mkdir "$work/swift"
if ! said=$(tar -xzf "$work/swift.tar.gz" -C "$work/swift" --strip-components=1 2>&1); then
    if said_of 'no space left\|quota exceeded' >/dev/null; then fail_of_space; fi
    fail "$address cannot be unpacked ($(printf '%s\n' "$said" | tail -n 1))." "Run the same command again."
fi
if ! new_enough "$work/swift/usr/bin"; then
    answer=$("$work/swift/usr/bin/swift" --version 2>&1 | head -n 1) || :
    fail "the Swift that was fetched does not run here, or is older than $needed ($answer)." \
        "https://www.swift.org/install/linux/ lists the packages that it needs."
fi
# Another call may have been faster.
mv -T "$work/swift" "$own/swift-$release" 2>/dev/null || new_enough "$own/swift-$release/usr/bin" ||
    fail "$own/swift-$release is in the way." "Remove it and run the same command again."
echo "Swift $release is in $own/swift-$release" >&2
rm -rf "$work"
use "$own/swift-$release/usr/bin"
