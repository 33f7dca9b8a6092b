cp -r cache whole
rm cache/index-*.bin
xtts-precompute ls cache 2>ls.err; echo "ls: $?"
xtts-precompute verify cache --repair && diff -r whole cache && echo the same bytes
