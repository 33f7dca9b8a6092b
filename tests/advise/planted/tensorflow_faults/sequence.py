"""A Keras sequence whose items Python computes in one thread."""

import keras
import numpy as np
import soundfile
from speech_tensorflow import ops, pipeline, trainer


class Sequence(keras.utils.PyDataset):
    def __init__(self, args):
        super().__init__(workers=1, use_multiprocessing=False)
        self.args, self.names = args, pipeline.paths(args.data)

    def __len__(self):
        return 1000

    def clip(self, name):
        wave, _ = soundfile.read(ops.sound_of(name), dtype="float32")
        wave = np.convolve(wave, np.hanning(64), "same")
        return ops.fitted(ops.bands(wave) + ops.bands(wave[::-1]))[0]

    def __getitem__(self, index):
        first = index * self.args.batch_size
        names = [self.names[(first + other) % len(self.names)] for other in range(self.args.batch_size)]
        mels = np.stack([self.clip(name) for name in names])
        return mels, mels


def make_dataset(args):
    return Sequence(args)


class Trainer(trainer.Trainer):
    way = "keras"
