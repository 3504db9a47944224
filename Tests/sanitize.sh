#!/bin/sh
# Builds everything with AddressSanitizer and runs the tests of the bridge, the kernels and the elements under it.
#
#     Tests/sanitize.sh [FILTER]   FILTER: a regular expression of test names; all but the soak and pipeline tests
#                                  by default
set -eu

cd "$(dirname "$0")/.."
pipelines/install.sh build run test
build=.build-asan
swift build --sanitize=address --scratch-path "$build" --build-tests
# The test runner itself leaks a few hundred bytes.
ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no exec swift test --sanitize=address --scratch-path "$build" \
    --skip-build --no-parallel --filter "${1:-DepthKernelsTests|GstBridgeTests|DepthMattePluginTests}" \
    --skip 'SoakTests|ArithmeticTests'
