# The build has kept the place of the sources.
xtts-precompute verify cache --level deep --json | tee deep.json | check_json verify
xtts-precompute verify cache --level deep --sample 1% --seed 3 --isa scalar --json |
  tee sample.json | check_json verify
python3 - <<"PY"
import json
deep, sample = json.load(open("deep.json")), json.load(open("sample.json"))
print(deep["level"], deep["recomputed"], deep["sampled_of"], deep["comparison"])
print(sample["recomputed"], sample["sampled_of"])
PY
