#!/usr/bin/env bash
# damaged_commands.sh PROGRAM [SEED]: runs every reading command of the program on damaged caches.
# The script flips and cuts each file at seeded places. verify finds the damage; the other
# commands work or end with a typed error; none ends by a signal. (tests/property flips each byte,
# in process.)
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
seed=${2:-$RANDOM}
RANDOM=$seed

python3 "$here/make_clips.py" "$folder/data" 5
run build "$folder/data" "$folder/sound" --layout packed --max-rejects 1 --quiet
expect_code 0 "build"
cp -r "$folder/sound" "$folder/cache"
cd "$folder"

flip() {  # flip FILE OFFSET
  python3 -c 'import sys
f = open(sys.argv[1], "r+b")
f.seek(int(sys.argv[2]))
b = f.read(1)[0]
f.seek(-1, 1)
f.write(bytes([b ^ 1 << b % 8]))' "$1" "$2"
}

commands=0
# try_all WHAT EXPECTED: verify must exit with EXPECTED, the other commands with 0, 2 or 4.
try_all() {
  local command reading=(
    "verify cache"
    "verify cache --level quick"
    "info cache"
    "info cache --by split"
    "ls cache"
    "show cache clip-0002"
    "show cache clip-0002 --json"
    "diff cache sound"
    "diff sound cache --json"
  )
  for command in "${reading[@]}"; do
    # shellcheck disable=SC2086  # words on purpose
    run $command --quiet
    commands=$((commands + 1))
    case $code in
      0 | 2 | 4) ;;
      *) fail "$1: '$command' ended with $code" ;;
    esac
    if [ "$command" = "verify cache" ] && [ "$code" -ne "$2" ]; then
      fail "$1: verify ended with $code instead of $2"
    fi
    if [ "$code" -ne 0 ] && [ ! -s err ]; then
      fail "$1: '$command' ended with $code and said nothing"
    fi
  done
}

while IFS= read -r file; do
  size=$(stat -c %s "sound/$file")
  expected=4
  # No reader looks at these: two copies, of which verify tells, and a local file (cache-v1.md, 10).
  case $file in rejects.jsonl | copy-of-index.bin | sources.bin) expected=0 ;; esac
  offset=$(((RANDOM * 32768 + RANDOM) % size))
  flip "cache/$file" "$offset"
  try_all "$file, byte $offset flipped" "$expected"
  for cut in 0 $((size / 4096 * 4096 / 2 / 4096 * 4096 + 1)) $(((RANDOM * 32768 + RANDOM) % size)); do
    cp "sound/$file" "cache/$file"
    truncate -s "$cut" "cache/$file"
    if cmp -s "sound/$file" "cache/$file"; then continue; fi
    try_all "$file cut to $cut bytes" "$expected"
  done
  rm "cache/$file"
  try_all "$file gone" "$expected"
  cp "sound/$file" "cache/$file"
done < <(cd sound && find . -type f -printf '%P\n' | sort)
conclude "$commands commands on damaged caches, seed $seed"
