cat > config.yaml <<'END'
data:
  batch_size: 64   # as before
  n_mels: 80
  use_tf_native_loading: off
  bach_size: 4
training:
  learning_rate: 1e-4
END
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1
echo ---
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1 --fix --quiet
cat config.yaml
echo ---
xtts-precompute config check config.yaml --gpu 'RTX 4090' --gpus 1 --fix
ls
