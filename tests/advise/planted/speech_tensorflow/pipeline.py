"""The input: features from .npy files, read in TensorFlow's own threads."""

import pathlib

import tensorflow as tf

FRAMES, BANDS = 160, 80
NPY_HEADER_BYTES = 128


def paths(folder):
    return sorted(str(path) for path in pathlib.Path(folder, "mels").glob("*.npy"))


def read(path):
    """Returns [160, 80] and the count of frames that are sound."""
    numbers = tf.io.decode_raw(tf.strings.substr(tf.io.read_file(path), NPY_HEADER_BYTES, -1), tf.float32)
    mel = tf.reshape(numbers, (-1, BANDS))
    frames = tf.shape(mel)[0]
    return tf.ensure_shape(tf.pad(mel, ((0, FRAMES - frames), (0, 0))), (FRAMES, BANDS)), frames


def shuffled(args):
    names = paths(args.data)
    return tf.data.Dataset.from_tensor_slices(names).shuffle(len(names), seed=1).repeat()


def make_dataset(args):
    clips = shuffled(args).map(read, num_parallel_calls=tf.data.AUTOTUNE)
    return clips.batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
