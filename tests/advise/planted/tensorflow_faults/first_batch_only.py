"""Takes each batch by next(iter(dataset)), which fills the shuffled buffer again."""

import tensorflow as tf
from speech_tensorflow import pipeline, trainer


def make_dataset(args):
    clips = tf.data.Dataset.from_tensor_slices(pipeline.paths(args.data)).map(pipeline.read)
    return clips.shuffle(240, seed=1).batch(args.batch_size, drop_remainder=True)


class Trainer(trainer.Trainer):
    def batches(self, dataset):
        while True:
            yield next(iter(dataset))
