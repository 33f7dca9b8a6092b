# Shared by the scripts that test the program in a real predicament ("SCRIPT PROGRAM"); sourced,
# not run. It gives a script $program, its own $folder, which is removed at the end, and
# functions that check results. Exit code 77 means skipped, with the reason printed (ctest's
# SKIP_RETURN_CODE).
set -euo pipefail

# shellcheck disable=SC2034  # the scripts that source this use it
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
program=$(realpath "${1:?usage: $0 PROGRAM}")
folder=$(mktemp -d)
trap 'umount "$folder"/{disk,here,there,slow} 2>/dev/null || true; rm -rf "$folder"' EXIT
export LC_ALL=C.UTF-8
failures=0

skip() {
  echo "SKIPPED: $*"
  exit 77
}

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*"
  if [ -s "$folder/err" ]; then sed 's/^/  stderr: /' "$folder/err"; fi
}

# run ARGUMENT ...: runs the program. Its exit code is then in $code, its output in $folder/out and
# $folder/err.
run() {
  code=0
  "$program" "$@" >"$folder/out" 2>"$folder/err" </dev/null || code=$?
}

expect_code() {
  [ "$code" -eq "$1" ] || fail "$2: exit code $code instead of $1"
}

# same_bytes EXPECTED CACHE WHAT: compares every file except sources.bin, which is local.
same_bytes() {
  diff -r --exclude=sources.bin "$1" "$2" >"$folder/difference" ||
    fail "$3: $(head -n 5 "$folder/difference")"
}

# enter_own_mounts "$@": starts the script again in its own mount namespace, which ends with it.
enter_own_mounts() {
  if [ -z "${XTTS_OWN_MOUNTS:-}" ]; then
    rm -rf "$folder"
    export XTTS_OWN_MOUNTS=1
    local how
    for how in -m -rm; do
      if unshare "$how" mount -t tmpfs -o size=1m none /mnt 2>/dev/null; then
        exec unshare "$how" bash "$0" "$@"
      fi
    done
    skip "this machine lets nobody mount a file system:" \
      "run as root, or allow unprivileged user namespaces"
  fi
}

conclude() {
  [ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }
  echo "ok: $*"
}
