xtts-precompute verify cache --repair
