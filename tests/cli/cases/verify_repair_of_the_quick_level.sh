xtts-precompute verify cache --repair --level quick
