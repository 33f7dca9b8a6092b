"""Spawns its workers for each epoch, and hands each the whole dataset as Python objects."""

from speech_torch import clips
from torch.utils.data import DataLoader


class Clips(clips.Clips):
    def __init__(self, folder):
        super().__init__(folder)
        self.alignments = {number: {"frames": [number, 1, 2], "phones": ["a", "b"]} for number in range(60_000)}


def make_loader(dataset, args, collate):
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=args.workers,
        multiprocessing_context="spawn",
        collate_fn=collate,
    )
