#!/usr/bin/env bash
# failing_memory.sh PROGRAM LIBRARY (failing_malloc.c): refuses memory to commands once, at many
# places. A command succeeds with the program's reserve, or ends with exit code 6 and a message.
# No command ends by a signal.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"
library=$(realpath "${2:?usage: $0 PROGRAM LIBRARY}")

python3 "$here/make_clips.py" "$folder/data" 8
run build "$folder/data" "$folder/plain" --max-rejects 1 --quiet
expect_code 0 "build"

with_failing() {
  local number=$1
  shift
  code=0
  XTTS_FAILING_MALLOC=$number LD_PRELOAD=$library "$program" "$@" \
    >"$folder/out" 2>"$folder/err" </dev/null || code=$?
}

# try_places WHAT COUNT ARGUMENT ...: fails the command at COUNT places, spread over all its calls.
# Each try begins without the cache of the try before.
try_places() {
  local what=$1 count=$2 calls step number refused=0 done=0
  shift 2
  with_failing 0 "$@"
  expect_code 0 "$what with its memory"
  calls=$(sed -n 's/ calls of malloc$//p' "$folder/err")
  [ "${calls:-0}" -gt 1000 ] || fail "$what: counted ${calls:-no} calls of malloc"
  step=$(((calls + count - 1) / count))
  # The first 100 calls are those of libraries, before main().
  for ((number = 100; number <= calls; number += step)); do
    rm -rf "$folder/cache"
    with_failing "$number" "$@"
    case $code in
      0) done=$((done + 1)) ;;
      6)
        refused=$((refused + 1))
        grep -qi 'memory' "$folder/err" ||
          fail "$what, call $number: does not say that it is memory"
        ;;
      *) fail "$what, call $number: exit code $code" ;;
    esac
  done
  said+="$what: $done ended well, $refused refused; "
}

said=
try_places verify 30 verify "$folder/plain" --quiet
try_places ls 15 ls "$folder/plain"
try_places build 100 build "$folder/data" "$folder/cache" --max-rejects 1 --quiet -j 2
run build "$folder/data" "$folder/cache" --max-rejects 1 --quiet
expect_code 0 "going on behind the last"
same_bytes "$folder/plain" "$folder/cache" "going on behind the last"
conclude "$said"
