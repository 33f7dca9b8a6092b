check() {
  echo "--- $*"
  { echo data:; printf '  %s\n' "$@"; } >config.yaml
  xtts-precompute config check config.yaml | grep -A1 _gpu
}
check 'model_gpu: 1'
check 'model_gpu: -1'
check 'data_gpu: -1' 'model_gpu: 0'
check 'data_gpu: 1' 'model_gpu: 1'
check 'data_gpu: 0' 'model_gpu: 1'
