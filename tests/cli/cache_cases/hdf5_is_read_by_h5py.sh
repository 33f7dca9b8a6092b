build() { xtts-precompute data "$@" --store hdf5 --max-rejects 1 --quiet; }
build padded --layout padded --dtype float32
build packed --layout packed --dtype float16
build brain --layout padded --dtype bfloat16
read_hdf5 padded packed brain || exit
for shard in */shards/*/*.h5; do
  if command -v h5dump >/dev/null; then h5dump --header "$shard" >/dev/null || echo "h5dump refuses $shard"; fi
done
xtts-precompute verify packed --quiet
