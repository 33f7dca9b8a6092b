for i in 1 2 3; do xtts-precompute data part-$i --partition $i/3 --max-rejects 1 --quiet; done
xtts-precompute info part-2 | grep '^part'
xtts-precompute merge new part-3 part-1 part-2 --max-rejects 1
diff -r --exclude sources.bin cache new && echo "the same bytes"
rm -r part-*
xtts-precompute verify new --quiet && xtts-precompute data new --max-rejects 1 | tail -1
for i in 1 2; do xtts-precompute data part-$i --partition $i/2 --max-rejects 1 --quiet; done
xtts-precompute merge newer part-1 part-2 --max-rejects 1 --json | check_json merge
