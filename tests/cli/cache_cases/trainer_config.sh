# With a trainer's configuration, a build says which recipe it asks for, cuts what it cuts, and
# names the keys that it does not reproduce.
rm -rf cache
printf 'data:\n  max_mel_frames: 100\n  max_text_tokens: 20\n  preprocessing_mode: precompute\n' >config.yaml
said() {
  grep -E '^(config|warning|Recipe|Cut|          . texts)' | cut -c1-150
}
xtts-precompute build data cache --config config.yaml --max-rejects 1 2>&1 | said
xtts-precompute ls cache --columns id,mel_len,text_len,cut
echo
printf '  use_tf_native_loading: false\n  enable_pitch_shift: true\n  mel_frames: 3\n' >>config.yaml
xtts-precompute build data other --config config.yaml --max-rejects 1 --quiet --json |
  grep -E '"(recipe|cut|cut_texts)"'
xtts-precompute build data other --config config.yaml --max-rejects 1 2>&1 | said
echo
# A named recipe stays, and keeps the values that the file does not give.
printf 'data:\n  batch_size: 1\n' >config.yaml
xtts-precompute build data third --config config.yaml --recipe tacotron2 --max-rejects 1 2>&1 | said
