mkdir corpus
cp data/wavs/*.wav corpus/
(
  echo 'sound_of_it,bytes,what_is_said'
  for sound in corpus/*.wav; do echo "$(basename "$sound"),1,Hello there."; done
) > corpus/train.csv
xtts-precompute corpus new --quiet --max-rejects 1
echo "exit code $?"
xtts-precompute corpus new --quiet --max-rejects 1 --no-text
echo "exit code $?"
