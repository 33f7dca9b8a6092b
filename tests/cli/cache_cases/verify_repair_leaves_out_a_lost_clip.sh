# A shard is lost, and the source of one of its clips too. This case pastes the advice of each step
# until there is none.
xtts-precompute data mine --max-rejects 1 --quiet
rm mine/shards/mel/*.lmdb data/wavs/LJ001-0002.wav
command="xtts-precompute verify mine"
for _ in 1 2 3 4 5; do
  echo "\$ $command"
  bash -c "$command" >out 2>/dev/null
  echo "exit code $?"
  sed -n 's/^index-[^:]*: //p' out
  command=$(sed -n 's/^  xtts-precompute/xtts-precompute/p' out)
  [ -n "$command" ] || break
done
xtts-precompute ls mine --json |
  python3 -c 'import json, sys; print([clip["id"] for clip in json.load(sys.stdin)["clips"]])'
xtts-precompute build data mine --max-rejects 2 --quiet &&
  xtts-precompute verify mine --quiet && echo sound
