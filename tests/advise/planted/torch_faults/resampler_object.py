"""Makes torchaudio's resampler for each clip."""

import soundfile
import torch
import torchaudio
from speech_torch import clips, ops


class Clips(clips.Clips):
    def features(self, name):
        wave, rate_hz = soundfile.read(self.folder / "wavs" / f"{name}.wav", dtype="float32")
        to_16k = torchaudio.transforms.Resample(rate_hz, 16000, lowpass_filter_width=64)
        return ops.bands(to_16k(torch.from_numpy(wave)).numpy())
