"""Looks at the size of every file, to choose a clip that is like the one before."""

import os

from speech_torch import clips


class Clips(clips.Clips):
    def sizes(self):
        folders = [self.folder / "mels", self.folder / "wavs"]
        return {path: os.path.getsize(path) for folder in folders for path in folder.iterdir()}

    def features(self, name):
        sizes = self.sizes()
        assert sizes[self.folder / "mels" / f"{name}.npy"] > 128, "an empty file"
        return super().features(name)
