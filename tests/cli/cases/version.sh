xtts-precompute --version
