#!/bin/sh
# Measures what the matte costs: against memcpy, against a compositor, and against OpenCV; and how soon it starts.
# Takes three minutes.
#
#     Tests/speed.sh [FOLDER]
#
# The machine should be idle. FOLDER keeps the figures as JSON; without it they are only printed. OpenCV takes part
# where $PYTHON (python3) has cv2 and numpy: pip install numpy opencv-python-headless. Tests/speed.py has single parts.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
if [ $# -gt 1 ]; then
    echo "usage: $0 [FOLDER]" >&2
    exit 2
fi
keep=${1:+$(mkdir -p "$1" && cd "$1" && pwd)}

cd "$(dirname "$0")/.."
path=$(pipelines/need-swift.sh)
export PATH="$path"
pipelines/install.sh build run
for product in depthbench gstdepthmatte; do swift build -c release --product "$product"; done
export SWIFT_BACKTRACE="${SWIFT_BACKTRACE:-enable=no}"
exec "${PYTHON:-python3}" Tests/speed.py ${keep:+--keep "$keep"}
