for id in 1 2 3 4; do xtts-precompute show cache LJ001-000$id --json | check_json show; done
