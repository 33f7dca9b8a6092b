xtts-precompute trace python train.py --epochs 1
