"""Frees memory in each step."""

import gc

import torch
from speech_torch import trainer


class Trainer(trainer.Trainer):
    def after_step(self, step, loss):
        super().after_step(step, loss)
        gc.collect()
        torch.cuda.empty_cache()
