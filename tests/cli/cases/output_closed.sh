xtts-precompute recipes >&-
