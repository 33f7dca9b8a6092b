xtts-precompute --json info nowhere | check_json error; exit "${PIPESTATUS[0]}"
