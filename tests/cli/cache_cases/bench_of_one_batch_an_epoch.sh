xtts-precompute bench cache --batch-size 4 --num-batches 20 --json > bench.json
check_json bench < bench.json
python3 -c 'import json; b = json.load(open("bench.json")); print(b["batches"], b["ms"]["mean"] > 0)'
