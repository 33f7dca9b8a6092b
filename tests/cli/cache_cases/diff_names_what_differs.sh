sed -i "s/only sense/other sense/g" data/metadata.csv
sed -i "/0003/d" data/metadata.csv
xtts-precompute build data other --max-rejects 1 --dtype float16 --quiet
xtts-precompute diff cache other --limit 1
