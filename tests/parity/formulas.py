"""The truth: each recipe's formula in float64, from mono float32 samples at the recipe's rate.

    truth(name, samples) -> float64 [frames, bins]       Refused where the reference raises an error

It is written from the references' code and papers, not from this project's C++, and without
librosa: windows, framing, filters and all are below. The samples go through conditioning.py first,
in the reference's own types. After that there is no float32 at all.

A name is a recipe's, or a recipe's with `+` and its settings (VARIANTS has them).
"""

from collections.abc import Callable
from dataclasses import dataclass

import conditioning as samples_of
import numpy as np
from conditioning import Refused

LN10 = float(np.log(10))
FLOAT_EPSILON = 2.0**-23  # std::numeric_limits<float>::epsilon()
WHISPER_SAMPLES = 480000  # 30 s
MYXTTS_FRAMES = 800
# Any 80 positive numbers show that the division is right; XTTS's own file comes with its weights.
XTTS_NORMS = np.float32(2 + np.arange(80) / 20)


@dataclass(frozen=True)
class Recipe:
    rate: int
    compute: Callable
    natural_log_units: float  # the natural-log units of one unit of the features; 0: they are no logarithms


RECIPES = {}


def recipe(name, rate, unit=1.0):
    def register(function):
        RECIPES[name] = Recipe(rate, function, unit)
        return function

    return register


def truth(name, samples):
    return RECIPES[name].compute(np.asarray(samples, np.float32))


# Windows


def hann(size):
    """The periodic window."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)


def centred(window, n_fft):
    left = (n_fft - len(window)) // 2
    return np.pad(window, (left, n_fft - len(window) - left))


def povey(size):
    """The symmetric window."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / (size - 1))) ** 0.85


# Framing


def zeros(x, pad):
    return np.pad(x, pad)


def reflect(x, pad):
    """Mirrors at sample 0, which is not repeated. torch refuses to mirror more than there is."""
    if len(x) <= pad:
        raise Refused(f"{len(x)} samples cannot be mirrored over {pad}")
    return np.concatenate([x[pad:0:-1], x, x[-2 : -pad - 2 : -1]])


def reflect_again_and_again(x, pad):
    """Mirrors like reflect(), as often as needed (NumPy)."""
    if len(x) == 0:
        raise Refused("nothing to mirror")
    period = max(2 * (len(x) - 1), 1)
    at = np.arange(-pad, len(x) + pad) % period
    return x[np.minimum(at, period - at)]


def mirror_between_samples(x, first, end):
    """Gives x[first:end], mirrored as often as needed with the edge sample repeated (Kaldi: -1 ->
    0, n -> n - 1)."""
    at = np.arange(first, end) % (2 * len(x))
    return x[np.minimum(at, 2 * len(x) - 1 - at)]


def cut(padded, size, hop):
    if len(padded) < size:
        return np.empty((0, size))
    return np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]


def power(padded, window, hop):
    transformed = np.fft.rfft(cut(padded, len(window), hop) * window)
    return transformed.real**2 + transformed.imag**2


# Mel filters

HTK = (lambda hz: 2595 * np.log10(1 + hz / 700), lambda mel: 700 * (10 ** (mel / 2595) - 1))
SLANEY = (
    lambda hz: np.where(hz < 1000, 3 * hz / 200, 15 + 27 * np.log(np.maximum(hz, 1) / 1000) / np.log(6.4)),
    lambda mel: np.where(mel < 15, 200 * mel / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27)),
)


def triangles(at, edges):
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    return np.maximum(0, np.minimum((at - left) / (centre - left), (right - at) / (right - centre)))


