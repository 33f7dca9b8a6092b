# The lost shard is older than an update, and one of its records belongs to no clip any more. The
# repair publishes the live records in a generation of their own.
xtts-precompute data mine --max-rejects 1 --quiet
cp data/wavs/LJ001-0004.wav data/wavs/LJ001-0001.wav
xtts-precompute build data mine --max-rejects 1 --quiet
rm mine/shards/mel/00000-*.lmdb
xtts-precompute verify mine --repair | sed 's/[0-9a-f]\{32\}/DIGEST/; s/, [^,]* checked in .*//'
xtts-precompute verify mine --quiet && xtts-precompute info mine | grep -o "generation [0-9]*"
xtts-precompute build data mine --max-rejects 1 --quiet && echo "built again"
