#!/usr/bin/env python3
"""Trains a small text-to-speech network in PyTorch: features on the fly (librosa in a DataLoader),
then from the cache. Says what that changes.

samples/train_torch.py [DATA] [--cache CACHE] [--steps N] [--batch-size N]
"""

import os

# Otherwise PyTorch's threads spin while they wait for one another, on processors that DataLoader's
# workers want.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import common
import torch
import xtts_precompute as xp
from xtts_precompute.reference_torch import SmallTts, mel_loss


class OnTheFly(torch.utils.data.Dataset):
    """Before: each clip is decoded and turned into a mel whenever it is asked for."""

    def __init__(self, data):
        self.clips = common.clips_of(data)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        path, text = self.clips[index]
        return common.padded(common.mel_on_the_fly(path), text)


def ways_of_loading(data, cache, batch_size):
    if common.librosa_or_none():
        dataset = OnTheFly(data)
        common.mel_on_the_fly(dataset.clips[0][0])  # the first call compiles
        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(
                dataset, batch_size, shuffle=True, drop_last=True, num_workers=workers, persistent_workers=workers > 0
            )
            yield f"on the fly, DataLoader, {workers} workers", loader
    # After: threads of C++ fill the same batches ahead.
    yield (
        "cache, xp.torch.Loader",
        xp.torch.Loader(cache, batch_size=batch_size, fields=("tokens", "mel", "text_len", "mel_len")),
    )


def train(loader, options):
    """Takes steps over the loader's batches. Gives where their time went, and the loss of the first
    and the last step."""
    torch.manual_seed(0)
    model = SmallTts()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    profiler = xp.StepProfiler(warmup=options.warmup, batch_size=options.batch_size)
    for batch in profiler.batches(loader, steps=options.steps):
        tokens, mel, text_len, mel_len = batch.values() if isinstance(batch, dict) else batch
        with profiler.phase("forward"):
            predicted = model(mel, tokens, text_len)
        with profiler.phase("loss"):
            loss = mel_loss(predicted, mel, mel_len)
        with profiler.phase("backward"):
            optimizer.zero_grad()
            loss.backward()
        with profiler.phase("optimizer"):
            optimizer.step()
        losses.append(loss.item())
    return profiler.report(), losses[0], losses[-1]


if __name__ == "__main__":
    common.compare(__doc__, ways_of_loading, train)