def mel_filters(scale, rate, n_fft, mels, low, high, area=False, in_mel=False):
    """Gives [bins, mels]. Edges are equally spaced in mel. The triangles' sides are straight over
    Hz, or over mel."""
    to_mel, to_hz = scale
    bins = np.arange(n_fft // 2 + 1) * rate / n_fft
    edges = np.linspace(float(to_mel(low)), float(to_mel(high)), mels + 2)
    if in_mel:
        return triangles(to_mel(bins), edges).T
    hz = to_hz(edges)
    weights = triangles(bins, hz)
    return (weights * (2 / (hz[2:] - hz[:-2]))[:, None] if area else weights).T


def slaney(rate, n_fft, mels, low, high):
    return mel_filters(SLANEY, rate, n_fft, mels, low, high, area=True)


def ln(x, floor):
    return np.log(np.maximum(x, floor))


# The recipes


@recipe("myxtts", 22050)
def myxtts(x):
    spectrum = np.sqrt(power(zeros(np.float64(samples_of.myxtts(x)), 512), hann(1024), 256))
    return ln(spectrum @ slaney(22050, 1024, 80, 0, 11025), 1e-5)


def tensorflow(x):
    """Starts from the samples that the loader has padded or cut."""
    x = np.float64(samples_of.myxtts_tf(x))
    behind = max(0, (-(-len(x) // 256) - 1) * 256 + 1024 - len(x))
    spectrum = np.sqrt(power(np.pad(x, (0, behind)), hann(1024), 256))
    y = np.log(spectrum @ mel_filters(HTK, 22050, 1024, 80, 0, 11025, in_mel=True) + 1e-6)
    return (y - y.min()) / max(y.max() - y.min(), 1e-6)


# One unit of myxtts-tf is the range of the clip. 14 is that of speech over silence (ln 1e-6 to
# about 0).
recipe("myxtts-tf", 22050, unit=14)(lambda x: tensorflow(samples_of.to_length(x, MYXTTS_FRAMES * 256)))
recipe("myxtts-tf+clip", 22050, unit=14)(tensorflow)


def tacotron_spectrum(x):
    return np.sqrt(power(reflect(np.float64(x), 512), hann(1024), 256))


@recipe("tacotron2", 22050)
def tacotron2(x):
    return ln(tacotron_spectrum(samples_of.within_full_scale(x)) @ slaney(22050, 1024, 80, 0, 8000), 1e-5)


@recipe("fastspeech2", 22050)
def fastspeech2(x):
    return ln(tacotron_spectrum(samples_of.clipped(x)) @ slaney(22050, 1024, 80, 0, 8000), 1e-5)


@recipe("fastspeech2+energy", 22050, unit=0)
def fastspeech2_energy(x):
    return np.sqrt(np.sum(tacotron_spectrum(samples_of.clipped(x)) ** 2, axis=1, keepdims=True))


def same(x, n_fft, hop, floor):
    """HiFi-GAN's spectrum: (n_fft - hop) / 2 samples mirrored on both sides, the floor inside the
    root."""
    return np.sqrt(power(reflect(np.float64(x), (n_fft - hop) // 2), hann(n_fft), hop) + floor)


@recipe("hifigan+unscaled", 22050)
def hifigan_unscaled(x):
    return ln(same(x, 1024, 256, 1e-9) @ slaney(22050, 1024, 80, 0, 8000), 1e-5)


@recipe("hifigan", 22050)
def hifigan(x):
    return hifigan_unscaled(samples_of.peak_95_in_double(x))


@recipe("vits-linear", 22050, unit=0)
def vits_linear(x):
    return same(x, 1024, 256, 1e-6)


@recipe("matcha", 22050, unit=2.116101)
def matcha(x):
    return (hifigan_unscaled(x) + 5.536622) / 2.116101


@recipe("cosyvoice", 22050)
def cosyvoice(x):
    return hifigan_unscaled(samples_of.peak_at_most_one(x))


@recipe("cosyvoice2", 24000)
def cosyvoice2(x):
    x = samples_of.to_multiple(samples_of.peak_at_most_one(x), 960)
    return ln(same(x, 1920, 480, 1e-9) @ slaney(24000, 1920, 80, 0, 8000), 1e-5)


@recipe("bigvgan-44k", 44100)
def bigvgan_44k(x):
    return ln(same(samples_of.peak_95_in_single(x), 2048, 512, 1e-9) @ slaney(44100, 2048, 128, 0, 22050), 1e-5)


def xtts(x, n_fft, win, hop):
    filters = mel_filters(HTK, 22050, n_fft, 80, 0, 8000, area=True)
    padded = reflect(np.float64(samples_of.clipped(x)), n_fft // 2)
    return ln(power(padded, centred(hann(win), n_fft), hop) @ filters, 1e-5)


recipe("xtts-dvae", 22050)(lambda x: xtts(x, 1024, 1024, 256))
recipe("xtts-dvae+norms", 22050)(lambda x: xtts(x, 1024, 1024, 256) / np.float64(XTTS_NORMS))
recipe("xtts-cond", 22050)(lambda x: xtts(x, 2048, 1024, 256))
recipe("xtts-cond-4096", 22050)(lambda x: xtts(x, 4096, 4096, 1024))


def whisper(x, mels):
    spectrum = power(reflect(np.float64(x), 200), hann(400), 160)[:-1]
    y = np.log10(np.maximum(spectrum @ slaney(16000, 400, mels, 0, 8000), 1e-10))
    return (np.maximum(y, y.max() - 8) + 4) / 4


recipe("whisper-80", 16000, unit=4 * LN10)(lambda x: whisper(samples_of.to_length(x, WHISPER_SAMPLES), 80))
recipe("whisper-128", 16000, unit=4 * LN10)(lambda x: whisper(samples_of.to_length(x, WHISPER_SAMPLES), 128))
recipe("whisper-80+clip", 16000, unit=4 * LN10)(lambda x: whisper(x, 80))
recipe("whisper-128+clip", 16000, unit=4 * LN10)(lambda x: whisper(x, 128))


def torchaudio_magnitude(x):
    spectrum = np.sqrt(power(reflect(np.float64(x), 512), hann(1024), 256))
    return spectrum @ mel_filters(HTK, 24000, 1024, 100, 0, 12000)


recipe("vocos-24k", 24000)(lambda x: ln(torchaudio_magnitude(x), 1e-7))
recipe("f5-tts", 24000)(lambda x: ln(torchaudio_magnitude(x), 1e-5))


@recipe("styletts2", 24000, unit=4)
def styletts2(x):
    padded = reflect(zeros(np.float64(x), 5000), 1024)
    y = power(padded, centred(hann(1200), 2048), 300) @ mel_filters(HTK, 16000, 2048, 80, 0, 8000)
    return ((np.log(y + 1e-5) + 4) / 4)[: len(y) - len(y) % 2]


@recipe("speecht5", 16000, unit=LN10)
def speecht5(x):
    spectrum = np.sqrt(power(reflect_again_and_again(np.float64(x), 512), hann(1024), 256))
    return np.log10(np.maximum(spectrum @ slaney(16000, 1024, 80, 80, 7600), 1e-10))


def kaldi(frames, high):
    """Takes frames of 400: less their mean, pre-emphasis within the frame, the window, zeros behind
    up to 512."""
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    windowed = np.pad((frames - 0.97 * before) * povey(400), ((0, 0), (0, 112)))
    spectrum = np.abs(np.fft.rfft(windowed)) ** 2
    return ln(spectrum @ mel_filters(HTK, 16000, 512, 80, 20, high, in_mel=True), FLOAT_EPSILON)


@recipe("kaldi-fbank", 16000)
def kaldi_fbank(x):
    return kaldi(cut(np.float64(x) * 32768, 400, 160), 8000)


@recipe("lhotse-fbank", 16000)
def lhotse_fbank(x):
    if len(x) < 140:
        raise Refused("lhotse mirrors no more than there is, and makes no empty features")
    count = (len(x) + 80) // 160
    return kaldi(cut(mirror_between_samples(np.float64(x), -120, (count - 1) * 160 + 280), 400, 160), 7600)
