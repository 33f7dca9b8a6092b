xtts-precompute verify cache --quiet
