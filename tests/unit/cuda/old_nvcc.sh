#!/usr/bin/env bash
# old_nvcc.sh CMAKE PROJECT: where nvcc is that of CUDA 11, CMake says so, and takes the stored PTX or
# the toolkit in /usr/local/cuda. A build that fails there would stop people who want no GPU at all.
set -euo pipefail
cmake=$1 project=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/nvcc" <<'NVCC'
#!/bin/sh
echo "nvcc fatal   : Value 'c++20' is not defined for option 'std'" >&2
exit 1
NVCC
chmod +x "$folder/nvcc"
mkdir "$folder/CMakeFiles"
configure() {
  "$cmake" -DPROJECT_SOURCE_DIR="$project" -DPROJECT_BINARY_DIR="$folder" -DXTTS_NVCC="$1" \
    -P "$project/cmake/XttsCudaKernels.cmake" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  tr -s ' \n' ' ' <"$folder/log" >"$folder/words"
}
expect() {
  grep -qF -- "$1" "$folder/words" || { echo "not said: $1"; cat "$folder/log"; exit 1; }
}

stored="CUDA kernels: the stored PTX, for want of an nvcc"
configure "$folder/nvcc"
if grep -q -- '-- CUDA kernels: /usr/local/cuda/bin/nvcc' "$folder/words"; then
  echo "the toolkit in /usr/local/cuda was taken"
else
  expect "$folder/nvcc cannot compile the CUDA kernels (nvcc fatal : Value 'c++20' is not defined"
  expect "$stored"
fi
configure no
expect "$stored"
