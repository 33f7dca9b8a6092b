#!/usr/bin/env bash
# full_disk.sh PROGRAM: builds on a real file system (tmpfs) of many sizes, so that the disk is full at one write after another. Each time: exit
# code 6, the bytes needed and what to do on stderr, a published cache unharmed; with more room the same command ends in the bytes of a
# build that had room from the start.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
enter_own_mounts "$@"

settings=(--layout packed --set max_frames=52428 --max-rejects 1 --quiet)  # shards of 8 clips
python3 "$here/make_clips.py" "$folder/data" 20
python3 "$here/make_clips.py" "$folder/more" 30
disk=$folder/disk
mkdir "$disk"

run build "$folder/data" "$folder/first" "${settings[@]}"
expect_code 0 "with room"
cp -r "$folder/first" "$folder/second"
run build "$folder/more" "$folder/second" "${settings[@]}"
expect_code 0 "update with room"
first_kib=$(du -sk "$folder/first" | cut -f1)
second_kib=$(du -sk "$folder/second" | cut -f1)

expect_a_full_disk() {
  expect_code 6 "$1"
  grep -Eq 'needs about [0-9.]+ [KMG]?i?B' "$folder/err" || fail "$1: says nothing of the bytes needed"
  grep -q 'same command' "$folder/err" || fail "$1: says nothing of what to do"
}

full=0
step_kib=$((first_kib / 14 + 1))
for ((kib = 16; kib < first_kib * 2; kib += step_kib)); do
  mount -t tmpfs -o "size=${kib}k" none "$disk"
  run build "$folder/data" "$disk/cache" "${settings[@]}"
  if [ "$code" -eq 0 ]; then umount "$disk"; break; fi
  full=$((full + 1))
  expect_a_full_disk "a first build in $kib KiB"
  if [ -e "$disk/cache/manifest.json" ]; then
    run verify "$disk/cache"
    expect_code 0 "what was published in $kib KiB"
  fi
  mount -o remount,size=64m "$disk"
  run build "$folder/data" "$disk/cache" "${settings[@]}"
  expect_code 0 "going on after $kib KiB"
  same_bytes "$folder/first" "$disk/cache" "going on after $kib KiB"
  umount "$disk"
done
[ "$full" -ge 10 ] || fail "the disk was full only $full times"

# A published cache, and a disk that has room for only a part of its update.
updates=0
for ((kib = first_kib + 8; kib < second_kib * 2; kib += 2 * step_kib)); do
  mount -t tmpfs -o size=64m none "$disk"
  cp -r "$folder/first" "$disk/cache"
  mount -o "remount,size=${kib}k" "$disk"
  run build "$folder/more" "$disk/cache" "${settings[@]}"
  if [ "$code" -eq 0 ]; then umount "$disk"; break; fi
  updates=$((updates + 1))
  expect_a_full_disk "an update in $kib KiB"
  for command in "verify $disk/cache" "ls $disk/cache" "info $disk/cache" "show $disk/cache clip-0000"; do
    # shellcheck disable=SC2086  # words on purpose
    run $command
    expect_code 0 "$command on a full disk ($kib KiB)"
  done
  mount -o remount,size=64m "$disk"
  run build "$folder/more" "$disk/cache" "${settings[@]}"
  expect_code 0 "the update going on after $kib KiB"
  same_bytes "$folder/second" "$disk/cache" "the update going on after $kib KiB"
  umount "$disk"
done
[ "$updates" -ge 3 ] || fail "the disk was full in only $updates updates"
conclude "$full first builds and $updates updates met a full disk"
