xtts-precompute show cache LJ999-0001
