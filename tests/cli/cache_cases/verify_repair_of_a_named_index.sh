# The manifest is lost, and beside the index lies an unreadable file with an index's name. So it is
# not proved which is the newest, and the printed command names one.
xtts-precompute data mine --max-rejects 1 --quiet
cp mine/index-*.bin older.bin
cp data/wavs/LJ001-0004.wav data/wavs/LJ001-0001.wav
xtts-precompute build data mine --max-rejects 1 --quiet
rm mine/manifest.json
head -c 100 /dev/zero > mine/index-00000000000000000000000000000000.bin
xtts-precompute verify mine --repair >out 2>/dev/null; echo "exit code $?"
sed 's/0\{32\}/ZEROS/g; s/[0-9a-f]\{32\}/DIGEST/g; s/, [^,]* checked in .*//' out
bash -c "$(sed -n 's/^  xtts-precompute/xtts-precompute/p' out)" >/dev/null; echo "exit code $?"
xtts-precompute verify mine --quiet && xtts-precompute info mine | grep -o "generation [0-9]*"
