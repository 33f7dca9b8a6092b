# NVIDIA's management library is that of tests/support.
double=$(dirname "$(realpath "$(command -v xtts-precompute)")")/../tests/support/nvml/whole
if [ ! -e "$double/libnvidia-ml.so.1" ]; then
  echo "tests/support/nvml is not built" >&2
  exit 77
fi
check() {
  LD_LIBRARY_PATH=$double XTTS_NVML=$PWD/nvml xtts-precompute config check config.yaml "$@" | grep -E 'GPU|RTX|config.yaml:'
}
{
  printf 'data:\n  batch_size: 40\n  data_gpu: 0\n  model_gpu: 1\n  pad_to_fixed_length: true\n  max_text_tokens: 200\n'
  printf 'training:\n  enable_memory_cleanup: false\n  spectrogram_log_interval: 0\n'
} >config.yaml
printf '%s\n' 'gpus = 1' 'name = NVIDIA GeForce RTX 3060' 'memory_total = 12884901888' >nvml
check
echo --- two GPUs
printf '%s\n' 'gpus = 2' 'name = NVIDIA GeForce RTX 4090' >nvml
check
echo --- what the user says counts
check --gpu 8GB --gpus 1
echo --- no driver
echo 'init = !9' >nvml
check
