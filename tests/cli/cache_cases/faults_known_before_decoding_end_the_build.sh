# Clips that lists name and that are not there: the dry run says that the build will end, and the
# build ends before it decodes anything.
mkdir -p lost/wavs
cp data/wavs/LJ001-0001.wav lost/wavs
for number in 1 2 3 4; do echo "LJ001-000$number|One|One"; done > lost/metadata.csv
xtts-precompute lost new --dry-run --quiet | grep -A1 'max-rejects'
xtts-precompute lost new --dry-run --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["passes_max_rejects"])'
xtts-precompute lost new --quiet 2>&1 | head -1
xtts-precompute lost new --quiet --max-rejects 3 && echo built
rm -r lost new
