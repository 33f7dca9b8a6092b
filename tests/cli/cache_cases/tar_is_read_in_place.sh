# Samples of a tar give the same records as the loose files. verify --level deep, --repair and
# show --wav find them in the archive.
rm -rf cache
mkdir loose shards
for wav in data/wavs/LJ001-000[12].wav; do
  name=$(basename "$wav" .wav)
  cp "$wav" loose/
  echo "the text of $name" >"loose/$name.txt"
done
(cd loose && tar -cf ../shards/train-000000.tar ./*)
all_train=(--set corpus.train_split=1 --set corpus.validation_split=0)
xtts-precompute build loose cache-loose --quiet "${all_train[@]}"
xtts-precompute build shards cache --quiet "${all_train[@]}"
xtts-precompute diff cache-loose cache
xtts-precompute verify cache --level deep
xtts-precompute show cache LJ001-0001 --wav one.wav >/dev/null && head -c 4 one.wav && echo
printf 'XX' | dd of="$(ls cache/shards/mel/*)" bs=1 seek=70000 conv=notrunc status=none
xtts-precompute verify cache --repair
xtts-precompute build shards cache "${all_train[@]}"
truncate -s 2000 shards/train-000000.tar
xtts-precompute build shards cache "${all_train[@]}" || echo "exit $?"
