#!/bin/sh
# Runs the endurance tests in full: 10,000 state cycles, 20,000 flushing seeks, 50,000 requests of each pad, 1,000,000
# frames, 300,000 of three inputs. They take minutes.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

cd "$(dirname "$0")/.."
PATH=$(pipelines/need-swift.sh)
export PATH
pipelines/install.sh build run test
swift build -c release --build-tests
# With one arena the allocator does not grow by the megabyte when another thread happens to ask; with slices from malloc
# GLib does not keep freed events and buffers in stacks that grow whenever threads contend for them.
MALLOC_ARENA_MAX=1 G_SLICE=always-malloc DEPTHMATTE_SOAK=full exec swift test -c release --skip-build --no-parallel --filter SoakTests
