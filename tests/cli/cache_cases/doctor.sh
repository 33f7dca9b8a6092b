# Figures differ from run to run, so the document is checked, and its checks are listed.
xtts-precompute doctor --data data --cache cache --step-ms 50 --python python3 --out report --json >found
check_json doctor <found
python3 - <<'PYTHON'
import json
checks = json.load(open("found"))["checks"]
print([check["name"] for check in checks])
print(sorted({check["status"] for check in checks} - {"pass", "warn", "fail", "cannot_tell"}))
PYTHON
ls report
xtts-precompute doctor
xtts-precompute doctor --quick-fix --data data
xtts-precompute doctor --data data --out found
xtts-precompute doctor --data data --step-ms x
xtts-precompute doctor --data data --step-ms 50 --profile found
xtts-precompute doctor --data data --python /no/such/python
