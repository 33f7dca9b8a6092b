xtts-precompute data part-2 --partition 2/3 --max-rejects 1 --quiet
xtts-precompute merge new part-2; echo "exit $?"
xtts-precompute merge new cache; echo "exit $?"
xtts-precompute data part-2 --max-rejects 1; echo "exit $?"
xtts-precompute data part-4 --partition 4/3; echo "exit $?"
xtts-precompute convert part-2 new; echo "exit $?"
test ! -e new && echo "nothing was made"
