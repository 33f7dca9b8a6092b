# For a folder or a file that is no cache, a command says what it is and what to call instead.
mkdir -p empty other above "a b"
echo words >other/words.txt
cp -r cache "above/the cache"
for place in empty other above "a b" cache/manifest.json data/metadata.csv nowhere; do
  xtts-precompute info "$place" --json | check_json error
done
xtts-precompute build cache new --json | check_json error
xtts-precompute info above 2>&1 | grep -o "\`xtts-precompute.*\`" | tr -d "\`" >advice
bash ./advice | head -1 | cut -c 1-28
