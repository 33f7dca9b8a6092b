#!/usr/bin/env bash
# tests/run.sh [quick]: installs what is missing, builds, and runs all tests: the dev build with every warning an error, then
# the same tests under the address, undefined-behaviour and thread sanitizers. `quick` leaves the sanitizers out.
# XTTS_CORPUS names a folder with the unpacked test corpus; tests that need it say that they skip where it is absent.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cli/setup.sh"
cd "$project"
install_missing "${build_packages[@]}" "${test_packages[@]}"

# The corpus lies beside the project where the project was checked out with it.
if [ -z "${XTTS_CORPUS:-}" ] && [ -f "$project/../shared/corpus/corpus.tar.gz" ]; then
  export XTTS_CORPUS="$project/build/corpus"
  mkdir -p "$XTTS_CORPUS"
  [ -f "$XTTS_CORPUS/manifest.tsv" ] || tar -xzf "$project/../shared/corpus/corpus.tar.gz" -C "$XTTS_CORPUS"
fi
[ -n "${XTTS_CORPUS:-}" ] || say "XTTS_CORPUS is not set: tests on the recorded corpus will say that they skip."

run_preset() {
  local preset=$1
  shift
  say "== $preset: building"
  build "$preset"
  say "== $preset: testing"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
}

if [ "${1:-}" != quick ]; then
  # Reports end the program; leaks count too. Labels: what a sanitizer would only slow down is left to the dev build.
  export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
  run_preset asan -LE 'slow|golden|install' --quiet
  export TSAN_OPTIONS="halt_on_error=1 suppressions=$project/tests/support/tsan.supp"
  run_preset tsan -L threads --quiet
fi
run_preset dev
