xtts-precompute info cache --by split
