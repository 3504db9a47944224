#!/bin/sh
# Runs launch lines under valgrind's memcheck: no wrong access, no use of what was never written, no leak.
#
#     Tests/valgrind.sh [LAUNCH...]
#     Tests/valgrind.sh pipelines/depthmatte/blur.launch
#
# LAUNCH: launch lines; without any, a choice that uses every element, mode and kind of file. Each runs with the settings
# of the .expect file beside it, but in a quarter of the size, for FRAMES (2) frames, into a fakesink and before a color, as a
# decoder that takes longer than two seconds is given up. What is suppressed, and why, stands in Tests/sanitize/valgrind.supp.
# VALGRIND_FLAGS adds flags, --gen-suppressions=all for one. Exits with 1 if a line had an error.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -eq 0 ]; then
    for name in depthmatte/demo depthmatte/alpha-png depthmatte/blur depthmatte/effects depthmatte/quad \
        depthmatte/background-stream depthmatte/segmentation depthmatte/methods depthmatte/record depthmatte/play-rgbd \
        depthcolorize/mixed depthcolorize/alpha-png depthcloud/snapshot depthcloud/window depthalign/play-rgbd \
        depthcamsrc/camera depthtestsrc/record-rgbd; do
        set -- "$@" "$root/pipelines/$name.launch"
    done
fi

PATH=$("$root/pipelines/need-swift.sh")
export PATH
"$root/pipelines/install.sh" build run test
command -v valgrind >/dev/null || {
    echo "$0: there is no valgrind; apt-get install valgrind" >&2
    exit 1
}
(cd "$root" && swift build -c release --product gstdepthmatte --disable-local-rpath)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GST_REGISTRY="$folder/registry.bin" SWIFT_BACKTRACE=enable=no
# The registry is written now, so that valgrind need not follow the process that scans.
GST_PLUGIN_PATH=$root/.build/release gst-inspect-1.0 depthmatte >"$folder/inspect"
export GST_REGISTRY_UPDATE=no

# run.sh finds this gst-launch-1.0 before the real one; sizes and backgrounds of the lines are this one's to change.
# G_SLICE, gc-friendly: GLib's own lists of free blocks would hide who uses them. KILL: a line that hangs ends.
mkdir "$folder/bin"
cat >"$folder/sizes" <<END
s/ background="[^"]*"//g
s/width=1280,height=720/width=320,height=180/g
s/width=640,height=360/width=160,height=90/g
s/width=640,height=480/width=160,height=120/g
END
cat >"$folder/bin/gst-launch-1.0" <<END
#!/bin/sh
G_SLICE=always-malloc G_DEBUG=gc-friendly,resident-modules,fatal-criticals exec timeout -s KILL 900 \\
    valgrind -q --error-exitcode=20 --leak-check=full --show-leak-kinds=definite,indirect \\
    --errors-for-leak-kinds=definite,indirect --num-callers=40 --fair-sched=yes \\
    --suppressions=/usr/share/glib-2.0/valgrind/glib.supp --suppressions="$root/Tests/sanitize/valgrind.supp" \\
    ${VALGRIND_FLAGS-} "$(command -v gst-launch-1.0)" -q \\
    \$(printf '%s ' "\$@" | sed "\$(cat "$folder/sizes")")
END
chmod +x "$folder/bin/gst-launch-1.0"

# Runs a launch line with the settings of its expectation; of two settings of one name, the first counts.
play() {
    file=$1
    shift
    { sed -n 's/^with //p' "${file%.launch}.expect" | sed "s|[$]PIPELINES|$root/pipelines|g"; } |
        xargs "$root/pipelines/run.sh" "$file" "$@"
}

failed=
for launch in "$@"; do
    launch=$(realpath "$launch")
    rm -rf "$folder/run"
    mkdir "$folder/run"
    cd "$folder/run"
    sed -n 's/^after //p' "${launch%.launch}.expect" | while read -r before; do
        play "$root/pipelines/$before" >/dev/null
    done
    set --
    if grep -q '^#: FRAMES=' "$launch"; then set -- "FRAMES=${FRAMES:-2}"; fi
    if grep -q '^#: SINK=' "$launch"; then set -- "$@" SINK=fakesink; fi
    echo "$launch"
    if ! (PATH=$folder/bin:$PATH && play "$launch" "$@"); then failed="$failed $launch"; fi
done
[ -z "$failed" ] || {
    echo "$0: errors in$failed" >&2
    exit 1
}
