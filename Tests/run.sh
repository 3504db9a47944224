#!/bin/sh
# Installs what is missing, builds everything and runs every test, those of the launch lines in pipelines/ included.
#
# With DEPTHMATTE_REAL_DATA set to a folder of recorded RGB-D cases (a manifest.json and the pictures it names), those
# run too. DEPTHMATTE_TEST_OUTPUT names a folder that keeps their composites.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
pipelines/install.sh build run test
swift build -c release --build-tests --disable-local-rpath
exec Tests/summary.sh swift test -c release --skip-build --no-parallel
