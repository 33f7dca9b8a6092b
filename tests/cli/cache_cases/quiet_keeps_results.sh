# --quiet leaves out summaries, and not what the command is asked for.
xtts-precompute ls cache -q | wc -l
xtts-precompute bench cache -q --num-batches 2 --batch-size 2 | grep -c "clips/s"
xtts-precompute verify cache -q | wc -l
