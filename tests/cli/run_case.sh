#!/usr/bin/env bash
# run_case.sh PROGRAM CASE.sh [FIXTURE]: runs one case in an empty folder. It compares the output
# and the exit code with the files beside the case:
#   CASE.stdout.exact, CASE.stderr.exact   the output, byte for byte
#   CASE.stdout.glob, CASE.stderr.glob     one shell pattern for the whole output; * ? [ ] match
#                                          line ends too
#   CASE.exit                              the exit code; 0 where the file is absent
# A stream without a file is not compared. A case finds xtts-precompute, check_json and
# read_hdf5 in its PATH, and the fixture's data/ and cache/ (copies that it may damage) in its
# folder.
# A case that cannot run here says why on stderr and exits with 77: ctest calls it skipped.
# XTTS_REGENERATE=1 writes .exact and .exit files anew. People write the patterns.
set -euo pipefail

program=$(realpath "$1")
case_file=$(realpath "$2")
fixture=${3:-}
case_base=${case_file%.sh}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$program" "$folder/bin/xtts-precompute"
ln -s "$here/check_json.py" "$folder/bin/check_json"
ln -s "$here/read_hdf5.py" "$folder/bin/read_hdf5"
if [ -n "$fixture" ]; then cp -r "$fixture/data" "$fixture/cache" "$folder/work/"; fi

code=0
(
  cd "$folder/work"
  PATH="$folder/bin:$PATH" HOME="$folder/work" LC_ALL=C.UTF-8 TERM=dumb bash "$case_file"
) >"$folder/stdout" 2>"$folder/stderr" </dev/null || code=$?

if [ "$code" -eq 77 ]; then
  cat "$folder/stderr"
  exit 77
fi

# The character at the end keeps $(...) from eating the last line feeds.
contents() { cat "$1"; printf x; }

failed=0
complain() {
  failed=1
  echo "--- $1"
  echo "exit code $code"
  echo "stdout:"; cat "$folder/stdout"
  echo "stderr:"; cat "$folder/stderr"
}

for stream in stdout stderr; do
  exact=$case_base.$stream.exact
  glob=$case_base.$stream.glob
  if [ -n "${XTTS_REGENERATE:-}" ] && [ -e "$exact" ]; then cp "$folder/$stream" "$exact"; fi
  if [ -e "$exact" ] && ! cmp -s "$exact" "$folder/$stream"; then
    complain "$stream is not what $(basename "$exact") says"
    diff "$exact" "$folder/$stream" || true
  fi
  if [ -e "$glob" ]; then
    actual=$(contents "$folder/$stream")
    pattern=$(contents "$glob")
    # shellcheck disable=SC2053  # a pattern on purpose
    [[ $actual == $pattern ]] || complain "$stream does not match $(basename "$glob")"
  fi
done

if [ -n "${XTTS_REGENERATE:-}" ]; then
  if [ "$code" -eq 0 ]; then rm -f "$case_base.exit"; else echo "$code" >"$case_base.exit"; fi
fi
expected=0
if [ -e "$case_base.exit" ]; then expected=$(cat "$case_base.exit"); fi
[ "$code" -eq "$expected" ] || complain "exit code $code, expected $expected"
exit $failed
