"""Computes the loss a few clips at a time, in a loop of Python, without tf.function."""

import tensorflow as tf
from speech_tensorflow import trainer


class Trainer(trainer.Trainer):
    way = "eager"

    def loss(self, mels, frames):
        parts = zip(tf.split(mels, 4), tf.split(frames, 4))
        losses = [super(Trainer, self).loss(some_mels, some_frames) for some_mels, some_frames in parts]
        return tf.reduce_mean(tf.stack(losses))
