xtts-precompute show cache LJ001-0002
