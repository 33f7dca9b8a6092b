xtts-precompute verify cache --sample 1%
