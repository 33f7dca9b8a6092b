"""Gives clips from a generator of Python."""

import soundfile
import tensorflow as tf
from speech_tensorflow import ops, pipeline


def clips(names):
    while True:
        for name in names:
            wave, _ = soundfile.read(ops.sound_of(name), dtype="float32")
            features = ops.bands(wave) + ops.bands(wave[::-1])
            yield ops.fitted(features * features.std(axis=0))


def make_dataset(args):
    names = pipeline.paths(args.data)
    signature = (tf.TensorSpec((160, 80), tf.float32), tf.TensorSpec((), tf.int32))
    dataset = tf.data.Dataset.from_generator(lambda: clips(names), output_signature=signature)
    return dataset.batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
