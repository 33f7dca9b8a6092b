xtts-precompute warm cache
