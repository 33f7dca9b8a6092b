printf 'data:\n  n_mels: 80\n' > config.yaml
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 > /dev/null || echo "exit $?"
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fail-on warn > /dev/null || echo "exit $?"
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fail-on fail --json | check_json config_check
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fix --fail-on warn > /dev/null || echo "exit $?"
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fail-on no
