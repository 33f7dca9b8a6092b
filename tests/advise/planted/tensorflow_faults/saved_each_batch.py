"""Saves the whole model after every second batch."""

import keras
from speech_tensorflow import trainer


class Trainer(trainer.Trainer):
    way = "keras"

    def callbacks(self):
        return [keras.callbacks.ModelCheckpoint(f"{self.args.data}/last.keras", save_freq=2)]
