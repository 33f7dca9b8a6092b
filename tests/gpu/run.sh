#!/usr/bin/env bash
# tests/gpu/run.sh: what only a GPU can show. It builds, runs the tests of devices and readers on the
# first GPU, lets NVIDIA's compute-sanitizer look at them, measures, and writes the figures as a
# table for tests/bench/RESULTS.md to build/gpu/results.md.
#
# It needs this checkout, an NVIDIA driver, cuFFT (of the CUDA toolkit, or of pip), and a Python with
# PyTorch: python3, or the one that XTTS_PYTHON names. Without a GPU it says so, and ends with exit
# code 77.
#
# Where nothing can be installed, XTTS_GPU_PROGRAMS names a folder that was made elsewhere: bin/ with
# the programs that are built below, lib/ with the libraries that they need, site/ with the package
# for that Python, and data/ with the clips of samples/make_corpus.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cli/setup.sh"
cd "$project"
python=${XTTS_PYTHON:-python3}
out=$project/build/gpu
results=$out/results.md

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  say "SKIPPED: there is no NVIDIA GPU here (nvidia-smi shows none)."
  exit 77
fi
mkdir -p "$out"

build_here() {
  install_missing "${build_packages[@]}" libgtest-dev libgmock-dev python3-dev python3-venv \
    espeak-ng ffmpeg
  say "== gpu: building"
  cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
    -DXTTS_BUILD_TESTS=ON >"$out/build.log"
  cmake --build "$out/build" --target gpu_test upload_bench log_mel_bench \
    xtts-precompute xtts-decode >>"$out/build.log"
  export PATH=$out/build/tests/gpu:$out/build/cli:$PATH
  data=$out/data
  [ -d "$data" ] || samples/make_corpus.sh "$data"
  if has_torch; then
    "$python" -m venv --system-site-packages "$out/env"
    "$out/env/bin/pip" install --quiet --disable-pip-version-check . pytest numpy soundfile
    python=$out/env/bin/python
  fi
}

take_programs() {
  export PATH=$1/bin:$PATH LD_LIBRARY_PATH=$1/lib:${LD_LIBRARY_PATH:-}
  export PYTHONPATH=$1/site:${PYTHONPATH:-}
  data=$1/data
}

has_torch() { "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; }
has_jax() { "$python" -c 'import jax; jax.devices("gpu")' 2>/dev/null; }

if [ -n "${XTTS_GPU_PROGRAMS:-}" ]; then take_programs "$XTTS_GPU_PROGRAMS"; else build_here; fi
XTTS_PRECOMPUTE=$(command -v xtts-precompute)
export XTTS_PRECOMPUTE PYTHONDONTWRITEBYTECODE=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
# As the package does: cuFFT of this Python's packages, where it is.
folders=$(PYTHONPATH=src/python/xtts_precompute/_base "$python" -c 'import nvidia_libraries
print(*nvidia_libraries.folders(), sep=":")')
[ -z "$folders" ] || export XTTS_CUFFT="${XTTS_CUFFT:-$folders}"

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
checks=()
if [ -x "$sanitizer" ]; then
  checks=(memcheck racecheck synccheck)
  say "== gpu: testing, and beside it ${checks[*]} of compute-sanitizer"
else
  say "SKIPPED: compute-sanitizer is not installed."
  say "== gpu: testing"
fi
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true' EXIT
for tool in "${checks[@]}"; do
  "$sanitizer" --tool "$tool" --error-exitcode 1 "$(command -v gpu_test)" \
    --gtest_filter='*Cuda*' --gtest_brief=1 >"$out/$tool.log" 2>&1 &
  processes+=($!)
done
gpu_test --gtest_brief=1
for i in "${!checks[@]}"; do
  wait "${processes[i]}" || { cat "$out/${checks[i]}.log" && exit 1; }
  tail -1 "$out/${checks[i]}.log"
done

say "== gpu: a cache of the GPU, computed again on the CPU"
rm -rf "$out/gpu-cache"
xtts-precompute "$data" "$out/gpu-cache" --recipe tacotron2 --device cuda --quiet
CUDA_VISIBLE_DEVICES='' xtts-precompute verify "$out/gpu-cache" --level deep --data "$data"

clips=$out/clips
if [ ! -e "$clips/metadata.csv" ]; then  # which comes last
  rm -rf "$clips"
  "$python" tests/gpu/make_clips.py "$data" "$clips" 4000
fi

# Prints how long a build of the clips takes: DEVICE THREADS.
time_build() {
  rm -rf "$out/timed"
  xtts-precompute "$clips" "$out/timed" --recipe tacotron2 --device "$1" --threads "$2" --json 2>/dev/null |
    "$python" -c 'import json, sys; print("%.2f s" % json.load(sys.stdin)["elapsed_s"])'
}

# Prints how fast the reader gives batches of a cache of which nothing is in memory: READING.
time_reading() {
  xtts-precompute bench "$out/cache" --cold --reading "$1" --device cuda --json 2>/dev/null |
    "$python" -c 'import json, sys
told = json.load(sys.stdin)
notice = told["notice"]
print("%.0f samples/s, %s%s" % (told["samples_per_s"], told["reading"], notice and "; notice: " + notice))'
}

say "== gpu: measuring"
{
  echo "| $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader -i 0), $(nproc) processors | |"
  echo "|---|---|"
  upload_bench
  log_mel_bench
  for threads in 2 "$(nproc)"; do
    for device in cpu cuda; do
      echo "| 4,000 clips of WAV to a cache, $threads threads, --device $device | $(time_build "$device" "$threads") |"
    done
  done
} | tee "$results"

xtts-precompute "$clips" "$out/cache" --recipe tacotron2 --quiet
for reading in mapped direct; do
  echo "| batches of 32 from the disk | $(time_reading "$reading") |"
done | tee -a "$results"
if has_torch; then
  say "== gpu: testing PyTorch"
  "$python" -m pytest -q -p no:cacheprovider tests/python/test_torch.py
  {
    if "$python" -c 'import torchaudio' 2>/dev/null; then "$python" tests/gpu/torchaudio_bench.py; fi
    "$python" tests/gpu/wait_bench.py "$out/cache"
    "$python" tests/gpu/train_bench.py "$out/cache" "$clips"
  } | tee -a "$results"
else
  say "SKIPPED: $python has no PyTorch with CUDA, so nothing is trained."
fi
if has_jax; then
  say "== gpu: testing JAX"
  "$python" -m pytest -q -p no:cacheprovider tests/python/test_jax.py
else
  say "SKIPPED: $python has no JAX with CUDA."
fi
say "The table is in $results: add it to tests/bench/RESULTS.md."
