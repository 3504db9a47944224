#!/bin/sh
# Packs the built plugin for systems without a package of it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
    cat <<END
usage: meson-shim/tarball.sh [FOLDER]

Builds the plugin and leaves gst-depthmatte-VERSION-SYSTEM-MACHINE.tar.xz in FOLDER (default: .build/package): the stripped
library, the documentation and the license. Needs Swift in the path.
END
}

case ${1:-} in
-h | --help) usage && exit ;;
-*) usage >&2 && exit 2 ;;
esac
folder=${1:-$root/.build/package}
name=gst-depthmatte-$("$root/meson-shim/version.sh")-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
target=$folder/$name
rm -rf "$target"
mkdir -p "$target/lib/gstreamer-1.0" "$target/doc"
"$root/meson-shim/build.sh" "$root" "$folder/tarball-build" "$target/lib/gstreamer-1.0/libgstdepthmatte.so"
strip --strip-unneeded "$target/lib/gstreamer-1.0/libgstdepthmatte.so"
cp "$root/LICENSE" "$root/CHANGELOG.md" "$target"
for page in "$root"/Sources/DepthMattePlugin/*/README.md; do
    cp "$page" "$target/doc/$(basename "$(dirname "$page")").md"
done
cp "$root/pipelines/cameras.md" "$target/doc"
cp "$root/pipelines/doctor.sh" "$target/depthmatte-doctor"
cp "$root/pipelines/record3d.py" "$root/pipelines/watch.py" "$target"
cat > "$target/README" <<END
GStreamer elements for depth cameras. They need GStreamer 1.22 or newer with its base plugins, and no Swift.

Without installing:

    export GST_PLUGIN_PATH=\$PWD/lib/gstreamer-1.0
    gst-inspect-1.0 depthmatte

For the current user:

    mkdir -p ~/.local/share/gstreamer-1.0/plugins
    cp lib/gstreamer-1.0/libgstdepthmatte.so ~/.local/share/gstreamer-1.0/plugins

For all users, as root:

    cp lib/gstreamer-1.0/libgstdepthmatte.so "\$(gst-inspect-1.0 coreelements | sed -n 's|  Filename *\(.*\)/[^/]*|\1|p')"

The folder doc has a page for each element. ./depthmatte-doctor finds out why a depth camera does not start;
./record3d.py shows the camera of an iPhone.
END
tar -C "$folder" -cJf "$folder/$name.tar.xz" --owner=0 --group=0 --sort=name "$name"
rm -rf "$target"
echo "$folder/$name.tar.xz"
