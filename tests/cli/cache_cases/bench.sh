xtts-precompute bench cache --batch-size 2 --num-batches 20
