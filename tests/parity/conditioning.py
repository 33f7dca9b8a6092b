"""What each reference does to the samples before its transform, in the types that it does it in.

Everything after this is evaluated in float64 (formulas.py). These steps are not, because their
rounding is part of the samples: moving every sample by half an ulp moves quiet bins of loud frames
by up to 3e-4 natural-log units on real speech. So "the truth" starts from the float32 samples that
the reference gives to its transform, and each function here says where they are rounded. Input and
output are float32 arrays. The input is the result of decoding and resampling.
"""

import numpy as np


class Refused(ValueError):
    """The reference raises an error for this clip."""


def untouched(x):
    return x


def within_full_scale(x):
    """NVIDIA/tacotron2 asserts that no sample is outside of [-1, 1]."""
    if np.any(np.abs(x) > 1):
        raise Refused("a sample is outside of [-1, 1]")
    return x


def clipped(x):
    """Clips, as XTTS does after its resampling, and FastSpeech 2."""
    return np.clip(x, np.float32(-1), np.float32(1))


def peak_at_most_one(x):
    """CosyVoice: float32, and only where the peak passes 1."""
    peak = np.max(np.abs(x), initial=np.float32(0))
    return x / peak if peak > 1 else x


def peak_95_in_double(x):
    """HiFi-GAN: int16 / 32768 is float64 there, rounded once, at the end. A silent clip stays
    silent."""
    if len(x) == 0:
        raise Refused("librosa.util.normalize takes no empty array")
    double = x.astype(np.float64)
    peak = np.max(np.abs(double))
    return (double / (peak if peak >= np.finfo(np.float64).tiny else 1.0) * 0.95).astype(np.float32)


def peak_95_in_single(x):
    """BigVGAN: librosa.load gives float32, rounded after the division and after the product."""
    if len(x) == 0:
        raise Refused("librosa.util.normalize takes no empty array")
    peak = np.max(np.abs(x))
    return x / (peak if peak >= np.finfo(np.float32).tiny else np.float32(1)) * np.float32(0.95)


def trim_range(x, top_db=20.0, frame=1024, hop=256):
    """librosa.effects.trim in float64: RMS of centred frames (zeros outside) against the loudest.
    Amplitudes under 1e-5 count as 1e-5."""
    padded = np.pad(x.astype(np.float64), frame // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, frame)[::hop]
    power = np.mean(frames**2, axis=1)
    level = 10 * np.log10(np.maximum(power, 1e-10) / max(power.max(), 1e-10))
    loud = np.flatnonzero(level > -top_db)
    return (0, 0) if len(loud) == 0 else (int(loud[0]) * hop, min(len(x), (int(loud[-1]) + 1) * hop))


def myxtts(x):
    """Trims; applies one gain of min(0.1 / RMS, 1 / peak); divides by the peak. Each step rounds to
    float32."""
    if len(x) == 0:
        raise Refused("np.max takes no empty array")
    start, end = trim_range(x)
    x = x[start:end]
    rms = np.sqrt(np.mean(x**2))
    if rms > 0:
        x = x * min(np.float32(0.1) / rms, np.float32(1) / np.max(np.abs(x)))
    peak = np.max(np.abs(x))
    return x / peak if peak > 0 else x


def myxtts_tf(x):
    """Scales to RMS 0.1 and clips, in float32. The RMS is rounded once here; its exact last bit is
    TensorFlow's."""
    if len(x) == 0:
        raise Refused("a spectrogram without frames has no minimum")
    rms = np.float32(np.sqrt(np.mean(x.astype(np.float64) ** 2)))
    return clipped(x * (np.float32(0.1) / (rms + np.float32(1e-8))))


def to_length(x, length):
    """Puts zeros behind, or cuts."""
    return np.concatenate([x[:length], np.zeros(max(0, length - len(x)), np.float32)])


def to_multiple(x, step):
    """Puts zeros behind, up to a multiple of `step`."""
    return np.concatenate([x, np.zeros(-len(x) % step, np.float32)])
