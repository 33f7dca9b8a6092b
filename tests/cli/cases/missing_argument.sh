xtts-precompute info
