# Each level counts the same clips, records and shards. A missing sources.bin shows.
xtts-precompute data mine --max-rejects 1 --quiet
for level in quick full deep; do
  xtts-precompute verify mine --level "$level" | sed 's/, [^,]* checked in .*//'
done
rm mine/sources.bin
xtts-precompute verify mine | sed 's/, [^,]* checked in [^;]*//'
xtts-precompute verify mine --level quick --json | check_json verify
