# In a cache of several corpora, an id as `ls` prints it is found by --where. The clips of many
# corpora make many notes: the dry run says how many it leaves out.
mkdir -p one
cp -r data/wavs data/metadata.csv one
for number in 1 2 3 4 5 6; do echo "- {name: c$number, path: $PWD/one}"; done >corpora.yaml
xtts-precompute corpora.yaml new --dry-run | grep -o "and [0-9]* more notes .*"
xtts-precompute corpora.yaml new --max-rejects 6 --quiet
id=$(xtts-precompute ls new --limit 1 | cut -f 1)
echo "$id: $(xtts-precompute ls new --where "id == '$id'" | cut -f 1)"
xtts-precompute ls new --where "id == '${id#*/}'" | wc -l
