printf '\357\273\277data: {n_mels: 80, batch_size: 8}\r\ntraining: # \330\263\r\n   learning_rate: 1e-4' > real.yaml
chmod 640 real.yaml
ln -s real.yaml config.yaml
xtts-precompute config check config.yaml --gpu 24GB --gpus 1 --fix | grep -E '^(mended|left|the old)' | sed "s,$PWD/,,"
od -c real.yaml | head -20
stat -c '%a %F %n' ./*
cmp real.yaml.bak <(printf '\357\273\277data: {n_mels: 80, batch_size: 8}\r\ntraining: # \330\263\r\n   learning_rate: 1e-4')
