"""Trains a small acoustic model with TensorFlow.

    train_tensorflow.py --data FOLDER [--way eager|function|keras] [--fault NAME]

A fault is a module of tensorflow_faults/: what it defines of the parts below takes the healthy one's place.
The last line has the time of a step and, with --digest, one checksum of all batches.
"""

import argparse
import hashlib
import importlib
import itertools
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import standin
import tensorflow as tf
from speech_tensorflow import pipeline, trainer

import corpus

PARTS = {"make_dataset": pipeline.make_dataset, "Trainer": trainer.Trainer}
WARM_UP_STEPS = 5


def parse_args():
    parser = argparse.ArgumentParser(description="Trains a small acoustic model with TensorFlow.")
    parser.add_argument("--data", required=True, help="a folder for the corpus; it is made where it is empty")
    parser.add_argument("--fault", help="a module of tensorflow_faults")
    parser.add_argument("--way", choices=("eager", "function", "keras"), help="default: the fault's, or function")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--stand-in", type=float, metavar="MS", help="a GPU's stand-in, and its time for a step")
    parser.add_argument("--digest", action="store_true", help="print a checksum of all batches")
    return parser.parse_args()


class Digest:
    """A checksum of each batch that the dataset gives, in order."""

    def __init__(self):
        self.sum = hashlib.sha256()

    def add(self, *parts):
        for part in parts:
            self.sum.update(part.tobytes())
        return parts

    def over(self, dataset):
        def seen(*parts):
            return tf.numpy_function(self.add, parts, [part.dtype for part in parts])

        def shaped(*parts):
            given = seen(*parts)
            return tuple(tf.ensure_shape(new, old.shape) for new, old in zip(given, parts))

        return dataset.map(shaped)


def looped(training, dataset, steps):
    marks = []
    for step, batch in enumerate(itertools.islice(training.batches(dataset), steps), 1):
        loss = training.step(*batch)
        training.launch()
        training.after_step(step, loss)
        marks.append(time.perf_counter())
    return marks


def run(args, parts):
    tf.keras.utils.set_random_seed(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    queue = standin.for_tensorflow() if args.stand_in else None
    training = parts["Trainer"](args, queue)
    training.way = args.way or training.way
    dataset = parts["make_dataset"](args)
    digest = Digest()
    if args.digest:
        dataset = digest.over(dataset.take(args.steps))
    marks = training.fit(dataset, args.steps) if training.way == "keras" else looped(training, dataset, args.steps)
    steps = len(marks) - WARM_UP_STEPS
    each_ms = (marks[-1] - marks[WARM_UP_STEPS - 1]) * 1000 / steps
    print(f"{steps} steps, {each_ms:.1f} ms each" + (f", batches {digest.sum.hexdigest()[:16]}" if args.digest else ""))


def main():
    args = parse_args()
    corpus.make(args.data)
    planted = vars(importlib.import_module(f"tensorflow_faults.{args.fault}")) if args.fault else {}
    run(args, {name: planted.get(name, part) for name, part in PARTS.items()})


if __name__ == "__main__":
    main()
