xtts-precompute info cache --jsno --json | check_json error; exit "${PIPESTATUS[0]}"
