"""`xtts-precompute trace -- python train.py`: which calls a training's steps wait for, by measuring.

    command ──► starts the trainer with start/ on PYTHONPATH
    inside/     runs in each of its Python processes: samples, marks, counts ──► PID.json
    judge/      reads these files: findings, ranked ──► text, JSON

inside/ needs Python 3.8 and its standard library. It changes no batch: it draws no random numbers,
holds none of the trainer's objects, and calls nothing of the trainer's twice.
"""
