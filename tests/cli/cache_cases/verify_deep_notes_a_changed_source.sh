cp data/wavs/LJ001-0001.wav data/wavs/LJ001-0003.wav
xtts-precompute verify cache --level deep --data data
