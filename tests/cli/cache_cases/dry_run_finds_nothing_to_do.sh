# The copy's files are newer than the cache's: the first build takes them in.
xtts-precompute data cache --max-rejects 1 >/dev/null 2>&1
xtts-precompute data cache --max-rejects 1 --dry-run 2>/dev/null
xtts-precompute data cache --max-rejects 1 --dry-run --json 2>/dev/null | check_json build_dry_run
