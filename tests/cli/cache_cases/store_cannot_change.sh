xtts-precompute data cache --store hdf5 --max-rejects 1 --quiet
