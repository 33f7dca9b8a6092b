#!/usr/bin/env bash
# read_only.sh PROGRAM: every reading command works on a file system that is mounted read-only,
# prints the same as elsewhere and leaves nothing behind. A build says what to do. On a writable
# file system, reading leaves no trace either.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
enter_own_mounts "$@"

python3 "$here/make_clips.py" "$folder/data" 6
disk=$folder/disk
mkdir "$disk"
mount -t tmpfs -o size=32m none "$disk"
run build "$folder/data" "$disk/cache" --max-rejects 1 --quiet
expect_code 0 "build"

reading_commands=(
  "info $disk/cache --json"
  "ls $disk/cache"
  "ls $disk/cache --where seconds>0"
  "show $disk/cache clip-0001 --json"
  "verify $disk/cache --quiet"
  "verify $disk/cache --level quick --quiet"
)
trace() { (cd "$disk" && find . -printf '%p %y %s %i %T@ %C@\n' | sort); }

# say_all FOLDER: keeps the output of each command in FOLDER.
say_all() {
  mkdir "$1"
  local number=0 command
  for command in "${reading_commands[@]}"; do
    # shellcheck disable=SC2086  # words on purpose
    run $command
    expect_code 0 "$command ($1)"
    cp "$folder/out" "$1/$((number++))"
  done
  run show "$disk/cache" clip-0001 --png "$1/mel.png" --npy "$1/mel.npy"
  expect_code 0 "show --png ($1)"
}

before=$(trace)
say_all "$folder/writable"
[ "$before" = "$(trace)" ] || fail "reading left a trace"
mount -o remount,ro "$disk"
say_all "$folder/read-only"
diff -r "$folder/writable" "$folder/read-only" >"$folder/difference" ||
  fail "said otherwise: $(cat "$folder/difference")"

# The builds: one that would have to write, one that would find nothing to do, and a new cache.
cp -r "$folder/data" "$folder/more"
python3 "$here/make_clips.py" "$folder/more" 8
for build in "$folder/more $disk/cache" "$folder/data $disk/cache" "$folder/data $disk/new"; do
  # shellcheck disable=SC2086
  run build $build --max-rejects 1 --quiet
  expect_code 6 "build $build"
  grep -q 'Read-only file system' "$folder/err" || fail "build $build: does not say why"
  grep -q 'name another CACHE' "$folder/err" || fail "build $build: does not say what to do"
done
[ "$before" = "$(trace)" ] || fail "a refused build left a trace"
conclude "${#reading_commands[@]} commands on a read-only file system"
