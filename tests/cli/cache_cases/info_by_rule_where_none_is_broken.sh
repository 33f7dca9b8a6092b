# Where no clip breaks a rule, `info --by rule` says so in place of a table without rows.
mkdir -p one
cp -r data/wavs one
rm one/wavs/LJ001-0005.wav
grep -v LJ001-0005 data/metadata.csv >one/metadata.csv
xtts-precompute one new --quiet
xtts-precompute info new --by rule
