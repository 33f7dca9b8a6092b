"""Validates every 10 steps."""

import tensorflow as tf
from speech_tensorflow import pipeline, trainer


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        clips = tf.data.Dataset.from_tensor_slices(pipeline.paths(args.data)).map(pipeline.read)
        self.held_out = list(clips.batch(args.batch_size))

    def validate(self):
        losses = [masked.numpy() for masked in map(self.held_out_loss, self.held_out)]
        return sum(losses) / len(losses)

    def held_out_loss(self, batch):
        return self.compiled_loss(*batch)

    @tf.function
    def compiled_loss(self, mels, frames):
        return self.loss(mels, frames)

    def after_step(self, step, loss):
        super().after_step(step, loss)
        if step % 10 == 0:
            for _ in range(2):
                print(f"validation {self.validate():.4f}", flush=True)
