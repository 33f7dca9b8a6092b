"""Small pieces that pipelines share."""

import numpy as np
import tensorflow as tf


def python_op(function, path):
    """Runs a function of Python over a path; it gives [160, 80] float32 and a count of frames."""
    mel, frames = tf.py_function(function, [path], [tf.float32, tf.int32])
    return tf.ensure_shape(mel, (160, 80)), tf.ensure_shape(frames, ())


def fitted(mel, frames=160):
    """Returns [160, 80] and the count of frames that are sound."""
    padded = np.zeros((frames, 80), np.float32)
    padded[: len(mel)] = mel[:frames]
    return padded, np.int32(min(len(mel), frames))


def bands(wave, frame=512, hop=441):
    """Returns [frames, 80] magnitudes of a wave: plain, and cheap."""
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(wave, dtype=np.float32), frame)[::hop]
    return np.abs(np.fft.rfft(frames))[:, :80].astype(np.float32)


def sound_of(path):
    """Returns the path of the sound that belongs to a path of features."""
    return path.replace("/mels/", "/wavs/").replace(".npy", ".wav")
