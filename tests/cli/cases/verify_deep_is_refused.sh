xtts-precompute verify cache --level deep
