xtts-precompute --json verfy cache | check_json error; exit "${PIPESTATUS[0]}"
