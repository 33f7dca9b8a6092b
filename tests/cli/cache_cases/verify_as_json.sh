for level in quick full; do xtts-precompute verify cache --level $level --json | check_json verify; done
