xtts-precompute bench cache --batch-size 5
