"""Pads batches as lists of Python numbers."""

import torch


def padded(rows, length, filler):
    return rows + [filler] * (length - len(rows))


def clipped(mel):
    return [[max(-4.0, min(4.0, value)) for value in frame] for frame in mel]


def collate(batch):
    mels = [clipped(mel.tolist()) for mel, _ in batch]
    tokens = [tokens.tolist() for _, tokens in batch]
    lengths = [len(mel) for mel in mels]
    mels = [padded(mel, max(lengths), [0.0] * 80) for mel in mels]
    tokens = [padded(one, max(map(len, tokens)), 0) for one in tokens]
    return torch.tensor(mels), torch.tensor(lengths), torch.tensor(tokens)
