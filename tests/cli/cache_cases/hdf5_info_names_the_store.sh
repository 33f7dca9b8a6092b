xtts-precompute data hdf5 --store hdf5 --max-rejects 1 --quiet
xtts-precompute info hdf5
xtts-precompute info hdf5 --json | check_json info
