#!/usr/bin/env bash
# two_hosts.sh PROGRAM: builds in one folder through two FUSE mounts whose locks do not reach each
# other, as on two machines that share it. A second builder is turned away while the first lives. A
# suspended builder is replaced after 30 seconds of silence, and stops when it wakes.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
enter_own_mounts "$@"
command -v bindfs >/dev/null || skip "bindfs is not installed"
[ -c /dev/fuse ] || skip "this machine has no /dev/fuse"

mkdir "$folder"/{disk,here,there,slow}
show() {  # show FOLDER MOUNT_POINT [bindfs options]
  bindfs "${@:3}" "$folder/$1" "$folder/$2" 2>"$folder/err" ||
    skip "this machine lets nobody mount FUSE: $(cat "$folder/err")"
}
show disk here
show disk there

# A build must last longer than two beats, 5 s apart, on any machine: a first builder that ends
# before the second has seen two beats does not stop the second. So the clips, 32 MB, come from a
# disk that gives 2 MiB/s.
python3 "$here/make_clips.py" "$folder/data" 3 5
rm "$folder/data/metadata.csv"
for number in {0..119}; do
  name=again-$(printf %05d "$number")
  ln "$folder/data/wavs/clip-000$((number % 3)).wav" "$folder/data/wavs/$name.wav"
  echo "$name|Sentence $number.|Sentence $number." >>"$folder/data/metadata.csv"
done
rm "$folder"/data/wavs/clip-*.wav
show data slow -r --read-rate=2M
run build "$folder/data" "$folder/expected" --quiet
expect_code 0 "a build on a disk of this machine"

# begin_here CACHE: starts a build through the first mount, in the background, and returns when it
# has begun to compute.
begin_here() {
  "$program" build "$folder/slow" "$folder/here/$1" -j1 --quiet \
    >/dev/null 2>"$folder/first" </dev/null &
  first=$!
  for _ in {1..100}; do
    [ -s "$folder/disk/$1/.build/journal" ] && return
    sleep 0.1
  done
  fail "the first builder does not begin: $(cat "$folder/first")"
}
# end_of_first CODE WHAT: waits for the first builder, which must end with CODE.
end_of_first() {
  code=0
  wait "$first" || code=$?
  cp "$folder/first" "$folder/err"
  expect_code "$1" "$2"
}

begin_here alive
run build "$folder/slow" "$folder/there/alive" -j1
expect_code 5 "a second builder, while the first lives"
grep -q "FUSE.* whose locks may not reach other machines" "$folder/err" ||
  fail "nobody is told of the file system"
grep -q "waiting 30 s for a sign of life" "$folder/err" ||
  fail "nobody is told of the wait"
grep -q "host .*, process $first" "$folder/err" || fail "the holder is not named"
end_of_first 0 "the first builder"
same_bytes "$folder/expected" "$folder/disk/alive" "beside a second builder"

begin_here killed
kill -KILL "$first"
end_of_first 137 "killed"
begin=$SECONDS
run build "$folder/slow" "$folder/here/killed" -j1 --quiet
expect_code 0 "after a killed one on the same machine"
[ $((SECONDS - begin)) -lt 25 ] || fail "a dead builder of this machine was waited for"
same_bytes "$folder/expected" "$folder/disk/killed" "after a killed one"

begin_here suspended
kill -STOP "$first"
run build "$folder/slow" "$folder/there/suspended" -j1 --quiet
expect_code 0 "in place of a suspended builder"
kill -CONT "$first"
end_of_first 5 "the suspended builder, awake"
grep -q "has taken over" "$folder/err" || fail "does not say why it stopped"
same_bytes "$folder/expected" "$folder/disk/suspended" "after both"
run verify "$folder/disk/suspended" --quiet
expect_code 0 "verify"
conclude "two builders through two mounts"
