# A command that needs a damaged file names the command that mends it. Pasted, that command does.
xtts-precompute data good --max-rejects 1 --quiet
flip() {
  python3 -c 'import sys
path, at = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
data[at] ^= 1
open(path, "wb").write(data)' "$@"
}
damage() {
  rm -rf t new && cp -r good t
  case $1 in
    lost-index) rm t/index-* ;;
    damaged-index) flip t/index-* 1000 ;;
    cut-index) truncate -s -10 t/index-* ;;
    lost-shard) rm t/shards/mel/* ;;
    cut-shard) truncate -s 20000 t/shards/mel/* ;;
    damaged-record) for at in $(seq 17000 70000 1000000); do flip t/shards/mel/* "$at"; done ;;
    lost-manifest) rm t/manifest.json ;;
    damaged-manifest) flip t/manifest.json 70 ;;
  esac
}
try() {
  damage "$1"
  read -ra words <<<"$2"
  if xtts-precompute "${words[@]}" >out 2>err; then echo "$1: $2: needs nothing of it"; return; fi
  advice=$(cat out err | grep -o "'xtts-precompute verify [^']*'" | head -1 | tr -d "'")
  bash -c "$advice" >/dev/null 2>&1
  if xtts-precompute "${words[@]}" >/dev/null 2>&1; then
    echo "$1: $2: $advice"
  else
    echo "$1: $2: IN VAIN"
    cat out err
  fi
}
for kind in lost-index damaged-index lost-shard cut-shard damaged-record; do
  for command in "show t LJ001-0003" "convert t new --layout packed" "diff good t"; do try "$kind" "$command"; done
done
for kind in cut-index lost-manifest damaged-manifest; do
  for command in "info t" "ls t" "compact t" "build data t --max-rejects 1"; do try "$kind" "$command"; done
done
try lost-shard "bench t --batch-size 2 --num-batches 2 --split train"
