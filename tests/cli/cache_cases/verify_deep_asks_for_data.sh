rm cache/sources.bin; xtts-precompute verify cache --level deep
