"""Takes clips out of tf.data one by one and pads them as lists of Python."""

import tensorflow as tf
from speech_tensorflow import pipeline, trainer


def make_dataset(args):
    return pipeline.shuffled(args).map(pipeline.read, num_parallel_calls=tf.data.AUTOTUNE).prefetch(64)


def clipped(mel):
    return [[max(-4.0, min(4.0, float(value))) for value in frame] for frame in mel]


class Trainer(trainer.Trainer):
    def batches(self, dataset):
        mels, lengths = [], []
        for mel, frames in dataset.as_numpy_iterator():
            mels.append(clipped(mel[:frames]) + [[0.0] * 80] * (160 - int(frames)))
            lengths.append(int(frames))
            if len(mels) == self.args.batch_size:
                yield tf.constant(mels), tf.constant(lengths)
                mels, lengths = [], []
