xtts-precompute info cache --json | check_json info
for by in speaker language split dataset; do
  xtts-precompute info cache --by $by --json | check_json info_by
done
