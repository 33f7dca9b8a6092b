xtts-precompute ./data ./cache --max_frames 1024
