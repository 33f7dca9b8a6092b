cp -r cache whole
rm cache/manifest.json
xtts-precompute ls cache; echo "ls: $?"
xtts-precompute verify cache; echo "verify: $?"
xtts-precompute verify cache --repair && diff -r whole cache && echo "the same bytes"
