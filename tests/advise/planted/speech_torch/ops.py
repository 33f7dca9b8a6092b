"""Small pieces of sound and text that datasets share."""

import numpy as np
import torch

FRAME, HOP, BANDS = 512, 441, 80


def bands(wave):
    """Returns [frames, 80] magnitudes of a wave: plain, and cheap."""
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(wave, dtype=np.float32), FRAME)[::HOP]
    return np.abs(np.fft.rfft(frames))[:, :BANDS].astype(np.float32)


def masked_l1(guess, target, lengths):
    mask = torch.arange(target.shape[1])[None, :] < lengths[:, None]
    return ((guess - target).abs() * mask[..., None]).sum() / (mask.sum() * target.shape[2])
