xtts-precompute ls cache --json | check_json ls; xtts-precompute ls cache --json --where "seconds > 100"
