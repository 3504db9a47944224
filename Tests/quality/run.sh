#!/bin/sh
# Scores depthmatte's matte on real pictures whose outlines were drawn by hand, for any settings, beside the reference.
#
#     Tests/quality/run.sh [--settings "method=fusion settle=0.5"]... [--out DIR]
#
# Without --settings: the two methods and the reference. Needs NumPy and OpenCV, and the cases that the variable
# DEPTHMATTE_REAL_DATA names (a folder with manifest.json and outlines.json).
set -eu

cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
"$python" -c 'import cv2, numpy' || {
    echo "$0: Python needs NumPy and OpenCV: pip install numpy opencv-python-headless" >&2
    exit 1
}
"$python" Tests/quality/test_scores.py 2>&1 | tail -n 1
if [ -z "${DEPTHMATTE_REAL_DATA-}" ]; then
    echo "real cases: skipped, DEPTHMATTE_REAL_DATA names none"
    exit 0
fi
swift build -c release --product gstdepthmatte
mkdir -p .build/quality
Tests/testplugin/build.sh .build/quality
GST_PLUGIN_PATH=$PWD/.build/release:$PWD/.build/quality
GST_REGISTRY=$PWD/.build/quality/registry.bin
SWIFT_BACKTRACE=enable=no
export GST_PLUGIN_PATH GST_REGISTRY SWIFT_BACKTRACE
exec "$python" Tests/quality/real.py "$@"
