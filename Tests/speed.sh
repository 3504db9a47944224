#!/bin/sh
# Measures what the matte costs: against memcpy, against a compositor, and against OpenCV; and how soon it starts.
# Takes three minutes.
#
#     Tests/speed.sh [FOLDER]
#
# The machine should be idle. FOLDER keeps the figures as JSON; without it they are only printed. OpenCV takes part
# where $PYTHON (python3) has cv2 and numpy: pip install numpy opencv-python-headless.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3}
if [ $# -gt 1 ]; then
    echo "usage: $0 [FOLDER]" >&2
    exit 2
fi
if [ $# -eq 1 ]; then
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi

cd "$root"
path=$(pipelines/need-swift.sh)
export PATH="$path" # at once, the trap above would have no rm
pipelines/install.sh build run
swift build -c release --product depthbench
bench=$root/.build/release/depthbench
export SWIFT_BACKTRACE="${SWIFT_BACKTRACE:-enable=no}"

echo
echo "== The goals: the element in place, and the kernels alone, beside memcpy"
"$bench" goals --json "$folder/goals.json"

echo
echo "== Whole pipelines: depthmatte, and a compositor with two layers"
"$bench" pipelines --rounds 9 --seconds 60 --json "$folder/pipelines.json"

echo
echo "== Starting, whole processes with a warm registry: milliseconds, medians of 21"
export GST_REGISTRY="$folder/registry.bin" GST_PLUGIN_PATH="$root/.build/release"
swift build -c release --product gstdepthmatte >/dev/null
milliseconds() { # of a command, 21 times
    timeout -s KILL 60 "$@" >/dev/null || return
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
        start=$(date +%s%N)
        timeout -s KILL 60 "$@" >/dev/null
        echo $((($(date +%s%N) - start) / 10000))
    done | sort -n | awk 'NR == 11 { printf "%8.1f", $1 / 100 }'
}
one() { # frame of a launch line
    milliseconds gst-launch-1.0 --no-fault -q "$@"
}
size=video/x-raw,format=I420,width=1920,height=1080
map=video/x-raw,format=GRAY16_LE,width=640,height=480
gst-inspect-1.0 depthmatte >/dev/null
echo "gst-inspect-1.0 depthmatte  $(milliseconds gst-inspect-1.0 depthmatte)"
echo "gst-inspect-1.0 compositor  $(milliseconds gst-inspect-1.0 compositor)"
# shellcheck disable=SC2086
echo "one frame, two sources only $(one videotestsrc num-buffers=1 ! $size ! fakesink \
    videotestsrc num-buffers=1 ! $map ! fakesink)"
# shellcheck disable=SC2086
echo "one frame, depthmatte       $(one depthmatte name=m ! fakesink videotestsrc num-buffers=1 ! $size ! m.video \
    videotestsrc num-buffers=1 ! $map ! m.depth)"
# shellcheck disable=SC2086
echo "one frame, compositor       $(one compositor name=m ! fakesink videotestsrc num-buffers=1 ! $size ! m.sink_0 \
    videotestsrc num-buffers=1 ! $size ! m.sink_1)"

echo
echo "== OpenCV, one thread"
if ! "$python" -c 'import cv2, numpy' 2>/dev/null; then
    echo "left out: $python has no cv2 and numpy; pip install numpy opencv-python-headless"
    exit 0
fi
for round in 1 2 3 4 5; do
    "$bench" grid --work in-place --format I420,BGRA --seconds 0.5 --json "$folder/depthmatte-$round.json" >/dev/null
    for channels in 3 4; do
        "$python" Tests/opencv_baseline.py --channels "$channels" --rounds 15 --json \
            >"$folder/opencv-$channels-$round.json"
    done
done
"$python" - "$folder" <<'PYTHON'
import json
import statistics
import sys

def load(name):
    with open(f"{sys.argv[1]}/{name}.json") as file:
        return json.load(file)

print(f"{'1920x1080, depth 640x480, sigma 5':36s} {'OpenCV ms':>10s} {'depthmatte ms':>14s} {'ratio':>8s}  goal")
for index, (format, channels, goal) in enumerate((("I420", 3, 18), ("BGRA", 4, 12))):
    ours = [load(f"depthmatte-{n}")["figures"][index] for n in range(1, 6)]
    theirs = [load(f"opencv-{channels}-{n}") for n in range(1, 6)]
    assert all(figure["format"] == format for figure in ours)
    ratio = statistics.median(b["total_ms"] / a["ms"] for a, b in zip(ours, theirs))
    name = f"{format}; OpenCV on {'BGR' if channels == 3 else 'BGRA'}"
    times = [statistics.median(f[field] for f in figures) for figures, field in ((theirs, "total_ms"), (ours, "ms"))]
    print(f"{name:36s} {times[0]:10.3f} {times[1]:14.3f} {ratio:8.1f}  >= {goal}: {'yes' if ratio >= goal else 'no'}")
PYTHON
