xtts-precompute info cache
