#!/bin/sh
# Shows a person cut out along the depth over another background.
#
#     ./pipelines/demo.sh                    the synthetic camera, in a window
#     ./pipelines/demo.sh --output demo.mkv  as a video, with a picture of the steps beside it (demo.png)
#     ./pipelines/demo.sh --camera           the first depth camera that is found; with --output too
#     ./pipelines/demo.sh --get-swift        fetches Swift from swift.org where it is missing (pipelines/need-swift.sh)
#     ./pipelines/demo.sh --verbose          shows what the steps print, which else goes to .build/log
#
# Without a display it writes demo.mkv and demo.png. It installs what is missing and builds the plugin first.
set -eu

usage() {
    echo "usage: $0 [--camera] [--output FILE.mkv] [--get-swift] [--verbose]" >&2
    exit 2
}

camera=no
output=
get=
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --camera) camera=yes ;;
    --get-swift) get=--get-swift ;;
    --verbose) export DEPTHMATTE_VERBOSE=1 ;;
    --output=?*) output=${1#--output=} ;;
    --output)
        [ -n "${2-}" ] || usage
        output=$2
        shift
        ;;
    *) usage ;;
    esac
    shift
done

here=$(cd "$(dirname "$0")" && pwd)
PATH=$("$here/need-swift.sh" $get)
export PATH
"$here/install.sh" build run
(
    cd "$here/.."
    pipelines/step.sh plugin "building the plugin" swift build -c release --product gstdepthmatte --disable-local-rpath
)
# The demo shows what was just built, whatever else is installed.
GST_PLUGIN_PATH=$(cd "$here/../.build/release" && pwd)${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_PLUGIN_PATH

show=depthmatte/demo
record=depthmatte/record
steps=depthmatte/contact-sheet
if [ "$camera" = yes ]; then
    show=depthcamsrc/camera
    record=depthcamsrc/composite
    steps=depthcamsrc/steps
    # One frame, before a window opens or a file is written.
    if ! answer=$(gst-launch-1.0 --no-fault depthcamsrc num-buffers=1 ! fakesink 2>&1); then
        printf '%s\n' "$answer" | sed -n 's/^ERROR: from element [^ ]*: //p' >&2
        {
            echo "$0: no depth camera gives pictures. $here/cameras.md says how each is fed."
            echo
            "$here/doctor.sh" || :
        } >&2
        exit 1
    fi
fi

if [ -z "$output" ] && [ -z "${DISPLAY-}" ] && [ -z "${WAYLAND_DISPLAY-}" ]; then
    output=demo.mkv
fi
if [ -z "$output" ]; then
    exec "$here/step.sh" show "showing the demo until its window is closed" "$here/run.sh" "$here/$show.launch"
fi

case $output in
*.*) picture=${output%.*}.png ;;
*) picture=$output.png ;;
esac
"$here/step.sh" record "recording $output" "$here/run.sh" "$here/$record.launch" OUTPUT="$output"
"$here/step.sh" steps "drawing $picture" "$here/run.sh" "$here/$steps.launch" OUTPUT="$picture"
echo "Video: $output"
echo "Original, depth, matte and composite of one frame: $picture"
