xtts-precompute build data packed --layout packed --max-rejects 1 --quiet
xtts-precompute diff cache packed
