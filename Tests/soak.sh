#!/bin/sh
# Runs the endurance tests in full: 10,000 state cycles, 1,000 flushing seeks, 1,000,000 frames. They take minutes.
set -eu

cd "$(dirname "$0")/.."
pipelines/install.sh build run test
swift build -c release --build-tests
DEPTHMATTE_SOAK=full exec swift test -c release --skip-build --no-parallel --filter SoakTests
