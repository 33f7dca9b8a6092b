printf 'data:\n  sample_rate: 16000\n  batch_size: 16\n  max_mel_frames: 96\n  pad_to_fixed_length: true\n  max_text_tokens: 200\n  num_workers: 0\n' >config.yaml
printf 'training:\n  gradient_accumulation_steps: 2\n  enable_memory_cleanup: false\n  spectrogram_log_interval: 500\nmodel:\n  sample_rate: 16000\n' >>config.yaml
check() {
  xtts-precompute config check config.yaml --gpu 24GB --gpus 1 "$@"
}
check --cache cache --fail-on fail || echo "exit $?"
xtts-precompute data mine --config config.yaml --max-rejects 1 --quiet
check --cache mine --fail-on warn
check --cache mine --json | check_json config_check
rm mine/manifest.json
check --cache mine || echo "exit $?"
