xtts-precompute verify cache --level deep --sample 0%
