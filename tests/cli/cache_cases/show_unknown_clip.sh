xtts-precompute show cache LJ999-0001
xtts-precompute show cache wavs/LJ001-0001.wav
