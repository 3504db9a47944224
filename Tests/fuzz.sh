#!/bin/sh
# Mutates inputs of a kind with libFuzzer, guided by coverage, under AddressSanitizer.
#
#     Tests/fuzz.sh TARGET|all [SECONDS]   for so many seconds each, 60 by default
#     Tests/fuzz.sh TARGET FILE...         runs these inputs, names them, and stops at the first that fails
#     Tests/fuzz.sh --minimize TARGET|all  leaves the fewest seeds that have the coverage of all that were found
#
# The targets are the cases of Tests/FuzzTargets/FuzzTarget.swift. Each starts from Tests/FuzzTests/seeds/TARGET, and adds
# what it finds to .build-fuzz/corpus/TARGET; what fails lies in .build-fuzz/failed. Every run of the tests replays the
# seeds. DEPTHMATTE_FUZZ_LEAKS=1 looks for leaks at the end too, at a fifth of the speed.
set -eu
case ${1-} in
-h | --help | '')
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

cd "$(dirname "$0")/.."
minimize=no
if [ "$1" = --minimize ]; then
    minimize=yes
    shift
fi
known=$(sed -n 's/^ *case \([a-z, ]*\)$/\1/p' Tests/FuzzTargets/FuzzTarget.swift | tr ',\n' '  ')
targets=${1-}
if [ "$targets" = all ]; then
    targets=$known
else
    case " $known " in
    *" $targets "*) ;;
    *)
        echo "$0: the targets are: $known" >&2
        exit 2
        ;;
    esac
fi
shift

PATH=$(pipelines/need-swift.sh)
export PATH
pipelines/install.sh build run test
build=.build-fuzz
# The compiler heeds the last -sanitize alone.
DEPTHMATTE_FUZZ=1 swift build -c release --scratch-path "$build" --product fuzz \
    --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address -Xswiftc -enable-testing

# A critical of GLib is a broken promise. The target of backgrounds lets all pass: the decoders log some.
export G_DEBUG=fatal-criticals SWIFT_BACKTRACE=enable=no G_SLICE=always-malloc GST_REGISTRY="$PWD/$build/registry.bin"
ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=12:allocator_may_return_null=1
if [ "${DEPTHMATTE_FUZZ_LEAKS-}" = 1 ]; then
    # The suppressions name functions of GLib, which the fast unwinder does not see.
    ASAN_OPTIONS=$ASAN_OPTIONS:fast_unwind_on_malloc=0
    export LSAN_OPTIONS="suppressions=$PWD/Tests/sanitize/leaks.supp:print_suppressions=0"
else
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
fi
export ASAN_OPTIONS

# run TARGET ARGUMENT...
run() {
    target=$1
    shift
    # Looking for leaks after an input finds what threads are about to free.
    DEPTHMATTE_FUZZ_TARGET=$target "$build/release/fuzz" -detect_leaks=0 -timeout=30 -rss_limit_mb=4096 \
        -max_len=4096 -len_control=20 -artifact_prefix="$build/failed/$target-" "$@"
}

for target in $targets; do
    corpus=$build/corpus/$target
    seeds=Tests/FuzzTests/seeds/$target
    mkdir -p "$corpus" "$build/failed"
    if [ "$minimize" = yes ]; then
        rm -rf "$build/merged"
        mkdir "$build/merged"
        run "$target" -merge=1 "$build/merged" "$seeds" "$corpus"
        # Inputs that once failed, and those that have a name, stay, whatever they cover.
        find "$seeds" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
        find "$build/merged" -type f -exec cp {} "$seeds" \;
    elif [ -e "${1-}" ]; then
        run "$target" "$@"
    else
        run "$target" -max_total_time="${1:-60}" -print_final_stats=1 "$corpus" "$seeds"
    fi
done
