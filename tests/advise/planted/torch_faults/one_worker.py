"""Leaves all features to one worker."""

import librosa
import soundfile
from speech_torch import clips


class Clips(clips.Clips):
    def features(self, name):
        wave, rate_hz = soundfile.read(self.folder / "wavs" / f"{name}.wav", dtype="float32")
        mel = librosa.feature.melspectrogram(y=wave, sr=rate_hz, n_fft=2048, hop_length=256, n_mels=80)
        return librosa.power_to_db(mel).T[:160].copy()


def make_loader(dataset, args, collate):
    args.workers = 1
    return clips.make_loader(dataset, args, collate)
