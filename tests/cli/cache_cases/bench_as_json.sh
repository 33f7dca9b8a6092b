xtts-precompute bench cache --batch-size 2 --num-batches 20 --json | check_json bench
xtts-precompute bench cache --batch-size 2 --num-batches 5 --cold --shuffle window --json | check_json bench
xtts-precompute bench cache --batch-size 2 --num-batches 5 --reading direct --json | check_json bench
# One batch gives no time, so there is no verdict.
xtts-precompute bench cache --batch-size 2 --num-batches 1 --json | tee one.json | check_json bench
grep -o '"verdict": .*' one.json
# A cache of four clips has no batch of eight.
xtts-precompute bench cache --num-batches 5 --sweep --json | check_json error
