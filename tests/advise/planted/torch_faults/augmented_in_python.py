"""Warps and masks a spectrogram in loops of Python."""

import random

from speech_torch import clips


def masked(mel, bands, frames):
    first_band, first_frame = random.randrange(80 - bands), random.randrange(len(mel) - frames)
    for frame in range(len(mel)):
        for band in range(80):
            if first_band <= band < first_band + bands or first_frame <= frame < first_frame + frames:
                mel[frame, band] = 0.0
            else:
                mel[frame, band] *= 1.01
    return mel


class Clips(clips.Clips):
    def features(self, name):
        return masked(super().features(name), bands=8, frames=20)
