#!/bin/sh
# Checks the recipes for other distributions and the metainfo: the version that they name, and their form where the program that
# reads them is installed (Debian's rpmlint, nix-bin, flatpak-builder, appstream, and makepkg with pacman-package-manager).
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
cd "$(dirname "$0")/../meson-shim"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(./version.sh)
for recipe in recipes/*; do
    grep -Eq "(version|Version: +|pkgver|tag: v)[ =\"]*$version" "$recipe" || { echo "$recipe is not for $version" >&2; exit 1; }
done

# Runs a program that must be content, where it is installed.
check() {
    if ! command -v "$1" >/dev/null; then
        echo "$0: skipped, there is no $1"
    elif ! answer=$("$@" 2>&1); then
        echo "$*: $answer" >&2
        exit 1
    fi
}
check appstreamcli validate --no-net ./*.metainfo.xml
# Without Fedora's own settings it asks for tags that Fedora no longer has.
printf 'Filters = ["no-buildroot-tag"]\n' >"$work/rpmlint.toml"
check rpmlint --strict --config "$work/rpmlint.toml" recipes/*.spec
check nix-instantiate --parse recipes/default.nix
cp recipes/*.yaml recipes/PKGBUILD "$work"
cd "$work"
check flatpak-builder --show-manifest ./*.yaml
# makepkg does not run as root.
as=
[ "$(id -u)" != 0 ] || { as="setpriv --reuid=nobody --clear-groups" && chown -R nobody "$work"; }
if command -v makepkg >/dev/null; then
    # shellcheck disable=SC2086
    check $as makepkg --printsrcinfo
else
    echo "$0: skipped, there is no makepkg"
fi
echo "$0: passed"
