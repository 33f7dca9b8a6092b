"""Writes an image and histograms for TensorBoard in each step."""

import tensorflow as tf
from speech_tensorflow import trainer


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        self.writer = tf.summary.create_file_writer(f"{args.data}/summaries")
        self.number = 0

    def step(self, mels, frames):
        loss = super().step(mels, frames)
        self.number += 1
        with self.writer.as_default(step=self.number):
            tf.summary.image("mels", mels[..., None], max_outputs=16)
            for weight in self.model.trainable_variables:
                tf.summary.histogram(weight.path, weight.value)
        return loss
