#!/bin/sh
# Tests pipelines/batch.sh: in one go, in shards, cut off and taken up again, and on two hosts over ssh, which are network
# namespaces of this machine. All give the same bytes. As root; needs parallel, mkvtoolnix, rsync, openssh-server, iproute2.
set -eu
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
[ -n "${DEPTHMATTE_TEST_RUN-}" ] || exec "$(dirname "$0")/leftovers.sh" "$0" "$@"
root=$(cd "$(dirname "$0")/.." && pwd)
for program in parallel mkvmerge rsync /usr/sbin/sshd ssh ssh-keygen ip; do
    command -v $program >/dev/null || { echo "Tests/batch.sh: skipped, there is no $program"; exit; }
done
folder=$(mktemp -d)
first=depthmatte-$$-1
second=depthmatte-$$-2

# Without the privilege to make network namespaces, the hosts are left out.
cleanup() {
    for name in $first $second; do
        [ ! -e "$folder/$name.pid" ] || kill "$(cat "$folder/$name.pid")" || :
        ip netns delete "$name" 2>/dev/null || :
    done
    rm -rf "$folder"
}
trap cleanup EXIT

fail() {
    echo "Tests/batch.sh: $1" >&2
    exit 1
}

batch() {
    "$root/pipelines/batch.sh" --properties "anchor=nearest background-color=0xff204060" "$@" >"$folder/out" 2>&1
}

same() {
    diff -r -x batch.log -x '*.part*' "$folder/whole" "$folder/$1" || fail "$1: other bytes than in one go"
}

# Four recordings in folders, one with a calibration beside it and a space in its name.
mkdir -p "$folder/recordings/a b" "$folder/recordings/c"
for name in "a b/one" c/two c/three; do
    "$root/pipelines/run.sh" "$root/pipelines/depthcamsrc/record-rgbd.launch" CAMERA="depthtestsrc" FRAMES=8 \
        OUTPUT="$folder/recording.mkv" >"$folder/out" 2>&1 || fail "no recording: $(cat "$folder/out")"
    mv "$folder/recording.mkv" "$folder/recordings/$name.mkv"
done
cp "$folder/recordings/c/two.mkv" "$folder/recordings/c/calibrated.mkv"
optics='"width": 1280, "height": 720, "fx": 1000, "fy": 1000, "cx": 639.5, "cy": 359.5'
cat >"$folder/recordings/c/calibrated.json" <<END
{"depth": {$optics}, "color": {$optics}, "rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1], "translation": [0.02, 0, 0]}
END

batch --output "$folder/whole" "$folder/recordings" || fail "in one go: $(cat "$folder/out")"
[ "$(find "$folder/whole" -name '*.matted.mkv' | wc -l)" -eq 4 ] || fail "not all results are there"
cmp -s "$folder/whole/c/two.matted.mkv" "$folder/whole/c/calibrated.matted.mkv" && fail "the calibration had no effect"
frames=$(gst-launch-1.0 -v filesrc location="$folder/whole/c/two.matted.mkv" ! matroskademux ! avdec_ffv1 ! checksumsink |
    grep -cE '^[0-9:.]+ [0-9a-f]{40}$')
[ "$frames" -eq 8 ] || fail "$frames frames of 8"

for shard in 1/3 2/3 3/3; do
    batch --output "$folder/shards" --shard $shard "$folder/recordings" || fail "$shard: $(cat "$folder/out")"
done
same shards

# A broken recording does not stop the others, and is named.
echo broken >"$folder/recordings/c/broken.mkv"
batch --output "$folder/broken" "$folder/recordings" && fail "a broken recording gave status 0"
grep -q 'no result: .*/c/broken.mkv' "$folder/out" || fail "the broken recording is not named: $(cat "$folder/out")"
rm "$folder/recordings/c/broken.mkv"
same broken

# Cut off in the middle: nothing half-made has a result's name, and the next run makes the rest. The job under way goes on:
# GNU parallel gives each a process group of its own.
setsid "$root/pipelines/batch.sh" --jobs 1 --properties "anchor=nearest background-color=0xff204060" \
    --output "$folder/resumed" "$folder/recordings" >"$folder/out" 2>&1 &
group=$!
for _ in $(seq 1200); do
    [ -z "$(find "$folder/resumed" -name '*.matted.mkv' 2>/dev/null)" ] || break
    sleep 0.05
done
kill -KILL "-$group"
wait $group 2>/dev/null || :
batch --output "$folder/resumed" "$folder/recordings" || fail "taken up again: $(cat "$folder/out")"
grep -Eq ' [1-9][0-9]* passed over' "$folder/out" || fail "nothing was passed over: $(cat "$folder/out")"
same resumed

if ! ip netns add $first 2>/dev/null; then
    echo "Tests/batch.sh: passed; ssh skipped, network namespaces cannot be made"
    exit
fi
ip netns add $second
ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
mkdir -p /run/sshd
host=1
for name in $first $second; do
    ip link add "dm$$-$host" type veth peer name eth0 netns "$name"
    ip address add "10.213.$host.1/24" dev "dm$$-$host"
    ip link set "dm$$-$host" up
    ip -n "$name" address add "10.213.$host.2/24" dev eth0
    ip -n "$name" link set eth0 up
    ssh-keygen -q -t ed25519 -N '' -f "$folder/$name"
    ip netns exec "$name" /usr/sbin/sshd -f /dev/null -h "$folder/$name" -o "PidFile=$folder/$name.pid" -o UsePAM=no \
        -o "AuthorizedKeysFile=$folder/key.pub" -o StrictModes=no -o PermitRootLogin=yes -p 22 -E "$folder/$name.log"
    echo "10.213.$host.2 $(cut -d' ' -f1,2 "$folder/$name.pub")" >>"$folder/known"
    host=$((host + 1))
done
export PARALLEL_SSH="ssh -i $folder/key -o UserKnownHostsFile=$folder/known -o LogLevel=ERROR"
PARALLEL_HOME=$folder/parallel
export PARALLEL_HOME
mkdir -p "$PARALLEL_HOME"
batch --jobs 1 --output "$folder/ssh" --sshlogin root@10.213.1.2,root@10.213.2.2 "$folder/recordings" ||
    fail "over ssh: $(cat "$folder/out" "$folder/"*.log)"
same ssh
[ "$(cut -f2 "$folder/ssh/batch.log" | grep -c 10.213)" -ge 4 ] || fail "the log names no hosts: $(cat "$folder/ssh/batch.log")"
[ "$(cut -f2 "$folder/ssh/batch.log" | sort -u | grep -c 10.213)" -eq 2 ] || fail "one host did all"
echo "Tests/batch.sh: passed"
