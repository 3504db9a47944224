#!/bin/sh
# Makes the pictures of pipelines/gallery that come from launch lines. Look at them before they are committed.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for line in depthmatte/people depthmatte/quad depthmatte/methods depthmatte/limits depthmatte/settings depthmatte/effects depthcolorize/palettes depthcloud/views; do
    name=${line##*/}
    "$here/run.sh" "$here/$line.launch" OUTPUT="$folder/$name.png"
    gst-launch-1.0 --no-fault -q filesrc location="$folder/$name.png" ! pngdec ! videoconvert \
        ! jpegenc quality=88 ! filesink location="$here/gallery/$name.jpg"
done
