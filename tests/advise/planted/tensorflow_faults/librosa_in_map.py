"""Computes mel spectrograms by librosa, within the pipeline."""

import librosa
import tensorflow as tf
from speech_tensorflow import ops, pipeline


def mel_of(path):
    wave, rate_hz = librosa.load(ops.sound_of(path.decode()), sr=None)
    return ops.fitted(librosa.power_to_db(librosa.feature.melspectrogram(y=wave, sr=rate_hz, n_mels=80)).T)


def read(path):
    mel, frames = tf.numpy_function(mel_of, [path], [tf.float32, tf.int32])
    return tf.ensure_shape(mel, (160, 80)), tf.ensure_shape(frames, ())


def make_dataset(args):
    clips = pipeline.shuffled(args).map(read, num_parallel_calls=tf.data.AUTOTUNE)
    return clips.batch(args.batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
