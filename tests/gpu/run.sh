#!/usr/bin/env bash
# tests/gpu/run.sh: what only a GPU can show. It builds, runs the tests of devices and readers on the
# first GPU, lets NVIDIA's compute-sanitizer look at them, measures, and writes the figures as a
# table for tests/bench/RESULTS.md to build/gpu/results.md.
#
# It needs this checkout, an NVIDIA driver, the CUDA toolkit (nvcc), and a Python with PyTorch:
# python3, or the one that XTTS_PYTHON names. Without a GPU it says so, and ends with exit code 77.
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
if ! command -v nvcc >/dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
  say "The CUDA toolkit is missing (no nvcc): install it, and run this again."
  exit 2
fi
install_missing "${build_packages[@]}" libgtest-dev libgmock-dev python3-dev python3-venv \
  espeak-ng ffmpeg

say "== gpu: building"
mkdir -p "$out"
cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
  -DXTTS_BUILD_TESTS=ON >"$out/build.log"
cmake --build "$out/build" --target gpu_test upload_bench feature_bench \
  xtts-precompute xtts-decode >>"$out/build.log"

say "== gpu: testing"
"$out/build/tests/gpu/gpu_test"

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
  for tool in memcheck racecheck synccheck; do
    say "== gpu: compute-sanitizer, $tool"
    "$sanitizer" --tool "$tool" --error-exitcode 1 "$out/build/tests/gpu/gpu_test" \
      --gtest_filter='*Cuda*' --gtest_brief=1
  done
else
  say "SKIPPED: compute-sanitizer is not installed."
fi

say "== gpu: measuring"
{
  echo "| $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader -i 0) | |"
  echo "|---|---|"
  "$out/build/tests/gpu/upload_bench"
  "$out/build/tests/gpu/feature_bench"
} | tee "$results"

say "== gpu: a cache of the GPU, computed again on the CPU"
data=$out/data
[ -d "$data" ] || samples/make_corpus.sh "$data"
"$out/build/cli/xtts-precompute" "$data" "$out/gpu-cache" --recipe tacotron2 --device cuda --quiet
CUDA_VISIBLE_DEVICES='' "$out/build/cli/xtts-precompute" verify "$out/gpu-cache" --level deep --data "$data"

if "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  "$python" -m venv --system-site-packages "$out/env"
  "$out/env/bin/pip" install --quiet --disable-pip-version-check . pytest numpy soundfile
  say "== gpu: testing PyTorch"
  PATH="$out/env/bin:$PATH" "$out/env/bin/python" -m pytest -q -p no:cacheprovider \
    tests/python/test_torch.py -k cuda
  "$out/build/cli/xtts-precompute" "$data" "$out/cache" --recipe tacotron2 --quiet
  "$out/env/bin/python" tests/gpu/train_bench.py "$out/cache" "$data" | tee -a "$results"
else
  say "SKIPPED: $python has no PyTorch with CUDA, so nothing is trained."
fi
say "The table is in $results: add it to tests/bench/RESULTS.md."
