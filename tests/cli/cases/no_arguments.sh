xtts-precompute
