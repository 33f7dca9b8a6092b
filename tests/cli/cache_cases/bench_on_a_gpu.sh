# The drivers are those of tests/support: CUDA's puts its first GPU on the bus at ffff:01:00.0.
doubles=$(dirname "$(realpath "$(command -v xtts-precompute)")")/../tests/support
for library in cuda_driver/libcuda.so.1 nvml/whole/libnvidia-ml.so.1; do
  if [ ! -e "$doubles/$library" ]; then
    echo "tests/support/$library is not built" >&2
    exit 77
  fi
done
bench() {
  LD_LIBRARY_PATH=$doubles/cuda_driver:$doubles/nvml/whole XTTS_NVML=$PWD/nvml \
    xtts-precompute bench cache --batch-size 2 --num-batches 20 --device cuda "$@"
}
gpu() {
  python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["gpu"]))'
}

printf '%s\n' 'gpus = 1' 'domain = 65535' 'utilization = 7' 'temperature = !4' 'reasons = 4' >nvml
bench
bench --json >found
check_json bench <found
gpu <found | check_json gpu
echo 'init = !9' >nvml
bench
bench --json >found
check_json bench <found
gpu <found
