"""Reads packed clips from compressed files, one file after the other."""

import gzip
import pathlib

import numpy as np
import tensorflow as tf
from speech_tensorflow import pipeline

FRAMES, BANDS = 1280, 80


def packed(folder):
    """Returns the packed files, of 30 clips each; makes them where they are missing."""
    files = [pathlib.Path(folder, f"archive{number}.gz") for number in range(4)]
    random = np.random.default_rng(3)
    for file in files:
        if not file.exists():
            clips = random.normal(size=(30, FRAMES, BANDS)).astype("float32")
            file.write_bytes(gzip.compress(clips.tobytes(), 1))
    return [str(file) for file in files]


def parsed(record):
    mel = tf.reshape(tf.io.decode_raw(record, tf.float32), (FRAMES, BANDS))
    return mel[: pipeline.FRAMES], tf.constant(pipeline.FRAMES)


def make_dataset(args):
    records = tf.data.FixedLengthRecordDataset(packed(args.data), FRAMES * BANDS * 4, compression_type="GZIP")
    return records.repeat().shuffle(30, seed=1).map(parsed).batch(args.batch_size, drop_remainder=True)
