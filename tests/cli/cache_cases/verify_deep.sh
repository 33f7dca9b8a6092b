xtts-precompute verify cache --level deep --data data
