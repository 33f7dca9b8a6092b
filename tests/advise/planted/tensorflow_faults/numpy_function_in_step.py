"""Aligns in NumPy within the compiled step."""

import numpy as np
import tensorflow as tf
from speech_tensorflow import trainer


def durations(mels):
    """Returns how long each of 40 tokens is, by a monotonic path."""
    lengths = np.zeros((len(mels), 40), np.float32)
    for clip, mel in enumerate(mels):
        best = np.full(40, -1e9, np.float32)
        best[0] = 0
        for frame in mel:
            best = frame[:40] + np.maximum(best, np.concatenate(([-1e9], best[:-1]))).astype(np.float32)
            lengths[clip, int(best.argmax())] += 1
    return lengths


class Trainer(trainer.Trainer):
    def loss(self, mels, frames):
        lengths = tf.numpy_function(durations, [mels], tf.float32)
        return super().loss(mels, frames) + 0.01 * tf.reduce_mean(lengths)
