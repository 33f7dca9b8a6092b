xtts-precompute recipes hifigam
