xtts-precompute build data warned --set corpus.source_rate_below=30000 --max-rejects 1 --quiet
xtts-precompute ls warned --where 'warning == "low_rate"' --columns id,warning
xtts-precompute ls warned --where 'not warning' --columns id
xtts-precompute info warned --by rule
xtts-precompute info warned --by rule --json | check_json info_by_rule
xtts-precompute ls warned --json | check_json ls
xtts-precompute show warned LJ001-0001 --json | check_json show
xtts-precompute build data warned --set corpus.source_rate_below=40000 --max-rejects 1 --json | check_json build
