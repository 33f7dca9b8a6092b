xtts-precompute data new --quiet --max-rejects 1 --set text.max_tokens=10
echo "exit code $?"
[ ! -e new/manifest.json ] && echo nothing published
