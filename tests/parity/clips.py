"""The clips that the recipes are compared on: real ones, and made ones at the edges.

    real(corpus, rate) -> name, samples, upsampled    of different speakers, rates, codecs, levels
    edges() -> name, samples                          the same samples at any rate

Real clips come from a test corpus. Samples are mono float32: decoded by libsndfile, the mean of the
channels, soxr HQ to the wanted rate, and no clipping after it.
"""

from pathlib import Path

import numpy as np

SECONDS_MAX = 6.0  # of a clip; Whisper takes 30 s in any case
CLIPS = (  # path, gain
    ("real_ljspeech/wavs/LJ001-0002.wav", 1),
    ("real_ljspeech/wavs/LJ001-0004.wav", 1),
    ("real_ljspeech/wavs/LJ001-0007.wav", 0.01),
    ("real_ljspeech/wavs/LJ001-0008.wav", 1),
    ("real_ljspeech/wavs/LJ001-0011.wav", 1),
    ("real_ljspeech/wavs/LJ001-0013.wav", 1),
    ("real_ljspeech/wavs/LJ001-0016.wav", 0.1),
    ("real_ljspeech/wavs/LJ001-0024.wav", 1),
    ("real_ljspeech/wavs/LJ002-0035.wav", 1),
    ("real_mixed/AISHELL-3/train/wav/SSB0629/SSB06290079.wav", 1),
    ("real_mixed/LibriSpeech/test-clean/1089/134691/1089-134691-0000.flac", 1),
    ("real_mixed/LibriSpeech/test-clean/1995/1837/1995-1837-0001.flac", 1),
    ("real_mixed/LibriTTS/train-clean/6544/231862/6544_231862_000065_000001.wav", 1),
    ("real_mixed/cv-corpus/en/clips/common_voice_en_651325.mp3", 1),
    ("real_mixed/kaldi_cards/wav/001.wav", 1),
    ("real_mixed/kaldi_cards/wav/002.wav", 1),
    ("real_mixed/kaldi_cards/wav/003.wav", 1),
    ("real_mixed/kaldi_cards/wav/005.wav", 1),
    ("real_mixed/loose/chinese.flac", 1),
    ("real_mixed/loose/jfk.mp3", 1),
    ("real_mixed/loose/lhotse_mono_c0.wav", 1),
    ("real_mixed/loose/lhotse_stereo.opus", 1),
    ("real_mixed/speaker_dirs/wav/spk2/snt1/00001.wav", 1),
    ("real_mixed/speaker_dirs/wav/spk2/snt2/00001.wav", 1),
)


def load(path, rate):
    import soundfile
    import soxr

    samples, own_rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = samples.mean(axis=1, dtype=np.float32)
    if own_rate != rate:
        mono = soxr.resample(mono, own_rate, rate, "HQ")
    return mono[: int(SECONDS_MAX * rate)], own_rate < rate


def real(corpus, rate):
    """Yields real clips. A clip that was recorded at a lower rate has bands with nothing but
    rounding in them, and every float32 transform gets that differently."""
    for path, gain in CLIPS:
        samples, upsampled = load(Path(corpus) / path, rate)
        yield path, samples * np.float32(gain), upsampled


def edges():
    """Yields made clips: steps of int16 except for the last, so that goldens can keep them so."""

    def quantized(x):
        return np.float32(np.clip(np.round(x * 32768), -32768, 32767) / 32768)

    random = np.random.default_rng(20240101)
    noise = random.standard_normal(6000)
    impulse = np.zeros(6000)
    impulse[2500] = 1
    yield "silence", np.zeros(6000, np.float32)
    yield "impulse", quantized(impulse)
    yield "sine", quantized(np.sin(2 * np.pi * 0.0431 * np.arange(6000)))
    yield "clipped-noise", quantized(2 * noise)
    yield "offset", quantized(0.25 + 0.001 * noise)
    quiet = np.zeros(6000)
    quiet[2000:4000] = 0.5 * np.sin(2 * np.pi * 0.0137 * np.arange(2000))
    yield "tone-between-silence", quantized(quiet)
    yield "one-step", quantized(np.sign(noise) / 32768)
    # The peak is so far above the RMS that a gain to RMS 0.1 has to stop. The upper bands are so
    # quiet that rounding shows.
    at = np.arange(6000)
    pulse = 0.03 * np.sin(2 * np.pi * 0.0043 * at) + 0.7 * np.exp(-(((at - 3001) / 40) ** 2))
    yield "pulse", quantized(pulse)
    for length in LENGTHS:
        yield f"noise-{length}", quantized(0.1 * noise[:length])
    yield "over-full-scale", 2 * quantized(0.4 * noise)


# Lengths around the least that the references take, and around their windows and hops.
LENGTHS = (
    1,
    139,
    140,
    200,
    201,
    384,
    385,
    400,
    512,
    513,
    768,
    769,
    960,
    961,
    1024,
    1025,
    2048,
    2049,
    2303,
    2304,
    2305,
    4096,
)
