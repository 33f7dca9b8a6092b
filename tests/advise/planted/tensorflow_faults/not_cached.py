"""Computes the same features in each epoch, in TensorFlow's threads."""

import tensorflow as tf
from speech_tensorflow import ops, pipeline


def features(path):
    audio, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1)
    spectrum = tf.abs(tf.signal.stft(audio[:, 0], 2048, 200, 4096))
    return tf.ensure_shape(spectrum[:150, :80], (150, 80)), tf.constant(150)


def make_dataset(args):
    paths = [ops.sound_of(path) for path in pipeline.paths(args.data)]
    clips = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths), seed=1).repeat()
    clips = clips.map(features, num_parallel_calls=tf.data.AUTOTUNE)
    return clips.batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
