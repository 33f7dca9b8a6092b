#!/usr/bin/env bash
# build_on_cuda.sh PROGRAM FIXTURE LIBRARIES...: the real program builds on a GPU. LIBRARIES are the
# adversarial libcuda.so.1 and libcufft.so.12, which the program finds in place of NVIDIA's.
set -euo pipefail
program=$1
data=$2/data
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/driver" "$folder/pip"
for library in "$@"; do
  place=$folder/driver
  [[ $library != *cufft* ]] || place=$folder/pip
  ln -s "$library" "$place/$(basename "$library" | sed -E 's/(\.so\.[0-9]+).*/\1/')"
done
export LD_LIBRARY_PATH=$folder/driver XTTS_FAKE_CUDA_FAULTS=$folder/faults XTTS_FAKE_CUDA_SEED=5
fail() {
  echo "$@"
  exit 1
}

build() { "$program" build "$data" "$@" --max-rejects 1; }
build "$folder/on_cpu" --quiet --device cpu
# This machine may have NVIDIA's library, which cannot work with the adversarial driver.
if build "$folder/on_cuda" --quiet --device cuda 2>"$folder/words"; then
  fail "a build on the GPU has found a cuFFT that nobody named"
fi
export XTTS_CUFFT=/none:$folder/pip
if ! build "$folder/on_cuda" --quiet --device cuda 2>"$folder/words"; then
  cat "$folder/words"
  exit 1
fi
"$program" info "$folder/on_cuda" --json | grep -Eq '"device": ?"cuda: .*sm_90, cuFFT 12.0.0"' ||
  fail "the manifest does not name the GPU"
"$program" diff "$folder/on_cpu" "$folder/on_cuda" --tolerance 1e-5 >"$folder/words" ||
  { cat "$folder/words"; fail "the GPU's features are further from the CPU's"; }
"$program" verify "$folder/on_cuda" --level deep >"$folder/words" ||
  { cat "$folder/words"; fail "a deep check on the CPU does not pass"; }
build "$folder/new" --dry-run --device cuda >"$folder/words" 2>&1
grep -Eq "a GPU can save at most [0-9]" "$folder/words" ||
  { cat "$folder/words"; fail "a dry run does not say what a GPU saves"; }
build "$folder/new" --dry-run --device cuda --json 2>/dev/null |
  grep -Eq '"most_saved_share": ?0\.[0-9]+' || fail "a dry run's JSON does not have the share"
if [ -s "$folder/faults" ]; then
  cat "$folder/faults"
  fail "the driver's rules were broken, or something is left"
fi
