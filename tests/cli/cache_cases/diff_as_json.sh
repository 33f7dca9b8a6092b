sed -i "s/only sense/other sense/g" data/metadata.csv
xtts-precompute build data other --max-rejects 1 --dtype float16 --quiet
xtts-precompute diff cache cache --json | check_json diff
xtts-precompute diff cache other --tolerance 0.01 --json >differences.json
echo $?
check_json diff <differences.json
python3 - <<'PY'
import json
found = json.load(open("differences.json"))
print(found["equal"], found["same_count"], found["recipe"], [clip["id"] for clip in found["differing"]])
print(found["differing"][0]["fields"][0])
print([(column["column"], column["differing"], column["within_tolerance"]) for column in found["compared"]])
PY
