xtts-precompute verify cache; xtts-precompute verify cache --level quick
