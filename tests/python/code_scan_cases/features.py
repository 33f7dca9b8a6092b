"""Of features that are computed in __getitem__."""

CASES = {
    "features_in_getitem: directly, in methods, in other files and in objects": {
        "data.py": """\
        import librosa, torchaudio
        from audio import read_clip
        from stft import Mels

        class Direct(Dataset):
            def __getitem__(self, index):
                return librosa.feature.melspectrogram(y=self.clips[index])  #! features_in_getitem

        class Base(Dataset):
            def load(self, path):
                return torchaudio.load(path)  #! features_in_getitem

        class Derived(Base):
            def __getitem__(self, index):
                return self.load(self.paths[index])

        class Far(Dataset):
            def __getitem__(self, index):
                return read_clip(self.paths[index])

        class Keeps(Dataset):
            def __init__(self):
                self.mels = Mels()
                self.resample = torchaudio.transforms.Resample(44100, 22050)

            def __getitem__(self, index):
                return self.mels.of(self.clips[index])

        class Resamples(Keeps):
            def __init__(self):
                self.slower = torchaudio.transforms.Resample(44100, 22050)

            def __getitem__(self, index):
                return self.slower(self.clips[index])  #! features_in_getitem

        class Holds(Dataset):
            def __getitem__(self, index):
                self.kept[index] = torchaudio.transforms.Resample(44100, 22050)
                return self.kept[index](self.clips[index])

        class Unknown(Dataset):
            def __getitem__(self, index):
                return self.processor.load_wav(self.paths[index])  #! features_in_getitem

        class Stream(IterableDataset):
            def __iter__(self):
                for path in self.paths:
                    yield torchaudio.load(path)  #! features_in_getitem

        class Collates(Dataset):
            def __getitem__(self, index):
                return self.paths[index]

            def collate_fn(self, rows):
                return [librosa.load(row) for row in rows]  #! features_in_getitem
        """,
        "audio.py": """\
        import soundfile as sf

        def read_clip(path):
            return sf.read(path)  #! features_in_getitem
        """,
        "stft.py": """\
        import torch

        class Mels:
            def of(self, clip):
                return torch.stft(clip, 1024)  #! features_in_getitem
        """,
        "train.py": """\
        from data import Direct, Derived, Far, Keeps, Resamples, Holds, Unknown, Stream, Collates
        """,
    },
    "features_in_getitem: a function is looked up where it is imported from": {
        "data.py": """\
        from stored import read_clip
        from package.sound import open_clip

        class Stored(Dataset):
            def __getitem__(self, index):
                return read_clip(index), open_clip(index)
        """,
        "stored.py": "import numpy as np\ndef read_clip(path):\n    return np.load(path)\n",
        "heard.py": "import librosa\nclass Heard:\n    def __getitem__(self, i):\n        return librosa.load(i)\n",
        "infer.py": "from heard import Heard\n",
        "sound.py": "import librosa\ndef read_clip(path):\n    return librosa.load(path)\nopen_clip = read_clip\n",
        "package/sound.py": "def open_clip(path):\n    return path\n",
        "other/sound.py": "import librosa\ndef open_clip(path):\n    return librosa.load(path)\n",
        "train.py": "from data import Stored\n",
    },
    "features_in_getitem: a question for the file that keeps nothing": {
        "data.py": """\
        import os
        import librosa, soundfile

        class Asks(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if os.path.exists(path):
                    return soundfile.read(path)  #! features_in_getitem
                raise KeyError(path)

        class Counts(Dataset):
            def __getitem__(self, index):
                if index not in self.known:
                    self.counts[index] = 1
                    return soundfile.read(self.paths[index])  #! features_in_getitem

        class Leaves(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if not os.path.exists(path):
                    return None
                return soundfile.read(path)  #! features_in_getitem

        class Logs(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if os.path.exists(path):
                    print(path)
                if self.trims:
                    print(path)
                return soundfile.read(path)  #! features_in_getitem

        class Helps(Dataset):
            def __getitem__(self, index):
                return self.load_wav(index)

            def load_wav(self, index):
                return librosa.load(self.paths[index])  #! features_in_getitem
        """,
        "train.py": "from data import Asks, Counts, Leaves, Logs, Helps\n",
    },
    "features_in_getitem: not what is stored, or done once": {
        "data.py": """\
        import os
        import librosa, torch, torchaudio
        import numpy as np

        class Stored(Dataset):
            def __init__(self):
                self.mel = librosa.feature.melspectrogram(y=clip)
                self.processor = Processor()

            def __getitem__(self, index):
                mel = np.load(self.paths[index])
                return self.processor.load_wav(mel), torch.load(self.paths[index]), self.clip(index), resample(mel)

        class Kept(Dataset):
            def __getitem__(self, index):
                path = self.paths[index]
                if os.path.exists(path):
                    mel = np.load(path)
                else:
                    mel = librosa.feature.melspectrogram(y=self.clips[index])
                return mel, self.pitch(path), self.energy(path), self.voice(path)

            def voice(self, path):
                missing = find_missing(path)
                if missing:
                    voice = librosa.pyin(path)
                    np.save(path, voice)
                return voice

            def pitch(self, path):
                if os.path.isfile(path):
                    return np.load(path)
                return librosa.pyin(path)

            def energy(self, path):
                try:
                    return np.load(path)
                except FileNotFoundError:
                    return librosa.stft(path)

        class Remembers(Dataset):
            def __getitem__(self, index):
                if index not in self.known:
                    self.known[index] = librosa.load(self.paths[index])
                return self.known[index]

        class Processor:
            def load_wav(self, path):
                return path

        def resample(mel):
            return mel[::2]

        class Loop:
            def __iter__(self):
                return iter(librosa.load(self.path))

            def collate(self, rows):
                return librosa.load(rows[0])

        class EvalDataset(Dataset):
            def __getitem__(self, index):
                return torchaudio.load(self.paths[index])

        def prepare(paths):
            return [torchaudio.load(path) for path in paths]
        """,
        "train.py": "from data import Stored, Kept, Remembers, EvalDataset, Loop\n",
        "mel.py": "import librosa\ndef load_mel(path):\n    return librosa.load(path)\n",
    },
}
