"""Leaves autograd's search for anomalies on."""

import torch
from speech_torch import trainer


class Trainer(trainer.Trainer):
    def __init__(self, args, queue=None):
        super().__init__(args, queue)
        torch.autograd.set_detect_anomaly(True)

    def loss(self, mels, lengths, tokens):
        smooth = mels
        for _ in range(60):  # a soft filter over time, of many small operations
            smooth = smooth * 0.5 + torch.roll(self.model.first.bias[:80].tanh() * smooth, 1, 1) * 0.1
        return super().loss(smooth, lengths, tokens)
