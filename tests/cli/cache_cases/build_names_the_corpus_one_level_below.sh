# A corpus one level below DATA: the message gives its folder, and a build from there works.
mkdir -p one/LJSpeech-1.1
cp -r data/wavs data/metadata.csv one/LJSpeech-1.1
xtts-precompute one new --quiet --max-rejects 1
echo "exit code $?"
xtts-precompute one/LJSpeech-1.1 new --quiet --max-rejects 1
echo "exit code $?"
rm -r one new
