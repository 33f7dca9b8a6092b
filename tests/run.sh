#!/usr/bin/env bash
# tests/run.sh [quick | FOLDER | python | lint]: installs what is missing, builds, and tests.
#   quick   the program, and the tests of the folders under a cache: minutes, for a newcomer
#   FOLDER  one folder of src/ or tests/ (corpus, api/c, fault): only its tests are built and run
#   python  the Python package as it lies in src/python, without PyTorch, TensorFlow and JAX
#   lint    the rules: clang-format, clang-tidy, ruff, mypy, shellcheck; the format is mended by
#           tests/lint/format.sh --fix
#   (none)  everything, as CI does: all tests, optimized and with warnings as errors; most of them
#           again under the address and undefined-behaviour sanitizers, those with several threads
#           under the thread sanitizer; the rules; then the Python package, installed as users
#           install it
# XTTS_CORPUS names a folder with the unpacked test corpus. Where it is absent, the tests that need
# it say that they skip.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../cli/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/package_path.sh"
cd "$project"

what=${1:-}
folder=
case $what in
  "" | quick | python | lint) ;;
  *)
    for parent in tests/unit tests; do
      [ -z "$folder" ] && [ -f "$parent/$what/CMakeLists.txt" ] && folder=$parent/$what
    done
    if [ -z "$folder" ]; then
      say "usage: tests/run.sh [quick | FOLDER | python | lint]"
      folders=$(cd tests && find unit [^u]* -name CMakeLists.txt |
        sed 's,/CMakeLists.txt,,; s,^unit/,,' | sort | tr '\n' ' ')
      say "FOLDER is one of: $folders"
      exit 2
    fi
    ;;
esac
install_missing "${build_packages[@]}" "${test_packages[@]}"

# The corpus lies beside the project where the project was checked out with it.
if [ -z "${XTTS_CORPUS:-}" ] && [ -f "$project/../shared/corpus/corpus.tar.gz" ]; then
  export XTTS_CORPUS="$project/build/corpus"
  mkdir -p "$XTTS_CORPUS"
  [ -f "$XTTS_CORPUS/manifest.tsv" ] ||
    tar -xzf "$project/../shared/corpus/corpus.tar.gz" -C "$XTTS_CORPUS"
fi
[ -n "${XTTS_CORPUS:-}" ] ||
  say "XTTS_CORPUS is not set: tests on the recorded corpus will say that they skip."

# run_tests PRESET [ctest arguments]: runs the tests whose programs are built.
run_tests() {
  local preset=$1
  shift
  say "== $preset: testing"
  local result=0
  with_packages_only ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --output-junit "results${1:-}.xml" -j "${test_jobs:-$(nproc)}" "$@" || result=$?
  [ "$result" -eq 0 ] || show_failed_tests "build/$preset/Testing/Temporary"
  return "$result"
}

# Shows the ends of what failed tests printed once more, where somebody who reads the end finds it.
show_failed_tests() {
  say "== the ends of what the failed tests printed"
  awk -v lines=40 '
    FILENAME ~ /Failed/ { sub(/^[0-9]+:/, ""); failed[$0] = 1; next }
    / Testing: / { name = $0; sub(/^[^:]*: /, "", name) }
    /^<end of output>/ && name in failed {
      print "-- " name
      for (i = count > lines ? count - lines : 0; i < count; ++i) print output[i]
    }
    { output[count++] = $0 }
    /^Output:/ { count = 0 }
  ' "$1/LastTestsFailed.log" "$1/LastTest.log" || true
}

# Counts the command line's cases, because a test that ctest does not list cannot fail.
count_cases() {
  local cases listed
  cases=$(find tests/cli/cases tests/cli/cache_cases -name '*.sh' | wc -l)
  listed=$(ctest --test-dir build/check -N -R '^cli(_cache)?\.' -FA . -E '^cli_cache\.fixture$' |
    grep -c ' Test ')
  [ "$listed" -eq "$cases" ] && return
  say "ctest lists $listed of the $cases cases in tests/cli: look at xtts_add_script_test in cmake/"
  return 1
}

