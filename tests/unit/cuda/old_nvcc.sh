#!/usr/bin/env bash
# old_nvcc.sh CMAKE PROJECT: what CMake does beside an nvcc that cannot compile the kernels, as that of
# CUDA 11. A build that fails there would stop people who want no GPU at all.
set -euo pipefail
cmake=$1 project=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/CMakeFiles"
system=$folder/system/nvcc nvidia=$folder/nvidia/nvcc

# make_nvcc FILE old | new
make_nvcc() {
  mkdir -p "$(dirname "$1")"
  if [ "$2" = new ]; then
    printf '#!/bin/sh\necho sm_75\necho sm_80\n' >"$1"
  else
    printf '#!/bin/sh\necho "nvcc fatal : no c++20 here" >&2\nexit 1\n' >"$1"
  fi
  chmod +x "$1"
}

# The module, with NVIDIA's own toolkit in a folder of this test.
sed "s,/usr/local/cuda/bin/nvcc,$nvidia,g" "$project/cmake/XttsCudaKernels.cmake" >"$folder/module.cmake"
configure() {
  "$cmake" -DPROJECT_SOURCE_DIR="$project" -DPROJECT_BINARY_DIR="$folder" -DXTTS_NVCC="$1" \
    -P "$folder/module.cmake" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
}
expect() {
  grep -qxF -- "-- $1" "$folder/log" || { echo "not said: $1"; cat "$folder/log"; exit 1; }
}
alone="CUDA kernels: PTX alone, which the driver compiles"

make_nvcc "$system" old
configure "$system"
expect "$system cannot compile the CUDA kernels (nvcc fatal : no c++20 here)"
expect "$alone"

make_nvcc "$nvidia" old
configure "$system"
expect "$nvidia cannot compile the CUDA kernels (nvcc fatal : no c++20 here)"
expect "$alone"

make_nvcc "$nvidia" new
configure "$system"
expect "$system cannot compile the CUDA kernels (nvcc fatal : no c++20 here)"
expect "CUDA kernels: PTX, and for 75, 80 by $nvidia"

make_nvcc "$system" new
configure "$system"
expect "CUDA kernels: PTX, and for 75, 80 by $system"

rm "$system" "$nvidia"
configure "$system"
expect "$system cannot compile the CUDA kernels (No such file or directory)"
expect "$alone"

configure no
expect "$alone"
