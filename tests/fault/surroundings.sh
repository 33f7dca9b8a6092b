#!/usr/bin/env bash
# surroundings.sh PROGRAM: a build writes the same bytes whatever the locale, time zone, umask,
# number of processors and current folder.
source "$(dirname "${BASH_SOURCE[0]}")/real_world.sh"

python3 "$here/make_clips.py" "$folder/data" 12
settings=(--set max_frames=52428 --layout packed --max-rejects 1 --quiet)
run build "$folder/data" "$folder/plain" "${settings[@]}"
expect_code 0 "build"

count=0
# same_in NAME COMMAND ...: COMMAND runs the build, which must write the same bytes.
same_in() {
  local name=$1 code=0
  shift
  "$@" "$program" build "$folder/data" "$folder/$name" "${settings[@]}" \
    >"$folder/out" 2>"$folder/err" || code=$?
  [ "$code" -eq 0 ] || fail "$name: exit code $code"
  same_bytes "$folder/plain" "$folder/$name" "$name"
  count=$((count + 1))
}

under_umask() {
  local mask=$1
  shift
  (umask "$mask" && "$@")
}
from_root() { (cd / && "$@"); }

same_in posix env LC_ALL=POSIX
same_in no-locale env LC_ALL=xx_YY.UTF-8
same_in odd-zone env TZ=Asia/Kathmandu
same_in broken-zone env TZ=nowhere:99
same_in empty env -i
same_in umask-077 under_umask 077
same_in umask-000 under_umask 000
same_in other-folder from_root
same_in one-thread env -u LC_ALL taskset -c 0

# umask decides who may read, and nothing else.
[ "$(stat -c %a "$folder/umask-077/manifest.json")" = 600 ] || fail "umask 077 was not honoured"
[ "$(stat -c %a "$folder/umask-000/manifest.json")" = 666 ] || fail "umask 000 was not honoured"

# Decimals of this locale have a comma. localedef makes it where the machine has its description.
comma=(env "LOCPATH=$folder" LC_ALL=de_DE.UTF-8)
decimal_point='import locale
locale.setlocale(locale.LC_ALL, "")
print(locale.localeconv()["decimal_point"])'
if localedef -i de_DE -f UTF-8 "$folder/de_DE.UTF-8" >/dev/null 2>&1 &&
  [ "$("${comma[@]}" python3 -c "$decimal_point")" = , ]; then
  same_in comma "${comma[@]}"
  "${comma[@]}" "$program" info "$folder/plain" --json |
    python3 -c 'import json, sys; json.load(sys.stdin)' ||
    fail "info --json under de_DE is no JSON"
else
  echo "SKIPPED in part: no locale with a decimal comma can be made here (localedef, de_DE)"
fi
conclude "the same bytes in $count surroundings"
