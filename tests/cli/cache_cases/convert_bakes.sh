xtts-precompute convert cache baked --bake corpus
xtts-precompute info baked | grep '^numbers'
xtts-precompute show baked LJ001-0002 | grep '^mel'
xtts-precompute info baked --json | check_json info
xtts-precompute show baked LJ001-0002 --json | check_json show
xtts-precompute convert baked packed --layout packed --json | check_json rewrite
xtts-precompute verify baked --level deep --data data --quiet && echo "made again from its sources"
xtts-precompute convert baked twice --bake corpus || echo "exit $?"
xtts-precompute data baked --quiet --max-rejects 1 || echo "exit $?"
