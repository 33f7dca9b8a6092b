printf 'data:\n  n_mels: 80\n' > config.yaml
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --json | check_json config_check
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fix --json | tee fixed.json | check_json config_check
grep -c '"after"' fixed.json
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fix --json | check_json config_check
