# An update leaves a record behind; compact gives the bytes of a build from nothing.
xtts-precompute compact cache
rm data/wavs/LJ001-0002.wav
sed -i '/LJ001-0002/d' data/metadata.csv
xtts-precompute data cache --max-rejects 1 --max-gone 25% --quiet
xtts-precompute compact cache --json | check_json rewrite
xtts-precompute verify cache --quiet
xtts-precompute data fresh --max-rejects 1 --quiet
diff -r --exclude sources.bin cache fresh && echo "the same bytes"
