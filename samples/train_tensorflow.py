#!/usr/bin/env python3
"""Trains a small text-to-speech network in TensorFlow: features on the fly (librosa in tf.data),
then from the cache. Says what that changes.

samples/train_tensorflow.py [DATA] [--cache CACHE] [--steps N] [--batch-size N]
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import common
import tensorflow as tf
import xtts_precompute as xp
from xtts_precompute.reference_tensorflow import SmallTts, mel_loss

FIELDS = ("tokens", "mel", "text_len", "mel_len")


def on_the_fly(data, batch_size):
    """Before: Python within tf.data decodes a clip and makes its mel whenever it is asked for."""

    def load(path, text):
        return common.padded(common.mel_on_the_fly(path.decode()), text.decode())

    def with_shapes(tokens, mel, text_len, mel_len):
        return (
            tf.ensure_shape(tokens, [common.TOKENS]), tf.ensure_shape(mel, [common.FRAMES, common.MELS]),
            tf.ensure_shape(text_len, []), tf.ensure_shape(mel_len, []),
        )  # fmt: skip

    paths, texts = zip(*common.clips_of(data))
    common.mel_on_the_fly(paths[0])  # the first call compiles
    types = (tf.int32, tf.float32, tf.int32, tf.int32)
    return (
        tf.data.Dataset.from_tensor_slices((list(paths), list(texts)))
        .shuffle(len(paths))
        .map(
            lambda path, text: with_shapes(*tf.numpy_function(load, (path, text), types)),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
        .batch(batch_size, drop_remainder=True)
        .repeat()
        .prefetch(tf.data.AUTOTUNE)
    )


def ways_of_loading(data, cache, batch_size):
    if common.librosa_or_none():
        yield "on the fly, tf.data", on_the_fly(data, batch_size)
    # After: threads of C++ fill the same batches ahead. The first way is for loops like this one,
    # the second for model.fit.
    yield "cache, xp.tensorflow.Loader", xp.tensorflow.Loader(cache, batch_size=batch_size, fields=FIELDS)
    yield (
        "cache, xp.tensorflow.dataset",
        xp.tensorflow.dataset(cache, batch_size=batch_size, fields=FIELDS, structure=tuple, repeat=True),
    )


def train(loader, options):
    """Takes steps over the loader's batches. Gives where their time went, and the loss of the first
    and the last step."""
    tf.keras.utils.set_random_seed(0)
    model = SmallTts()
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.weights)

    @tf.function
    def step(tokens, mel, text_len, mel_len):
        with tf.GradientTape() as tape:
            loss = mel_loss(model(mel, tokens, text_len), mel, mel_len)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
        return loss

    losses = []
    profiler = xp.StepProfiler(warmup=options.warmup, batch_size=options.batch_size)
    for batch in profiler.batches(loader, steps=options.steps):
        with profiler.phase("train"):  # a compiled step is one call: it cannot be cut inside
            loss = step(*(batch.values() if isinstance(batch, dict) else batch))
        losses.append(float(loss))
    return profiler.report(), losses[0], losses[-1]


if __name__ == "__main__":
    common.compare(__doc__, ways_of_loading, train)
