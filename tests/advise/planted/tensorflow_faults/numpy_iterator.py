"""Takes clips out of tf.data one by one and pads them as lists of Python."""

import tensorflow as tf
from speech_tensorflow import pipeline, trainer


def make_dataset(args):
    return pipeline.shuffled(args).map(pipeline.read, num_parallel_calls=tf.data.AUTOTUNE).prefetch(64)


class Trainer(trainer.Trainer):
    def batches(self, dataset):
        mels, lengths = [], []
        for mel, frames in dataset.as_numpy_iterator():
            mels.append(mel[:frames].tolist() + [[0.0] * 80] * (160 - int(frames)))
            lengths.append(int(frames))
            if len(mels) == self.args.batch_size:
                yield tf.constant(mels), tf.constant(lengths)
                mels, lengths = [], []
