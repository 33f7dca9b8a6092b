xtts-precompute recipes
