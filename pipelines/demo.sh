#!/bin/sh
# Shows a person cut out along the depth over another background.
#
#     ./pipelines/demo.sh                    in a window
#     ./pipelines/demo.sh --output demo.mkv  as a video, with a picture of the steps beside it (demo.png)
#
# Without a display it writes demo.mkv and demo.png. It installs what is missing and builds the plugin first.
set -eu

output=
case ${1-} in
-h | --help)
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--output=*) set -- --output "${1#--output=}" ;;
esac
case $# in
0) ;;
2)
    if [ "$1" != --output ]; then
        echo "usage: $0 [--output FILE.mkv]" >&2
        exit 2
    fi
    output=$2
    ;;
*)
    echo "usage: $0 [--output FILE.mkv]" >&2
    exit 2
    ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
"$here/install.sh" build run
(cd "$here/.." && swift build -c release --product gstdepthmatte --disable-local-rpath)
# The demo shows what was just built, whatever else is installed.
GST_PLUGIN_PATH=$(cd "$here/../.build/release" && pwd)${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_PLUGIN_PATH

if [ -z "$output" ] && [ -z "${DISPLAY-}" ] && [ -z "${WAYLAND_DISPLAY-}" ]; then
    output=demo.mkv
fi
if [ -z "$output" ]; then
    exec "$here/run.sh" "$here/depthmatte/demo.launch"
fi

case $output in
*.*) picture=${output%.*}.png ;;
*) picture=$output.png ;;
esac
"$here/run.sh" "$here/depthmatte/record.launch" OUTPUT="$output"
"$here/run.sh" "$here/depthmatte/contact-sheet.launch" OUTPUT="$picture"
echo "Video: $output"
echo "Original, depth, matte and composite of its first frame: $picture"
