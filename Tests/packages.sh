#!/bin/sh
# Builds the Debian package and the tarball, and runs both in clean chroots that have no Swift.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<END
usage: Tests/packages.sh [SUITE...]

Builds the Debian package, checks it with lintian, and installs it in a clean chroot of each suite (default: bookworm trixie),
where the package's own test runs. Then the tarball is unpacked and run there too. As root; a chroot is made by debootstrap on the
first run, which takes a minute, and kept under .build/chroots.
END
}

case ${1:-} in
-h | --help) usage && exit ;;
-*) usage >&2 && exit 2 ;;
esac
[ $# -gt 0 ] || set -- bookworm trixie

command -v lintian >/dev/null || apt-get install -y lintian
folder=$root/.build/package
rm -f "$folder"/*.deb "$folder"/*.tar.xz
"$root/meson-shim/package.sh" "$folder"
lintian --fail-on error,warning "$folder"/*.changes
tarball=$("$root/meson-shim/tarball.sh" "$folder" | tail -n 1)
for library in "$folder"/source/debian/gstreamer1.0-depthmatte/usr/lib/*/gstreamer-1.0/libgstdepthmatte.so; do
    if readelf -d "$library" | grep -E 'RUNPATH|RPATH'; then
        echo "the library has a search path of its own" >&2
        exit 1
    fi
done

for suite; do
    base=$("$root/Tests/chroot.sh" "$suite" clean)
    chroot=$root/.build/chroots/$suite-package
    rm -rf "$chroot"
    cp -a "$base" "$chroot"
    mkdir "$chroot/package"
    cp "$folder"/gstreamer1.0-depthmatte_*.deb "$tarball" "$root"/meson-shim/debian/tests/* "$chroot/package"
    # The tests' own needs; what the plugin needs the package must bring. PipeWire reads /proc.
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$chroot" sh -eu -c '
        export DEBIAN_FRONTEND=noninteractive
        apt-get install -y --no-install-recommends ./package/*.deb
        ldd /usr/lib/*/gstreamer-1.0/libgstdepthmatte.so | grep "not found" && exit 1
        apt-get install -y --no-install-recommends gstreamer1.0-tools gstreamer1.0-plugins-good xz-utils appstream man-db
        appstreamcli validate --no-net /usr/share/metainfo/*depthmatte*.xml
        mandb -q
        for program in $(dpkg -L gstreamer1.0-depthmatte | sed -n "s|^/usr/bin/||p"); do
            whatis "$program"
            [ -z "$(man --warnings "$program" 2>&1 >/dev/null)" ]
        done
        command -v swift && exit 1
        /package/smoke
        apt-get install -y --no-install-recommends gir1.2-gst-plugins-base-1.0 gstreamer1.0-pipewire pipewire python3-gi wireplumber dbus-daemon
        /package/camera
        pipelines=/usr/share/doc/gstreamer1.0-depthmatte/pipelines
        "$pipelines/run.sh" "$pipelines/depthmatte/record.launch" FRAMES=5 OUTPUT=/package/composite.mkv
        [ "$(wc -c </package/composite.mkv)" -gt 50000 ]
        apt-get remove -y gstreamer1.0-depthmatte
        ! gst-inspect-1.0 depthmatte > /dev/null 2>&1
        tar -C /package -xJf /package/*.tar.xz
        GST_PLUGIN_PATH=$(echo /package/*/lib/gstreamer-1.0) /package/smoke
    '
    version=$(chroot "$chroot" gst-inspect-1.0 --version | sed -n 2p)
    echo "$suite, $version: package and tarball are installed and run"
    rm -rf "$chroot"
done
