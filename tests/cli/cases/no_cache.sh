xtts-precompute info nowhere
