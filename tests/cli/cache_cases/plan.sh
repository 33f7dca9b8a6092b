# On any processor: the plan is for what each has.
plan_it() { xtts-precompute plan data plan --isa scalar --max-rejects 1 "$@"; }
plan_it --parts 3 | sed "s/scalar (.*)/scalar (libraries)/; s|$PWD/||"
for i in 1 2 3; do
  xtts-precompute build --part plan/000$i part-$i --max-rejects 1 --quiet || exit
done
xtts-precompute info part-2 | grep '^part'
xtts-precompute build --part plan/0002 part-2 --max-rejects 1 --json | check_json build
xtts-precompute merge new part-3 part-1 part-2 --max-rejects 1 --quiet
xtts-precompute data whole --isa scalar --max-rejects 1 --quiet
diff -r --exclude sources.bin whole new && echo "the same bytes"
xtts-precompute verify new --quiet && xtts-precompute data new --max-rejects 1 | grep -o 'Unchanged [^:]*'
plan_it --parts 3 --json | check_json plan
plan_it --parts 2 --overwrite --json | check_json plan
mv data elsewhere
xtts-precompute build --part plan/0001 moved --data elsewhere --max-rejects 1 --dry-run --json |
  check_json build_dry_run
