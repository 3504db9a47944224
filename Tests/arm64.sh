#!/bin/sh
# Builds the plugin for 64-bit Arm and runs it in QEMU: the frames must be those of this machine's processor, byte by byte.
#
#     Tests/arm64.sh
#
# Debian sid has Swift for both processors: a chroot has the compiler for this one, the modules and libraries for the other. It
# is made on the first run, which takes ten minutes and 8 GB, and kept under .build/chroots. As root; needs qemu-user-static.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
cd "$(dirname "$0")/.."
command -v qemu-aarch64-static >/dev/null || apt-get install -y qemu-user-static
chroot=$(Tests/chroot.sh sid arm64 swiftlang g++ lld pkgconf git ca-certificates)
inside() { chroot "$chroot" env DEBIAN_FRONTEND=noninteractive SWIFT_BACKTRACE=enable=no "$@"; }

if [ ! -e "$chroot/.arm64" ]; then
    inside dpkg --add-architecture arm64
    inside apt-get -o Acquire::Check-Valid-Until=false update -qq
    release=$(inside gcc -dumpversion)
    inside apt-get install -y -qq --no-install-recommends "libstdc++-$release-dev:arm64" \
        libgstreamer-plugins-base1.0-dev:arm64 gstreamer1.0-tools:arm64 gstreamer1.0-plugins-base:arm64 \
        gstreamer1.0-plugins-good:arm64 gstreamer1.0-plugins-bad:arm64
    inside sh -c 'cd /tmp && apt-get download swiftlang:arm64 && dpkg-deb -x swiftlang_*_arm64.deb arm64 &&
        rm -rf /arm64 swiftlang_*_arm64.deb && mv arm64/usr/libexec/swift/lib /arm64 && rm -r arm64'
    cp "$(command -v qemu-aarch64-static)" "$chroot/usr/bin/"
    # The resources are those for static linking, as the library contains Swift's; the linker looks for some of them here.
    ln -sfn /arm64/swift_static "$chroot/usr/lib/swift_static"
    sdk=$chroot/sdks/arm64.artifactbundle
    mkdir -p "$sdk/arm64"
    ln -sfn / "$sdk/arm64/root"
    ln -sfn /arm64/swift_static "$sdk/arm64/swift"
    cat >"$sdk/info.json" <<END
{"schemaVersion": "1.0", "artifacts": {"arm64": {"type": "swiftSDK", "version": "1.0.0", "variants": [{"path": "arm64"}]}}}
END
    cat >"$sdk/arm64/swift-sdk.json" <<END
{"schemaVersion": "4.0", "targetTriples": {"aarch64-unknown-linux-gnu": {
    "sdkRootPath": "root", "swiftResourcesPath": "swift", "swiftStaticResourcesPath": "swift", "toolsetPaths": ["tools.json"]}}}
END
    echo '{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}' >"$sdk/arm64/tools.json"
    touch "$chroot/.arm64"
fi

mkdir -p "$chroot/source"
git ls-files -z | tar --null -T - -c | tar -x -C "$chroot/source"
# Swift reads /proc/self.
mountpoint -q "$chroot/proc" || mount --bind /proc "$chroot/proc"
trap 'umount "$chroot/proc"' EXIT
inside env DEPTHMATTE_PROCESSOR=aarch64 PKG_CONFIG_PATH=/usr/lib/aarch64-linux-gnu/pkgconfig \
    swift build --package-path /source -c release --swift-sdks-path /sdks --swift-sdk arm64 --product gstdepthmatte
PATH=$(pipelines/need-swift.sh)
export PATH SWIFT_BACKTRACE=enable=no
swift build -c release --product gstdepthmatte

here() {
    GST_PLUGIN_PATH=.build/release timeout -s KILL 300 gst-launch-1.0 --no-fault -q "$@"
}
arm() {
    inside env GST_PLUGIN_PATH=/source/.build/aarch64-unknown-linux-gnu/release GST_REGISTRY=/tmp/registry.bin \
        GST_REGISTRY_FORK=no timeout -s KILL 300 qemu-aarch64-static /usr/bin/gst-launch-1.0 --no-fault -q "$@"
}
frames() {
    "$@" 2>&1 | grep -E '^[0-9:.]+ [0-9a-f]{40}$' || :
}

checked=0
compare() {
    expected=$(frames here "$@")
    if [ "$(printf '%s\n' "$expected" | wc -l)" -ne 5 ] || [ "$(frames arm "$@")" != "$expected" ]; then
        echo "$0: on Arm the frames differ, or there are none: $*" >&2
        arm "$@" >&2 || :
        exit 1
    fi
    checked=$((checked + 1))
}

source="depthtestsrc num-buffers=5 sensor=structured-light name=camera"
depth="camera.depth ! video/x-raw,width=320,height=240"
# The words of a launch line.
# shellcheck disable=SC2086
for format in I420 NV12 YUY2 BGRA GRAY8; do
    for settings in method=fusion "method=fusion detail=half" method=threshold "method=threshold blur-radius=8 view=quad" \
        "background-mode=blur" "background-mode=comic"; do
        compare $source camera.video ! "video/x-raw,format=$format,width=640,height=480" ! \
            depthmatte name=matte $settings ! checksumsink $depth ! matte.depth
    done
done
# shellcheck disable=SC2086
{
    compare $source $depth ! depthcolorize ! checksumsink
    compare $source $depth ! depthcloud ! video/x-raw,width=320,height=240 ! checksumsink
}
echo "$0: passed, $checked launch lines"
