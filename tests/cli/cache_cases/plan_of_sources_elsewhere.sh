# Sources in an audio root and in archives; both lie elsewhere where the parts are built.
mkdir roots lists archives
cp data/wavs/LJ001-000[1-4].wav roots
{
  printf 'audio\ttext\n'
  for file in "$PWD"/roots/*.wav; do printf '%s\tSentence.\n' "$file"; done
} >lists/table.tsv
for number in 1 2 3 4; do
  tar -C data/wavs -cf "archives/train-$number.tar" "LJ001-000$number.wav"
done
printf -- '- {name: a, path: lists}\n- {name: b, path: archives}\n' >corpora.yaml
options='--isa scalar --audio-root roots'
# shellcheck disable=SC2086  # words
xtts-precompute build corpora.yaml whole $options --quiet
# shellcheck disable=SC2086
xtts-precompute plan corpora.yaml plan $options --parts 2 --quiet

mkdir node
mv roots lists archives corpora.yaml node
xtts-precompute build --part plan/0001 part-1 --quiet
echo "exit $?"
for i in 1 2; do
  xtts-precompute build --part plan/000$i part-$i --data node/corpora.yaml --audio-root node/roots \
    --quiet
done
xtts-precompute merge new part-1 part-2 --quiet
diff -r --exclude sources.bin whole new && echo "the same bytes"
