"""What the tests of xp.torch share. It needs PyTorch."""

import numpy as np
import torch


def same_bytes(tensor, array):
    assert tuple(tensor.shape) == array.shape
    mine, theirs = tensor.contiguous().view(torch.uint8), np.ascontiguousarray(array).view(np.uint8)
    return bool((mine.reshape(-1).numpy() == theirs.reshape(-1)).all())


def ids_of(batches):
    return [clip for batch in batches for clip in batch.ids]
