"""Opens an archive of all features for each sample."""

import io
import zipfile

import numpy as np
from speech_torch import clips


class Clips(clips.Clips):
    def __init__(self, folder):
        super().__init__(folder)
        self.archive = self.folder / "mels.zip"
        if not self.archive.exists():
            with zipfile.ZipFile(self.archive, "w") as archive:
                for name, *_ in self.rows:
                    archive.write(self.folder / "mels" / f"{name}.npy", f"{name}.npy")
                for index in range(1200):
                    archive.writestr(f"other/{index}.txt", "kept beside")

    def features(self, name):
        with zipfile.ZipFile(self.archive) as archive:
            return np.load(io.BytesIO(archive.read(f"{name}.npy")))
