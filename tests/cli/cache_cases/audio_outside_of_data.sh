# Audio on another disk: a link that leaves DATA, and a manifest with absolute paths. A build
# refuses each and names the option that reads it. With the option, it reads them, and
# `verify --level deep` computes them again. The cache's bytes do not tell where the disk is
# mounted.
rm -rf cache
mkdir -p "my disk" lists
mv data/wavs "my disk/wavs"
ln -s "$PWD/my disk/wavs" data/wavs
xtts-precompute build data cache --max-rejects 1 || echo "exit $?"
xtts-precompute build data cache --max-rejects 1 --quiet --audio-root "my disk"
xtts-precompute verify cache --level deep
xtts-precompute show cache LJ001-0001 --wav one.wav >/dev/null && head -c 4 one.wav && echo

manifest() {
  for id in LJ001-0001 LJ001-0002; do
    echo "{\"audio_filepath\": \"$1/$id.wav\", \"text\": \"x\"}"
  done
}
manifest "$PWD/my disk/wavs" >lists/train.json
xtts-precompute build lists cache2 || echo "exit $?"
xtts-precompute build lists cache2 --quiet --audio-root "$PWD/my disk"
xtts-precompute ls cache2
shard=$(ls cache2/shards/mel/*)
printf 'XX' | dd of="$shard" bs=1 seek=70000 conv=notrunc status=none
xtts-precompute verify cache2 --repair
xtts-precompute verify cache2 --level deep
xtts-precompute show cache2 wavs/LJ001-0001 --wav two.wav >/dev/null && cmp one.wav two.wav

mkdir moved && mv "my disk" "moved/disk"
manifest "$PWD/moved/disk/wavs" >lists/train.json
xtts-precompute build lists cache3 --quiet --audio-root moved/disk
rm cache2/sources.bin cache3/sources.bin
diff -r cache2 cache3 && echo same bytes
xtts-precompute verify cache3 --level deep --data lists --audio-root moved/disk
xtts-precompute show cache3 wavs/LJ001-0001 --wav three.wav --data lists --audio-root moved/disk \
  >/dev/null && cmp one.wav three.wav
