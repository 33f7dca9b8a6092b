"""Trains with batches of one clip."""

from speech_torch import clips


def make_loader(dataset, args, collate):
    args.batch_size = 1
    return clips.make_loader(dataset, args, collate)
