xtts-precompute recipes > /dev/full