# Uses a quicker linker where the compiler knows it. The Python package is built without it, as
# users build it.
if command -v mold >/dev/null &&
  echo 'int main() {}' | g++ -fuse-ld=mold -x c++ -o /dev/null - 2>/dev/null; then
  export LDFLAGS=-fuse-ld=mold
fi

if [ -n "$folder" ]; then
  say "== check: building $folder"
  targets=("$folder/all")
  [[ $folder == tests/unit/* ]] || targets+=(xtts-precompute)  # their scripts run it
  build check --target "${targets[@]}"
  say "== check: testing $folder"
  with_packages_only ctest --test-dir "build/check/$folder" --output-on-failure --no-tests=error \
    -j "$(nproc)"
  exit
fi

if [ "$what" = python ]; then
  tests/python/in_place.sh
  exit
fi

# Checks format, Python and scripts, in a minute.
lint_quickly() {
  say "== lint: clang-format, ruff, mypy, shellcheck"
  tests/lint/format.sh
  tests/lint/python.sh
  tests/lint/shell.sh
}

lint_cpp() {
  say "== lint: clang-tidy"
  tests/lint/cpp.sh
}

if [ "$what" = lint ]; then
  lint_quickly
  say "== check: building what clang-tidy reads"
  build check --target xtts-precompute xtts_reader xtts_builder
  lint_cpp
  exit
fi

# Clang takes half of g++'s time. With g++, the Python package is built, as users build all.
use_clang() {
  if install_missing "${clang_packages[@]}"; then
    export CC=clang-16 CXX=clang++-16
  else
    say "Clang 16 could not be installed: g++ compiles all, which takes twice as long."
  fi
}

if [ "$what" = quick ]; then
  use_clang
  # The folders under a cache, and the command line's cases, which run the real program.
  quick=(base_test formats_test store_test reader_test loader_test verify_test)
  say "== check: building"
  build check --target xtts-precompute cli_test_doubles "${quick[@]}"
  count_cases
  run_tests check -R "^(cli|cli_cache|$(IFS='|'; echo "${quick[*]}"))\."
  say "Left out: the other tests, the sanitizers and the Python package (tests/run.sh runs all)."
  exit
fi

lint_quickly
use_clang
say "== check: building"
build check
count_cases
# Debian has no pyarrow. Without PyPI's, tests that read Parquet and Arrow files say that they skip.
arrow=build/arrow-env
if [ ! -d "$arrow" ] &&
  ! { python3 -m venv "$arrow" && "$arrow/bin/pip" install --quiet 'pyarrow>=26,<27'; }; then
  say "pyarrow could not be installed: tests of Parquet and Arrow files will say that they skip."
  rm -rf "$arrow"
fi
# 10,000 seeds take minutes; a run by hand has them. The sanitizers run 200 below.
export XTTS_CUDA_SEEDS=500
# One more than there are processors, because minutes of the tests of faults are waiting.
test_jobs=$(($(nproc) + 1))
run_tests check -LE speed
test_jobs=$(nproc) run_tests check -L speed
lint_cpp

export XTTS_CUDA_SEEDS=200
# Clang's sanitizer could also keep the frames of functions that have ended, as g++'s does not. That
# makes these tests a fifth longer.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:allow_addr2line=1:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1:allow_addr2line=1 TSAN_OPTIONS=allow_addr2line=1
# The tests say themselves which of them run here (SANITIZERS), and which loops are shorter (kIsSanitized).
for sanitizer in address thread; do
  preset=asan
  [ "$sanitizer" = address ] || preset=tsan
  say "== $preset: building"
  build "$preset" --target "under_$sanitizer"
  run_tests "$preset" -L "under_$sanitizer"
done
unset LDFLAGS CC CXX

say "== skipped by ctest"
tests/skipped.py build/*/results*.xml

tests/python/run.sh
