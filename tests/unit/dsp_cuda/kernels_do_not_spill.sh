#!/usr/bin/env bash
# kernels_do_not_spill.sh ARCHITECTURES SOURCE NVCC OPTIONS...: compiles the kernels of SOURCE for
# each architecture. Fails where one keeps registers in memory: that costs more than its arithmetic.
set -euo pipefail
IFS=';' read -r -a architectures <<< "$1"
source_file=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for architecture in "${architectures[@]}"; do
  "$@" -Xptxas -v -cubin -arch "sm_$architecture" -o "$folder/kernels.cubin" "$source_file" \
    2> "$folder/log" || { cat "$folder/log"; exit 1; }
  kernels=$(grep -c "Function properties" "$folder/log")
  if [ "$kernels" -eq 0 ] ||
    grep -E "[1-9][0-9]* bytes (stack frame|spill stores|spill loads)" "$folder/log"; then
    echo "sm_$architecture: kernels of $source_file keep registers in memory, or none was found"
    cat "$folder/log"
    exit 1
  fi
  echo "sm_$architecture: $kernels kernels, no spills"
done
