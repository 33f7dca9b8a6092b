xtts-precompute config || echo "exit $?"
xtts-precompute config mend file || echo "exit $?"
xtts-precompute config check || echo "exit $?"
