xtts-precompute ls cache
