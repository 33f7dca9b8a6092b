"""Reads features through a file system of its own process, which keeps no pages."""

import numpy as np
from speech_torch import clips


class Clips(clips.Clips):
    def features(self, name):
        mel = np.load(self.folder / "mels" / f"{name}.npy", mmap_mode=None)
        return mel - mel.mean()
