"""Reads features in Python, by a helper of another file."""

import numpy as np
import tensorflow as tf
from speech_tensorflow import ops, pipeline


def load(path):
    mel = np.load(path.numpy().decode())
    loud = np.array([[value * 1.01 if value > 0 else value for value in frame] for frame in mel])
    return ops.fitted(loud)


def make_dataset(args):
    clips = pipeline.shuffled(args).map(lambda path: ops.python_op(load, path), num_parallel_calls=tf.data.AUTOTUNE)
    return clips.batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
