"""Saves every 5 steps, and waits for the disk."""

import os

import torch
from speech_torch import trainer


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        self.history = torch.zeros(24_000_000)  # statistics of speakers, saved with the model

    def save(self, path):
        with open(path, "wb") as file:
            torch.save({"model": self.model.state_dict(), "history": self.history}, file)
            file.flush()
            os.fsync(file.fileno())

    def after_step(self, step, loss):
        super().after_step(step, loss)
        if step % 5 == 0:
            self.save(f"{self.args.data}/last.pt")
