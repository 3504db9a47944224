#!/bin/sh
# Builds everything with a sanitizer and runs the tests of the kernels, the bridge and the elements under it.
#
#     Tests/sanitize.sh address [FILTER]     memory errors, by AddressSanitizer
#     Tests/sanitize.sh thread [FILTER]      data races, by ThreadSanitizer
#     Tests/sanitize.sh undefined [FILTER]   undefined behavior of the C code: the process ends by SIGILL
#     Tests/sanitize.sh debug [FILTER]       what a debug build checks besides: assertions, bounds of raw buffers
#
# FILTER: a regular expression of test names; all but the soak and pipeline tests by default, of a debug build those of
# bad input. Swift has no sanitizer for undefined behavior: its arithmetic, and exclusive access to variables, are checked
# in every build (-enforce-exclusivity=checked is the default of debug and release builds).
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

cd "$(dirname "$0")/.."
export SWIFT_BACKTRACE=enable=no
sanitizer=${1-}
filter=${2:-DepthKernelsTests|GstBridgeTests|DepthMattePluginTests}
flags=--sanitize=$sanitizer
case $sanitizer in
address)
    build=.build-asan
    configuration=release # kernels without optimization take ten times as long
    ;;
thread)
    build=.build-tsan
    configuration=release # where live pipelines keep their pace
    ;;
undefined)
    build=.build-ubsan
    configuration=release
    # Traps need no runtime, which Swift's linker would not find.
    flags="-Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined"
    ;;
debug)
    build=.build-debug
    configuration=debug
    flags=
    bad='Bad|Strange|FaultCause|InputBuffer|DepthPattern|PropertyLimit|PictureContent|RandomEvent'
    filter=${2:-DepthMattePluginTests\.($bad)|DepthKernelsTests\.Calibration|GstBridgeTests\.Frame}
    ;;
*)
    echo "usage: $0 address|thread|undefined|debug [FILTER]" >&2
    exit 2
    ;;
esac

PATH=$(pipelines/need-swift.sh)
export PATH
pipelines/install.sh build run test
# shellcheck disable=SC2086 # several flags
swift build -c "$configuration" $flags --scratch-path "$build" --build-tests

preload=
if [ "$sanitizer" = thread ]; then
    preload=$PWD/$build/liblocks.so
    clang=$(dirname "$(command -v swift)")/clang # of Swift's own toolchain: it knows how Swift calls
    # shellcheck disable=SC2046 # several flags
    "$clang" -shared -fPIC -O2 -Wall -Wextra -Werror $(pkg-config --cflags glib-2.0) -o "$preload" Tests/sanitize/locks.c
fi

# "never ends": its decoder still runs when the process exits, and ThreadSanitizer waits for that.
# detect_leaks: the test runner itself leaks a few hundred bytes.
# G_SLICE: blocks that GLib hands from thread to thread by itself would pass for shared ones.
# shellcheck disable=SC2086 # several flags
exec Tests/summary.sh env DEPTHMATTE_SANITIZER="$sanitizer" ASAN_OPTIONS=detect_leaks=0 G_SLICE=always-malloc LD_PRELOAD="$preload" \
    swift test -c "$configuration" $flags --scratch-path "$build" --skip-build --no-parallel \
    --filter "$filter" --skip 'SoakTests|ArithmeticTests/.*(blur and gamma|every size|bilinear)|a decoder that never ends'
