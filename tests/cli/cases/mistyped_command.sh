xtts-precompute verfy cache
