for i in 1 2 3; do xtts-precompute data corpus/part-$i --partition $i/3 --max-rejects 1 --quiet; done
xtts-precompute set corpus corpus/part-3 corpus/part-1 corpus/part-2 --max-rejects 1 | sed 's/[0-9.]* MiB/SIZE/'
xtts-precompute info corpus | grep -v '^made by' | sed 's/[0-9.]* [KM]iB/SIZE/'
xtts-precompute diff corpus cache | tail -1 | sed 's/ in .*/ in TIME/'
same() {  # COMMAND [OPTION ...]
  diff <(xtts-precompute "$1" corpus "${@:2}") <(xtts-precompute "$1" cache "${@:2}") && echo "$*: the same"
}
same ls
same ls --where 'mel_len>50'
same info --by speaker
same info --by rule
xtts-precompute show corpus LJ001-0001 | head -2
xtts-precompute verify corpus | sed 's/, [0-9.]* [KM]iB checked.*//'
xtts-precompute info corpus --json | check_json info
mv corpus moved && xtts-precompute verify moved --quiet && echo "it moves with its parts"
shard=$(find moved/part-*/shards/mel -type f)
printf x | dd of="$shard" bs=1 seek=9000 conv=notrunc status=none
xtts-precompute verify moved | sed -n '1s/-[0-9a-f]*\.lmdb.*/.../p'
xtts-precompute verify moved --repair --quiet && echo "mended"
xtts-precompute set moved moved/part-1 moved/part-2 --max-rejects 1
xtts-precompute set moved moved/part-1 moved/part-2 moved/part-2 --max-rejects 1
xtts-precompute set moved moved/part-1 cache
xtts-precompute set cache moved/part-1
xtts-precompute set moved moved/part-* --max-rejects 0
xtts-precompute compact moved
xtts-precompute data moved
xtts-precompute set moved moved/part-* --max-rejects 1 --json | check_json set
