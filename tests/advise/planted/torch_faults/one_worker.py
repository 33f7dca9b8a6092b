"""Leaves all features to one worker."""

import numpy as np
import soundfile
from speech_torch import clips, ops


class Clips(clips.Clips):
    def features(self, name):
        wave, _ = soundfile.read(self.folder / "wavs" / f"{name}.wav", dtype="float32")
        loud = np.convolve(wave, np.hanning(1600), "same")
        return np.log1p(ops.bands(wave) + ops.bands(loud) + ops.bands(loud[::-1]))


def make_loader(dataset, args, collate):
    args.workers = 1
    return clips.make_loader(dataset, args, collate)
