#!/usr/bin/env bash
# full_disk.sh PROGRAM: builds on a real file system (tmpfs) of many sizes. The disk is
# therefore full at one write after another. A build on a full disk ends with exit code 6, names
# the bytes needed and what to do on stderr, and leaves a published cache unharmed. With more
# room, the same command writes the same bytes as a build that had room from the start.
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
  grep -Eq 'needs about [0-9.]+ [KMG]?i?B' "$folder/err" ||
    fail "$1: says nothing of the bytes needed"
  grep -q 'run again' "$folder/err" || fail "$1: says nothing of what to do"
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

# The disk has a published cache, and room for only a part of its update.
updates=0
for ((kib = first_kib + 8; kib < second_kib * 2; kib += 2 * step_kib)); do
  mount -t tmpfs -o size=64m none "$disk"
  cp -r "$folder/first" "$disk/cache"
  mount -o "remount,size=${kib}k" "$disk"
  run build "$folder/more" "$disk/cache" "${settings[@]}"
  if [ "$code" -eq 0 ]; then umount "$disk"; break; fi
  updates=$((updates + 1))
  expect_a_full_disk "an update in $kib KiB"
  for command in "verify $disk/cache" "ls $disk/cache" "info $disk/cache" \
    "show $disk/cache clip-0000"; do
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

# compact writes the whole cache once more. The bytes that it says it needs are enough. A disk that
# is full half way loses nothing.
for number in 0 1 2; do
  cp "$folder/more/wavs/clip-001$number.wav" "$folder/more/wavs/clip-000$number.wav"
done
run build "$folder/more" "$folder/second" "${settings[@]}"
expect_code 0 "an update that leaves three records behind"
old_kib=$(du -sk "$folder/second" | cut -f1)
# told: prints the bytes that the last command said it needs, in KiB, rounded up.
told() {
  python3 -c 'import re, sys
amount, unit = re.search(r"needs about ([0-9.]+) ([KM])iB", open(sys.argv[1]).read()).groups()
print(int(float(amount) * {"K": 1, "M": 1024}[unit]) + 2)' "$folder/err"
}
compacts=0
enough=
for ((spare = 4; spare < 2 * old_kib; spare += old_kib / 8 + 1)); do
  mount -t tmpfs -o size=64m none "$disk"
  cp -r "$folder/second" "$disk/cache"
  mount -o "remount,size=$((old_kib + spare))k" "$disk"
  run compact "$disk/cache" --quiet
  if [ "$code" -eq 0 ]; then umount "$disk"; break; fi
  compacts=$((compacts + 1))
  expect_a_full_disk "compact with $spare KiB"
  enough=$(told)
  same_bytes "$folder/second" "$disk/cache" "compact with $spare KiB"
  mount -o "remount,size=$(($(df -k --output=used "$disk" | tail -n 1) + enough))k" "$disk"
  run compact "$disk/cache" --quiet
  expect_code 0 "compact with the $enough KiB that it asked for"
  umount "$disk"
done
[ "$compacts" -ge 2 ] || fail "the disk was full in only $compacts runs of compact"

# A build keeps the sources of segments decoded beside the cache. The bytes that it says it needs
# include them.
python3 - "$folder/parts" <<'PY'
import json, os, random, sys, wave
os.makedirs(sys.argv[1])
for name in "xy":
    with wave.open(f"{sys.argv[1]}/{name}.wav", "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22050)
        file.writeframes(random.Random(name).randbytes(2 * 22050 * 60))
with open(sys.argv[1] + "/clips.jsonl", "w") as file:
    for i in range(12):  # the two sources in turn, so that both stay decoded
        for name in "xy":
            row = {"audio": f"{name}.wav", "text": "a", "start": 5 * i, "end": 5 * i + 1}
            file.write(json.dumps(row | {"id": f"c-{i:02}-{name}"}) + "\n")
PY
mount -t tmpfs -o size=2m none "$disk"
run build "$folder/parts" "$disk/cache" --layout packed --quiet
expect_a_full_disk "segments in 2 MiB"
enough=$(told)
mount -o "remount,size=$(($(df -k --output=used "$disk" | tail -n 1) + enough))k" "$disk"
run build "$folder/parts" "$disk/cache" --layout packed --quiet
expect_code 0 "segments with the $enough KiB that the build asked for"
umount "$disk"
conclude "$compacts runs of compact, $full first builds and $updates updates met a full disk"
