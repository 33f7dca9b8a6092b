# What the adviser asks the program. --help and completions do not name the command.
xtts-precompute probe machine --json | check_json probe_machine
printf 'data:\n  batch_size: 8\n' >config.yaml
xtts-precompute probe config config.yaml --json >answer.json
check_json probe_config <answer.json
python3 -c 'import json; print(json.load(open("answer.json"))["recipe"]["name"])'
printf 'data:\n  n_mels: many\n' >config.yaml
xtts-precompute probe config config.yaml --json | check_json probe_config
xtts-precompute probe config config.yaml --cache nowhere --json || echo "exit $?"
xtts-precompute --help | grep probe
xtts-precompute completion bash | grep -c probe || true
