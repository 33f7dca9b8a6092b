xtts-precompute --json data cache --max-rejects 1 2> /dev/null | check_json build
