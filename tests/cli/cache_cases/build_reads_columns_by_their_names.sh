# Nobody could guess the columns of this list: each has its flag.
mkdir lists
cp data/wavs/LJ001-000[1-4].wav lists/
cat >lists/train.csv <<'END'
sound_of_it,called,what_is_said,as_it_is_read,who,tongue,part,from_s,to_s
LJ001-0004.wav,front,It is 1.,It is one.,Ada,en,train,0.0,0.6
LJ001-0004.wav,back,It is 2.,It is two.,Björn,sv,test,0.7,1.4
LJ001-0003.wav,whole,It is 3.,It is three.,Ada,en,validation,,
END
xtts-precompute lists new --quiet; echo "without them: exit code $?"
xtts-precompute lists new --quiet --audio-column sound_of_it --id-column called \
  --text-column what_is_said --normalized-column as_it_is_read \
  --speaker-column who --language-column tongue --split-column part \
  --start-column from_s --end-column to_s; echo "with them: exit code $?"
for clip in front back whole; do
  xtts-precompute show new "$clip" |
    grep -E "^(clip|text|normalized|speaker|language|split|sound)"
done
