#!/usr/bin/env bash
# slurm.sh PROGRAM: runs samples/slurm as it is on a real Slurm of three nodes on this machine. Meanwhile
# jobs are preempted and requeued, run out of time, and a node dies. Each time the cache must be that of
# an undisturbed build, byte for byte. Needs Debian's slurm-wlm and munge.
source "$(dirname "${BASH_SOURCE[0]}")/../fault/real_world.sh"
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source "$here/cluster.sh"
for tool in slurmctld slurmd sbatch munged; do
  command -v "$tool" >/dev/null || skip "$tool is not installed: apt-get install slurm-wlm munge"
done
[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"
declare -A node_pids=()
daemons=()
trap 'stop_slurm; rm -rf "$folder"' EXIT
# What the jobs of an earlier run left may still hold a port.
port=$((20000 + RANDOM % 10000))
PATH=$(dirname "$program"):$PATH
parts=7
options=(--recipe tacotron2 --layout packed --set max_frames=52428)
export SBATCH_CPUS_PER_TASK=1  # so that parts last some seconds
export LIMITS='--max-rejects 10%'

# 1,400 clips of 40 to 80 s, most of them further names of a few files; shards of eight.
python3 "$here/../fault/make_clips.py" "$folder/data" 20 40
rm "$folder/data/metadata.csv"
for number in {0..1399}; do
  name=again-$(printf %05d "$number")
  ln "$folder/data/wavs/clip-$(printf %04d $((number % 20))).wav" "$folder/data/wavs/$name.wav"
  echo "$name|Sentence $number.|Sentence $number." >>"$folder/data/metadata.csv"
done
rm "$folder"/data/wavs/clip-*.wav
run build "$folder/data" "$folder/expected" "${options[@]}" --max-rejects 10% --quiet
expect_code 0 "an undisturbed build"

start_slurm 3

# begin OUT: starts the sample; $array is then its array.
begin() {
  array=$("$here/../../samples/slurm/build.sh" "$folder/data" "$folder/$1" "$parts" "${options[@]}" |
    sed -nE 's/^array ([0-9]+).*/\1/p')
}
running() {
  squeue --noheader --array --jobs="$array" --states=RUNNING --format=%K
}
# The set reads as one cache, but for sizes of files, and for twins in two parts, which no warning tells.
same_reading() {
  diff <(clips_of "$1") <(clips_of "$2") >/dev/null || fail "$3: ls has other clips"
  diff <(info_of "$1") <(info_of "$2") >/dev/null || fail "$3: info tells other figures"
}
clips_of() {
  "$program" ls "$1" --json | sed 's/,"warnings":\[[^]]*\]//'
}
info_of() {
  "$program" info "$1" --json | grep -vE '^ *"(bytes|caches|path|shards)":'
}
# end OUT WHAT: waits for the set, and compares.
end() {
  wait_long "$1" ||
    { squeue; tail -n 5 "$folder/$1"/logs/*; fail "$2: no set after five minutes"; return; }
  same_reading "$folder/expected" "$folder/$1" "$2"
  run merge "$folder/merged" "$folder/$1"/parts/* --quiet
  expect_code 0 "$2: merge"
  same_bytes "$folder/expected" "$folder/merged" "$2"
  rm -rf "$folder/merged"
}
wait_long() {
  for _ in {1..1500}; do
    [ -n "$(squeue --noheader --format=%i)" ] || break
    sleep 0.2
  done
  [ -f "$folder/$1/set.json" ]
}
begun() {
  [ "$(running | wc -l)" -ge 1 ] && grep -q . "$folder/$1"/parts/*/.build/journal
}

# Two at once, though three nodes are there.
AT_ONCE=2 begin throttled
most=0
while [ -n "$(squeue --noheader --jobs="$array" --format=%i)" ]; do
  count=$(running | wc -l)
  [ "$count" -le "$most" ] || most=$count
  sleep 0.1
done
[ "$most" -eq 2 ] || fail "$most parts ran at once, not 2"
end throttled "an array"
[ "$(ls "$folder/throttled/parts")" = "$(seq -f %04g "$parts")" ] || fail "other parts: $(ls "$folder/throttled/parts")"

# A second run finds everything done.
begin throttled
end throttled "a second run"
[ "$(grep -l "nothing to do" "$folder"/throttled/logs/0*.log | wc -l || true)" -eq "$parts" ] || fail "a part was built again"

# More urgent jobs take the nodes, twice, and an element is requeued by hand.
begin preempted
for _ in 1 2; do
  wait_for "part at work" begun preempted
  sbatch --quiet --partition=urgent --array=1-3 --exclusive --output=/dev/null --wrap 'sleep 3'
  sleep 4
done
wait_for "part at work" begun preempted
scontrol requeue "${array}_$(running | head -n 1)"
end preempted "preempted"
stopped=$(grep -l "stopped: finished shards are kept" "$folder"/preempted/logs/0*.log | wc -l || true)
[ "$stopped" -ge 1 ] || fail "no builder was stopped by SIGTERM"

# --time is over: the builder gets a signal before, and the element comes again.
SBATCH_TIMELIMIT=1 SBATCH_SIGNAL=B:USR1@58 begin timed
end timed "out of time"

# A node is switched off: its slurmd and all its processes. Slurm sees that after SlurmdTimeout.
begin dead
wait_for "part at work" begun dead
switch_off "$(squeue --noheader --array --jobs="$array" --states=RUNNING --format=%N | head -n 1)"
sleep 12
start_node "$off"
end dead "on a node that died"
conclude "samples/slurm on a Slurm of three nodes: $stopped parts were stopped by SIGTERM and went on"
