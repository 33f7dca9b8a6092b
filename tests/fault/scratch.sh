#!/usr/bin/env bash
# scratch.sh PROGRAM: verify keeps decoded sound on the disk, in a folder that all users share. It
# leaves alone the files and links planted under names that a process number would give. Two
# processes with the same number keep apart. A killed process leaves nothing.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
shared=$folder/shared
unshare --pid --fork --mount-proc true 2>/dev/null ||
  skip "this machine makes no process namespaces: run as root"

# Makes two sources of 9 s, each cut into three clips. They differ in sound alone.
python3 - "$folder" <<'PY'
import json, os, random, sys, wave
for name, seed in (("one", 1), ("two", 2)):
    data = os.path.join(sys.argv[1], name)
    os.makedirs(data)
    with wave.open(data + "/x.wav", "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22050)
        file.writeframes(random.Random(seed).randbytes(2 * 22050 * 9))
    with open(data + "/clips.jsonl", "w") as file:
        for i in range(3):
            row = {"audio": "x.wav", "text": "a word", "start": 3 * i, "end": 3 * i + 2.5}
            file.write(json.dumps(row) + "\n")
PY
for name in one two; do
  run build "$folder/$name" "$folder/$name-cache" --quiet
  expect_code 0 "build of $name"
done

# Each process runs in its own process namespace, so all have the same small numbers. With
# --kill-child, a signal that ends unshare ends the program too.
deep() {
  TMPDIR=$shared exec unshare --pid --fork --kill-child --mount-proc \
    "$program" verify "$folder/$1-cache" --level deep --data "$folder/$1" --quiet
}

plant() {
  rm -rf "$shared"
  mkdir -m 1777 "$shared"
  echo precious >"$folder/precious"
  local number
  for number in $(seq 1 30); do
    mkdir -m 777 "$shared/xtts-verify-$number-0"
    ln -s "$folder/precious" "$shared/xtts-verify-$number-0/sound-0"
    ln -s "$folder/precious" "$shared/xtts-verify-$number-0/long-0.f32"
  done
  (cd "$shared" && find . | sort) >"$folder/planted"
}

plant
(deep one) >"$folder/out" 2>"$folder/err" || fail "verify among planted links: exit code $?"
[ "$(cat "$folder/precious")" = precious ] || fail "verify wrote through a planted link"
(cd "$shared" && find . | sort) | cmp -s - "$folder/planted" ||
  fail "verify changed the planted folders, or left something"

rm -rf "$shared"
mkdir -m 1777 "$shared"
rounds=0
while [ $rounds -lt 5 ]; do
  rounds=$((rounds + 1))
  (deep one) >"$folder/out-one" 2>"$folder/err" &
  one=$!
  (deep two) >"$folder/out-two" 2>"$folder/err-two" &
  two=$!
  wait $one || fail "the first of two with one number"
  wait $two || fail "the second of two with one number: $(cat "$folder/err-two")"
done
kills=0
for delay in 0.02 0.05 0.08 0.11 0.15 0.2; do
  (deep one) >/dev/null 2>&1 &
  sleep "$delay"
  kill -KILL $! 2>/dev/null && kills=$((kills + 1))
  wait $! 2>/dev/null || true
done
sleep 0.3
[ -z "$(ls -A "$shared")" ] || fail "left behind: $(ls -A "$shared")"
conclude "$rounds pairs of processes with one number, $kills killed"
