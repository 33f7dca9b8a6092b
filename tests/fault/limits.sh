#!/usr/bin/env bash
# limits.sh PROGRAM: runs every command with files that may not grow (ulimit -f), few descriptors
# (-n), little memory (-v), no threads (-u), and with nobody at the other end of its output. Each
# command succeeds, or ends with exit code 6 and says why. It calls only damage "damaged", and
# harms nothing that is published.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
python3 "$here/make_clips.py" "$folder/data" 6
python3 - "$folder/parts" <<'PY'
import json, os, random, sys, wave
os.makedirs(sys.argv[1])
with wave.open(sys.argv[1] + "/x.wav", "wb") as file:
    file.setnchannels(1)
    file.setsampwidth(2)
    file.setframerate(22050)
    file.writeframes(random.Random(1).randbytes(2 * 22050 * 6))
with open(sys.argv[1] + "/clips.jsonl", "w") as file:
    for i in range(3):
        row = {"audio": "x.wav", "text": "a word", "start": 2 * i, "end": 2 * i + 1.5}
        file.write(json.dumps(row) + "\n")
PY
run build "$folder/data" "$folder/sound" --layout packed --max-rejects 1 --quiet
expect_code 0 "build"
run build "$folder/parts" "$folder/cut" --quiet
expect_code 0 "build of parts"
chmod 777 "$folder"
cd "$folder"

commands=(
  "build data new --layout packed --max-rejects 1 -j 2"
  "build parts new -j 2"
  "build data cache --layout packed --max-rejects 1 --overwrite -j 2"
  "build data new --dry-run --max-rejects 1"
  "verify cache"
  "verify cache --level quick"
  "verify cache --level deep --data data"
  "verify cache2 --level deep --data parts"
  "verify cache --repair --data data"
  "info cache --json"
  "ls cache"
  "show cache clip-0002"
  "show cache clip-0002 --npy x.npy"
  "show cache clip-0002 --wav x.wav --data data"
  "diff cache sound"
  "convert cache new --dtype float16"
  "compact cache"
  "merge new cache"
  "bench cache --batch-size 2 --num-batches 3"
  "recipes"
)

cases=0
refused=0
# under WORDS COMMAND ...: runs each command under COMMAND, which sets the limit that WORDS name.
under() {
  local what=$1 command
  shift
  for command in "${commands[@]}"; do
    rm -rf new cache cache2 x.npy x.wav
    cp -r sound cache
    cp -r cut cache2
    if [ "$(id -u)" -eq 0 ]; then chmod -R a+rwX cache cache2 data parts sound; fi
    # The messages go through a pipe, so that the file that takes them does not meet the limit.
    # shellcheck disable=SC2086  # words on purpose
    { (umask 000 && "$@" "$program" $command) 2>&1 >out </dev/null || echo $? >code; } | cat >err
    code=$(cat code 2>/dev/null || echo 0)
    rm -f code
    cases=$((cases + 1))
    case $code in
      0) ;;
      6)
        refused=$((refused + 1))
        [ -s err ] || fail "$what: '$command' ended with 6 and said nothing"
        ;;
      2)  # these caches are no parts of a partition
        [ "$command" = "merge new cache" ] || fail "$what: '$command' ended with 2"
        ;;
      *) fail "$what: '$command' ended with $code" ;;
    esac
    if grep -qi damaged err; then fail "$what: '$command' speaks of damage"; fi
    "$program" verify cache --quiet 2>err || fail "$what: '$command' hurt the cache"
  done
}

limited() { (ulimit "$1" "$2" && shift 2 && exec "$@"); }
for kib in 0 1 400; do under "ulimit -f $kib" limited -f "$kib"; done
for count in 5 6 7 9 12; do under "ulimit -n $count" limited -n "$count"; done
for kib in 400000 250000; do under "ulimit -v $kib" limited -v "$kib"; done
# The limit on processes does not hold for root.
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups test -x "$program"; then
  as_nobody() { (ulimit -u 1 && exec setpriv --reuid 65534 --clear-groups "$@"); }
  under "ulimit -u 1" as_nobody
else
  echo "SKIPPED in part: processes are limited only for another user"
fi
[ "$refused" -gt 20 ] || fail "only $refused commands met a limit"

# Nobody reads the output. The program writes what it can, and its work counts.
for command in "${commands[@]}"; do
  rm -rf new cache cache2
  cp -r sound cache
  cp -r cut cache2
  # shellcheck disable=SC2086
  { "$program" $command 2>err || echo $? >code; } | true
  code=$(cat code 2>/dev/null || echo 0)
  rm -f code
  case $code in
    0 | 2 | 6) ;;
    *) fail "no reader: '$command' ended with $code" ;;
  esac
  cases=$((cases + 1))
done
conclude "$cases commands, $refused refused for want of something"
