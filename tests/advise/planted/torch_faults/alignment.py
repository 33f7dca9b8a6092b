"""Aligns texts with frames in NumPy, within the step, as a flow-based model does."""

import numpy as np
import torch
from speech_torch import trainer


def monotonic_path(score):
    """Returns the best monotonic path through [tokens, frames]."""
    tokens, frames = score.shape
    best = np.full((tokens, frames), -1e9, dtype=np.float32)
    best[0, 0] = score[0, 0]
    for frame in range(1, frames):
        for token in range(max(0, tokens + frame - frames), min(tokens, frame + 1)):
            stay = best[token, frame - 1]
            move = best[token - 1, frame - 1] if token else -1e9
            best[token, frame] = score[token, frame] + max(stay, move)
    path, token = np.zeros_like(score), tokens - 1
    for frame in range(frames - 1, -1, -1):
        path[token, frame] = 1
        if token and best[token - 1, frame - 1] > best[token, frame - 1]:
            token -= 1
    return path


class Trainer(trainer.Trainer):
    def align(self, mels, tokens):
        text = self.model.text(tokens)
        scores = torch.einsum("btw,bfw->btf", text, self.model.first(mels)).detach().numpy()
        return torch.from_numpy(np.stack([monotonic_path(score) for score in scores]))

    def loss(self, mels, lengths, tokens):
        durations = self.align(mels, tokens).sum(2)
        return super().loss(mels, lengths, tokens) + 0.01 * durations.log1p().mean()
