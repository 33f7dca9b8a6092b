#!/usr/bin/env bash
# tests/run.sh [quick]: installs what is missing, builds, and runs all tests: optimized, with every warning an error; then, unless
# `quick`, most of them under the address and undefined-behaviour sanitizers, and those with several threads under the thread sanitizer; at
# last those of the Python package, installed as users install it.
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

# run_preset PRESET [TARGET ...]: builds and runs all tests, or those of the named programs (which begin the names of their tests).
run_preset() {
  local preset=$1 chosen=()
  shift
  say "== $preset: building"
  if [ $# -gt 0 ]; then
    chosen=(-R "^($(IFS='|'; echo "$*"))\.")
    build "$preset" --target "$@"
  else
    build "$preset"
  fi
  say "== $preset: testing"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "${chosen[@]}" ${left_out:+-E "$left_out"}
}

run_preset check
if [ "${1:-}" != quick ]; then
  export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
  # All but what only prints and draws: those programs take as long to compile as all of these. Left out are the longest loops and largest
  # images that have their like in the other store; all of them run above.
  left_out='StoreInterrupted.*/Hdf5|GrowsToThreeLevels|/OneRecordOf100MiB|RewriteInterrupted.*FailsOnce' run_preset asan base_test corpus_test decode_test decode_worker_test dsp_test formats_test maintain_test pipeline_test public_cache_test \
    gpu_test capi_test loader_test public_reader_test batch_damage_test direct_reading_test query_test reader_test recipe_test store_fault_test store_test text_test verify_damage_test verify_deep_test verify_test \
    block_facts_fuzzer block_header_fuzzer corpus_lists_fuzzer decode_fuzzer index_footer_fuzzer manifest_fuzzer query_expression_fuzzer \
    recipe_fuzzer record_facts_fuzzer reject_fuzzer
  # What works on several threads.
  run_preset tsan pipeline_thread_test verify_test base_test loader_test public_reader_test direct_reading_test
fi

tests/python/run.sh
