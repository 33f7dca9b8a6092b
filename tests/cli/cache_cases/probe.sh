# The numbers that the adviser judges (src/probe/README.md): what a corpus and a cache are asked for.
keys='import json, sys; told = json.load(sys.stdin); print(*sorted(told)); print(*sorted(told["storage"]))'
xtts-precompute probe corpus data --workers 2 --batch-size 4 --json >found
python3 -c "$keys" <found
python3 -c 'import json; told = json.load(open("found")); print(*sorted(told["cache"])); print(*sorted(told["rates"]))'
xtts-precompute probe corpus data --no-sample-cache --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["cache"])'
xtts-precompute probe cache cache --json | python3 -c "$keys"
xtts-precompute probe corpus || echo "exit $?"
xtts-precompute probe corpus nowhere || echo "exit $?"
xtts-precompute probe cache nowhere || echo "exit $?"
xtts-precompute probe corpus data --workers 0 || echo "exit $?"
