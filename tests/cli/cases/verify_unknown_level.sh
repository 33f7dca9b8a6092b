xtts-precompute verify cache --level ful
