# The damage: a byte of a mel, half of the tokens, and the rejects. The repair makes them again, and
# every file is what it was.
cp -r cache whole
python3 - cache/shards/mel/*.lmdb <<"PY"
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[data.index(b"XTTSBLK1") + 4080 + 1000] ^= 1
open(sys.argv[1], "wb").write(data)
PY
truncate -s 9000 cache/shards/tokens/*.lmdb
echo >> cache/rejects.jsonl
xtts-precompute verify cache --repair --data data && diff -r whole cache && echo the same bytes
