"""Computes features after the prefetch, one clip after the other."""

import tensorflow as tf
from speech_tensorflow import ops, pipeline


def features(path):
    audio, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1)
    spectrum = tf.abs(tf.signal.stft(audio[:, 0], 2048, 275, 4096))
    return tf.ensure_shape(spectrum[:152, :80], (152, 80)), tf.constant(152)


def make_dataset(args):
    paths = [ops.sound_of(path) for path in pipeline.paths(args.data)]
    clips = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths), seed=1).repeat()
    return clips.prefetch(tf.data.AUTOTUNE).map(features).batch(args.batch_size, drop_remainder=True)
