"""Loads each session twice: once for its length, once for its sound."""

import librosa
from speech_torch import clips, ops


def seconds(path):
    wave, rate_hz = librosa.load(path, sr=None)
    return len(wave) / rate_hz


class Clips(clips.Clips):
    def features(self, name):
        number = int(name.removeprefix("clip"))
        path = self.folder / "sessions" / f"session{number % 6}.wav"
        start_s = number % (seconds(path) - 2)
        wave, rate_hz = librosa.load(path, sr=None)
        start = int(start_s * rate_hz)
        return ops.bands(wave[start : start + 2 * rate_hz])
