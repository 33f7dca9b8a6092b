"""Validates every 10 steps."""

import torch
from speech_torch import clips, trainer


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        dataset = clips.Clips(args.data)
        self.held_out = [clips.collate([dataset[at + index] for index in range(16)]) for at in range(0, 224, 16)]

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = sum(self.loss(*batch).item() for batch in self.held_out)
        self.model.train()
        return total / len(self.held_out)

    def after_step(self, step, loss):
        super().after_step(step, loss)
        if step % 10 == 0:
            print(f"validation {self.validate():.4f}", flush=True)
