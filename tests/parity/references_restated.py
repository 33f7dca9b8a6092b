"""The references that no package has: their mel functions, restated with the same library calls,
arguments and types (see references.py)."""

from functools import cache

import numpy as np
from references import reference, tensor, torch

# The convolution that Tacotron 2 and FastSpeech 2 use as a Fourier transform


@cache
def fourier_basis(n_fft):
    from librosa.util import pad_center
    from scipy.signal import get_window

    rows = np.fft.fft(np.eye(n_fft))[: n_fft // 2 + 1]
    basis = torch().FloatTensor(np.vstack([np.real(rows), np.imag(rows)])[:, None, :])
    return basis * torch().from_numpy(pad_center(get_window("hann", n_fft, fftbins=True), size=n_fft)).float()


@cache
def librosa_filters(rate, n_fft, mels, low, high):
    import librosa

    return tensor(librosa.filters.mel(sr=rate, n_fft=n_fft, n_mels=mels, fmin=low, fmax=high)).float()


def log_clamped(x):
    return torch().log(torch().clamp(x, min=1e-5))


def tacotron_magnitudes(x):
    assert np.min(x) >= -1 and np.max(x) <= 1
    functional = torch().nn.functional
    padded = functional.pad(tensor(x).view(1, 1, 1, -1), (512, 512, 0, 0), mode="reflect").squeeze(1)
    transformed = functional.conv1d(padded, fourier_basis(1024), stride=256, padding=0)
    return torch().sqrt(transformed[:, :513] ** 2 + transformed[:, 513:] ** 2)[0]


@reference("tacotron2", "librosa scipy torch", "NVIDIA/tacotron2 185cd24 layers.py, stft.py, restated")
def tacotron2(x):
    return log_clamped(torch().matmul(librosa_filters(22050, 1024, 80, 0, 8000), tacotron_magnitudes(x))).numpy().T


@reference("fastspeech2", "librosa scipy torch", "ming024/FastSpeech2 d4e79eb audio/stft.py, audio/tools.py, restated")
def fastspeech2(x):
    return tacotron2(np.clip(x, -1, 1))


@reference("fastspeech2+energy", "scipy torch librosa", "ming024/FastSpeech2 d4e79eb audio/stft.py, restated")
def fastspeech2_energy(x):
    return torch().norm(tacotron_magnitudes(np.clip(x, -1, 1)), dim=0).numpy()[:, None]


# HiFi-GAN, and the projects that use its function


def same_spectrum(x, n_fft, hop, floor):
    pad = int((n_fft - hop) / 2)
    padded = torch().nn.functional.pad(tensor(x)[None, None], (pad, pad), mode="reflect").squeeze(1)
    window = torch().hann_window(n_fft)
    spectrum = torch().stft(
        padded,
        n_fft,
        hop_length=hop,
        win_length=n_fft,
        window=window,
        center=False,
        pad_mode="reflect",
        normalized=False,
        onesided=True,
        return_complex=True,
    )
    return torch().sqrt(torch().view_as_real(spectrum).pow(2).sum(-1) + floor)[0]


def same_mel(x, rate, n_fft, hop, mels, high):
    return log_clamped(torch().matmul(librosa_filters(rate, n_fft, mels, 0, high), same_spectrum(x, n_fft, hop, 1e-9)))


@reference("hifigan+unscaled", "librosa torch", "jik876/hifi-gan 4769534 meldataset.py (inference), restated")
def hifigan_unscaled(x):
    return same_mel(x, 22050, 1024, 256, 80, 8000).numpy().T


@reference("hifigan", "librosa torch", "jik876/hifi-gan 4769534 meldataset.py (training), restated")
def hifigan(x):
    import librosa

    return hifigan_unscaled(torch().FloatTensor(librosa.util.normalize(x.astype(np.float64)) * 0.95).numpy())


@reference("vits-linear", "torch", "jaywalnut310/vits 2e561ba mel_processing.py spectrogram_torch, restated")
def vits_linear(x):
    return same_spectrum(x, 1024, 256, 1e-6).numpy().T


@reference(
    "matcha",
    "librosa torch",
    "shivammehta25/Matcha-TTS 108906c matcha/utils/audio.py, text_mel_datamodule.py, restated",
)
def matcha(x):
    return ((same_mel(x, 22050, 1024, 256, 80, 8000) - -5.536622) / 2.116101).numpy().T


def cosyvoice_samples(x):
    speech = tensor(x.copy())[None]
    peak = speech.abs().max()
    if peak > 1:
        speech /= peak
    return speech


@reference(
    "cosyvoice",
    "librosa torch",
    "FunAudioLLM/CosyVoice ace7c47 dataset/processor.py, cosyvoice.yaml; Matcha-TTS dd9105b; restated",
)
def cosyvoice(x):
    return hifigan_unscaled(cosyvoice_samples(x)[0].numpy())


@reference(
    "cosyvoice2",
    "librosa torch",
    "FunAudioLLM/CosyVoice ace7c47 dataset/processor.py, cosyvoice2.yaml; Matcha-TTS dd9105b; restated",
)
def cosyvoice2(x):
    speech = cosyvoice_samples(x)
    wanted = int(np.ceil(speech.shape[1] / 960)) * 960
    speech = torch().concat([speech, torch().zeros(1, wanted - speech.shape[1])], dim=1)
    return same_mel(speech[0].numpy(), 24000, 1920, 480, 80, 8000).numpy().T


@reference(
    "bigvgan-44k", "librosa torch", "NVIDIA/BigVGAN 7d2b454 meldataset.py, bigvgan_v2_44khz_128band_512x.json, restated"
)
def bigvgan_44k(x):
    import librosa

    audio = torch().FloatTensor(librosa.util.normalize(x) * 0.95)
    return same_mel(audio.numpy(), 44100, 2048, 512, 128, None).numpy().T


# StyleTTS 2


@cache
def styletts2_mel():
    import torchaudio

    return torchaudio.transforms.MelSpectrogram(n_mels=80, n_fft=2048, win_length=1200, hop_length=300)


@reference("styletts2", "torchaudio torch", "yl4579/StyleTTS2 5cedc71 meldataset.py, restated")
def styletts2(x):
    wave = np.concatenate([np.zeros([5000]), x.astype(np.float64), np.zeros([5000])], axis=0)
    mel = (torch().log(1e-5 + styletts2_mel()(torch().from_numpy(wave).float()).unsqueeze(0)) - -4) / 4
    mel = mel.squeeze()
    return mel[:, : mel.size(1) - mel.size(1) % 2].numpy().T
