xtts-precompute convert cache half --layout packed --dtype float16
xtts-precompute verify half --quiet
xtts-precompute data fresh --layout packed --dtype float16 --max-rejects 1 --quiet
# The manifest and the index's copy of it differ: the statistics stay the published ones.
diff -r --exclude sources.bin --exclude manifest.json --exclude 'index-*' --exclude copy-of-index.bin half fresh && echo "the same bytes"
xtts-precompute convert cache packed --layout packed --json | check_json rewrite
xtts-precompute convert half wide --dtype float32
