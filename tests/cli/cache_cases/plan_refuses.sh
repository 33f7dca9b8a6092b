run() {
  "$@" 2>&1 | sed "s|$PWD/||"
  echo "exit ${PIPESTATUS[0]}"
}
run xtts-precompute plan data plan
run xtts-precompute plan data plan --parts 0
run xtts-precompute plan data cache --parts 2
run xtts-precompute plan data plan --parts 2 --isa scalar --max-rejects 1 --quiet
run xtts-precompute plan data plan --parts 3 --isa scalar --max-rejects 1
run xtts-precompute build --part plan/0001
run xtts-precompute build --part plan/0001 data part
run xtts-precompute build data part --data data
run xtts-precompute build --part plan/0001 part --set max_frames=100
run xtts-precompute build --part plan/0003 part
run xtts-precompute build --part nowhere/0001 part
run xtts-precompute build --part plan/0001 part --data nowhere
test ! -e part && echo "nothing was made"
