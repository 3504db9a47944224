#!/bin/sh
# Mattes folders of recordings with depth, with GNU parallel, on this machine or others.
#
#     pipelines/batch.sh [OPTION]... FOLDER...
#
# Each recording NAME.mkv, as pipelines/depthcamsrc/record-rgbd.launch writes it, becomes NAME.matted.mkv (FFV1, without
# loss). Its depth is registered by the calibration NAME.json beside it; without one it counts as registered.
#
# --output FOLDER        where the results go, in the same subfolders; beside the recordings by default
# --properties TEXT      properties of depthmatte, parted by spaces; none by default
# --format FORMAT        the results' pixel format; I420 by default, BGRA for background-mode=transparent
# --jobs N               recordings at a time on each machine; one for each processor by default
# --sshlogin HOST,...    the machines, as GNU parallel writes them, ":" for this one. Recordings are copied there and results
#                        back, so nothing needs to be shared; GStreamer, the plugin, mkvmerge and rsync must be there
# --shard I/N            only every Nth recording, from the Ith on, for the tasks of a job array (1/4 … 4/4)
# --force                make results again that are there already
#
# A recording whose result is there is passed over, so that a run that was cut off goes on where it was. The bytes of a
# result depend on the recording and the properties alone. Lines of the log (batch.log in the results' folder): GNU
# parallel's --joblog. The exit status is 0 where all results are there.
set -eu

fail() {
    echo "$0: $1" >&2
    exit 2
}

output=
properties=
format=I420
jobs=100%
hosts=
shard=1/1
force=no
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --force) force=yes && shift && continue ;;
    --output | --properties | --format | --jobs | --sshlogin | --shard) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    -*) fail "there is no option $1; --help lists them" ;;
    *) break ;;
    esac
    case $1 in
    --output) output=$2 ;;
    --properties) properties=$2 ;;
    --format) format=$2 ;;
    --jobs) jobs=$2 ;;
    --sshlogin) hosts=$2 ;;
    --shard) shard=$2 ;;
    esac
    shift 2
done
[ $# -gt 0 ] || fail "no folder of recordings; --help says more"
case $shard in
*[!0-9/]* | /* | */ | */*/*) fail "--shard is $shard, and not I/N" ;;
*/*) ;;
*) fail "--shard is $shard, and not I/N" ;;
esac
if [ "${shard%/*}" -lt 1 ] || [ "${shard%/*}" -gt "${shard#*/}" ]; then fail "--shard is $shard; I must be from 1 to N"; fi
for program in parallel mkvmerge mkvpropedit gst-launch-1.0; do
    command -v $program >/dev/null || fail "there is no $program: apt-get install parallel mkvtoolnix gstreamer1.0-tools"
done

here=$(cd "$(dirname "$0")" && pwd)
if [ -f "$here/../.build/release/libgstdepthmatte.so" ]; then
    GST_PLUGIN_PATH=$(cd "$here/../.build/release" && pwd)${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
fi
export GST_PLUGIN_PATH="${GST_PLUGIN_PATH-}" SWIFT_BACKTRACE=enable=no

# Runs on each machine, in a folder with the recording $1 and its calibration: makes the result $2, whole or not at all.
# shellcheck disable=SC2016
job='
set -eu
mkdir -p "$(dirname "$2")"
# Of its own: a job that outlived a run that was killed may be writing too.
part=$2.part.$$
trap "rm -f \"\$part\" \"\$part.gst\" \"\$part.log\"" EXIT
align=
[ ! -f "${1%.mkv}.json" ] || align="! depthalign calibration=\"${1%.mkv}.json\""
quoted() { printf "\"%s\"" "$(printf "%s" "$1" | sed "s/[\\\\\"]/\\\\&/g")"; }
line="filesrc location=$(quoted "$1") ! matroskademux name=file
    file.video_0 ! queue ! avdec_ffv1 ! videoconvert ! depthmatte name=matte $3
    ! videoconvert ! video/x-raw,format=$4 ! avenc_ffv1 ! matroskamux ! filesink location=$(quoted "$part.gst")
    file.video_1 ! queue ! avdec_ffv1 $align ! matte.depth"
set -f
if ! gst-launch-1.0 --no-fault -q $line >"$part.log" 2>&1 || [ ! -s "$part.gst" ]; then
    echo "$1:" >&2
    tail -n 5 "$part.log" >&2
    exit 1
fi
# matroskamux writes random numbers and the date.
mkvmerge -q --deterministic depthmatte --no-date --no-track-tags --no-global-tags -o "$part" "$part.gst"
mkvpropedit -q "$part" --edit track:1 --set track-uid=1
mv "$part" "$2"
'

list=$(mktemp)
trap 'rm -f "$list"' EXIT
[ -t 2 ] && progress=--bar || progress=
number=0 # of the recording, in all folders
wanted=0
missing=0

# Makes the results of the recordings in $list, which are paths below $1, below $2.
matte() {
    # GNU parallel fetches results to its current folder.
    cd "$2"
    # shellcheck disable=SC2086
    set -- "$1" "$2" $progress -q --jobs "$jobs" --joblog "+$2/batch.log"
    if [ -n "$hosts" ]; then
        # Each job has a folder of its own there, so that a machine that shares this one's disk loses nothing in the
        # cleanup. "/./" parts what is not kept of a path from what is.
        # shellcheck disable=SC2016
        set -- "$@" --sshlogin "$hosts" --workdir ... --cleanup --env GST_PLUGIN_PATH --env SWIFT_BACKTRACE \
            --transferfile "$1/./{}" --transferfile "$1/./{.}.json" --return '{.}.matted.mkv'
        from=.
    else
        from=$1
    fi
    shift 2
    parallel "$@" sh -c "$job" batch "$from/{}" "{.}.matted.mkv" "$properties" "$format" <"$list" || :
}

for folder; do
    [ -d "$folder" ] || fail "there is no folder $folder"
    root=$(cd "$folder" && pwd)
    results=$root
    if [ -n "$output" ]; then
        mkdir -p "$output"
        results=$(cd "$output" && pwd)
    fi
    : >"$list"
    found=$(cd "$root" && find . -name '*.mkv' ! -name '*.matted.mkv' -type f | LC_ALL=C sort | sed 's|^\./||')
    while IFS= read -r recording; do
        [ -n "$recording" ] || continue
        number=$((number + 1))
        [ $(((number - ${shard%/*}) % ${shard#*/})) -eq 0 ] || continue
        [ "$force" = yes ] && rm -f "$results/${recording%.mkv}.matted.mkv"
        [ ! -s "$results/${recording%.mkv}.matted.mkv" ] || continue
        printf '%s\n' "$recording" >>"$list"
    done <<END
$found
END
    [ -s "$list" ] || continue
    (matte "$root" "$results")
    while IFS= read -r recording; do
        wanted=$((wanted + 1))
        [ ! -s "$results/${recording%.mkv}.matted.mkv" ] || continue
        missing=$((missing + 1))
        echo "$0: no result: $root/$recording" >&2
    done <"$list"
done
echo "$((wanted - missing)) recordings were matted, $((number - wanted)) passed over, $missing failed"
[ "$missing" -eq 0 ]
