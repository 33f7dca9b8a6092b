printf 'data:\n  preprocessing_mode: precompute  # by the launcher\n  pad_to_fixed_length: true\n  max_text_tokens: 200\n' > config.yaml
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1 --fix --quiet
cat config.yaml
echo ---
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1
echo ---
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1 --for trainer
echo ---
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1 --for trainer --fix --quiet
cat config.yaml
