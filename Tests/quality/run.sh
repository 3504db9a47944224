#!/bin/sh
# Scores depthmatte's matte for any settings, on rendered people, on the scenes of depthtestsrc and on real pictures, beside
# the reference (quality_matte.py) and the sample's recipe at its best (seed_matte.py); on the people beside GrabCut and
# PyMatting's closed form too, both seeded by the depth, and the latter told which of it is the person ("closed form, told").
#
#     Tests/quality/run.sh [--settings "method=fusion settle=0.5"]... [--only NAME]... [--out DIR]
#     Tests/quality/run.sh --agree [--settings "method=fusion subject=all"]... [--only NAME]... [--frames N]
#     Tests/quality/run.sh --coded [--codings gray,black] [--only NAME]... [--settings WORDS] [--out DIR]
#     Tests/quality/run.sh --room [--agree] [--clips NAME,NAME] [--sensors NAME] [--cases CASE] [--learnt NAME] [--out DIR]
#
# Without --settings: the two methods, the reference and the tuned sample. --only takes the people, scenes and cases whose
# name has NAME in it ("people mug", "scene desk"). --out names a folder for the tables and for contact sheets with close-ups
# of the worst places. --agree compares the element's mattes with the reference's, on the people and on all of the recorded
# frames: it fails where the mean difference is above 1/255, fewer than 99.9 % of the pixels are within 8/255, or a score
# differs by more than 2 %. --room, as the first argument, scores the whole clips with a memory of the room beside those
# without: after a capture of the empty room, as it is and in another light, place or look (--cases), and in sequences in
# which it is learnt (--learnt, none with ''). It fails where SAD is more than 2 % above that without the memory. With --agree
# the memory is compared with its reference (room_memory.py). --coded, as the first argument, scores the people with depth that
# went through depthpack, a codec and depthunpack, with its errors; it fails where a codec adds more than 5 % to SAD.
# Needs NumPy and OpenCV, and PyMatting for the closed form. The people are those of pipelines/people, and the whole clips of
# the folder that DEPTHMATTE_PHOTOREAL names, which has a clips.py to read them. The real cases are those of the folder that
# DEPTHMATTE_REAL_DATA names (manifest.json, outlines.json); without it there are none. What is slow is kept in
# .build/quality.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
"$python" -c 'import cv2, numpy' || {
    echo "$0: Python needs NumPy and OpenCV: pip install numpy opencv-python-headless" >&2
    exit 1
}
"$python" Tests/quality/test_scores.py 2>&1 | tail -n 1
swift build -c release --product gstdepthmatte
mkdir -p .build/quality
Tests/testplugin/build.sh .build/quality
GST_PLUGIN_PATH=$PWD/.build/release:$PWD/.build/quality
GST_REGISTRY=$PWD/.build/quality/registry.bin
SWIFT_BACKTRACE=enable=no
export GST_PLUGIN_PATH GST_REGISTRY SWIFT_BACKTRACE
script=quality.py
case ${1-} in
--room | --coded)
    script=${1#--}.py
    shift
    ;;
esac
exec "$python" "Tests/quality/$script" "$@"
