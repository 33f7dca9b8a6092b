"""Trains a small acoustic model with PyTorch.

    train_torch.py --data FOLDER [--fault NAME]

A fault is a module of torch_faults/: what it defines of the parts below takes the healthy one's place.
The last line has the time of a step and, with --digest, one checksum of all batches.
"""

import argparse
import hashlib
import importlib
import itertools
import time

import standin
import torch
from speech_torch import clips, trainer

import corpus

PARTS = {"Clips": clips.Clips, "collate": clips.collate, "make_loader": clips.make_loader, "Trainer": trainer.Trainer}
WARM_UP_STEPS = 5


def parse_args():
    parser = argparse.ArgumentParser(description="Trains a small acoustic model with PyTorch.")
    parser.add_argument("--data", required=True, help="a folder for the corpus; it is made where it is empty")
    parser.add_argument("--fault", help="a module of torch_faults")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--stand-in", type=float, metavar="MS", help="a GPU's stand-in, and its time for a step")
    parser.add_argument("--digest", action="store_true", help="print a checksum of all batches")
    return parser.parse_args()


def checksum(digest, batch):
    for part in batch:
        digest.update(part.numpy().tobytes())


def run(args, parts):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    queue = standin.for_torch() if args.stand_in else None
    dataset = parts["Clips"](args.data)
    training = parts["Trainer"](args, queue)
    loader = parts["make_loader"](dataset, args, parts["collate"])
    if queue:
        training.optimizer.register_step_post_hook(lambda *_: queue.launch(args.stand_in / 1000))
    digest, marks = hashlib.sha256(), []
    for step, batch in enumerate(itertools.islice(training.batches(loader), args.steps), 1):
        if args.digest:
            checksum(digest, batch)
        training.after_step(step, training.step(batch))
        marks.append(time.perf_counter())
    steps = len(marks) - WARM_UP_STEPS
    each_ms = (marks[-1] - marks[WARM_UP_STEPS - 1]) * 1000 / steps
    print(f"{steps} steps, {each_ms:.1f} ms each" + (f", batches {digest.hexdigest()[:16]}" if args.digest else ""))


def main():
    args = parse_args()
    corpus.make(args.data)
    planted = vars(importlib.import_module(f"torch_faults.{args.fault}")) if args.fault else {}
    run(args, {name: planted.get(name, part) for name, part in PARTS.items()})


if __name__ == "__main__":
    main()
