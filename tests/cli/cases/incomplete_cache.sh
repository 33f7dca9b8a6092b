mkdir -p cache/.build; xtts-precompute ls cache
