"""The reference implementations, run: each recipe's own code, or its mel function restated.

    run(name, samples) -> float32 [frames, bins]         raises whatever error the reference raises
    available() -> names;  missing() -> name, why;  versions(name) -> "librosa 0.11.0, ..."

Packages of PyPI run as they are (origin "package"): openai-whisper, vocos, coqui-tts, f5-tts,
transformers, kaldi-native-fbank, lhotse. The other repositories are no packages. For them the same
library calls are made, with the same arguments and types (origin "restated", with the repository,
file and commit that they follow). Input: mono float32 samples at the recipe's rate.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import formulas
import numpy as np

warnings.simplefilter("ignore")


@dataclass(frozen=True)
class Reference:
    compute: Callable
    packages: tuple  # of PyPI, that the reference calls; all of them must be installed
    origin: str


REFERENCES = {}


def reference(name, packages, origin):
    def register(function):
        REFERENCES[name] = Reference(function, tuple(packages.split()), origin)
        return function

    return register


def run(name, samples):
    return np.asarray(REFERENCES[name].compute(np.asarray(samples, np.float32)), np.float32)


@cache
def why_missing(name):
    for package in REFERENCES[name].packages:
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed"
    return None


def available():
    return [name for name in REFERENCES if why_missing(name) is None]


def missing():
    return [(name, why_missing(name)) for name in REFERENCES if why_missing(name)]


def versions(name):
    return ", ".join(
        f"{package} {importlib.metadata.version(package).split('+')[0]}" for package in REFERENCES[name].packages
    )


@cache
def torch():
    module = importlib.import_module("torch")
    module.set_num_threads(1)
    return module


def tensor(x):
    return torch().from_numpy(np.ascontiguousarray(x))


# MyXTTS

MYXTTS = "masoodafar-web/MyXTTSModel 7e78353"


@cache
def myxtts_filters():
    import librosa

    return librosa.filters.mel(sr=22050, n_fft=1024, n_mels=80, fmin=0.0, fmax=11025)


@reference("myxtts", "librosa", f"{MYXTTS} myxtts/utils/audio.py, restated")
def myxtts(x):
    import librosa

    x, _ = librosa.effects.trim(x, top_db=20, frame_length=1024, hop_length=256)
    rms = np.sqrt(np.mean(x**2))
    if rms > 0:
        x = x * min(0.1 / rms, 1.0 / np.max(np.abs(x)))
    peak = np.max(np.abs(x))
    x = x / peak if peak > 0 else x
    spectrum = librosa.stft(
        x, n_fft=1024, hop_length=256, win_length=1024, window="hann", center=True, pad_mode="constant"
    )
    return np.log(np.maximum(np.dot(myxtts_filters(), np.abs(spectrum)), 1e-5)).T


@cache
def tensorflow_graph():
    import tensorflow as tf

    filters = tf.transpose(tf.signal.linear_to_mel_weight_matrix(80, 513, 22050, 0.0, 11025))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def features(x):
        x = tf.clip_by_value(x * (0.1 / (tf.sqrt(tf.reduce_mean(tf.square(x))) + 1e-8)), -1.0, 1.0)
        spectrum = tf.abs(tf.signal.stft(x, 1024, 256, fft_length=1024, window_fn=tf.signal.hann_window, pad_end=True))
        y = tf.math.log(tf.matmul(spectrum, filters, transpose_b=True) + 1e-6)
        low, high = tf.reduce_min(y), tf.reduce_max(y)
        return (y - low) / tf.maximum(high - low, 1e-6)

    return features


def tensorflow_mel(x):
    return tensorflow_graph()(x).numpy()


@reference("myxtts-tf", "tensorflow-cpu", f"{MYXTTS} myxtts/data/tf_native_loader.py, restated")
def myxtts_tf(x):
    wanted = formulas.MYXTTS_FRAMES * 256
    return tensorflow_mel(np.pad(x[:wanted], (0, max(0, wanted - len(x)))))


@reference("myxtts-tf+clip", "tensorflow-cpu", f"{MYXTTS} myxtts/data/tf_native_loader.py without max_length, restated")
def myxtts_tf_clip(x):
    if len(x) == 0:
        # TensorFlow answers with an empty array.
        raise ValueError("a spectrogram without frames has no minimum")
    return tensorflow_mel(x)


# From packages


@reference("whisper-80+clip", "openai-whisper torch", "whisper.log_mel_spectrogram(audio)")
def whisper_80_clip(x):
    import whisper

    torch()
    return whisper.log_mel_spectrogram(x, n_mels=80).numpy().T


@reference("whisper-128+clip", "openai-whisper torch", "whisper.log_mel_spectrogram(audio, n_mels=128)")
def whisper_128_clip(x):
    import whisper

    torch()
    return whisper.log_mel_spectrogram(x, n_mels=128).numpy().T


@reference("whisper-80", "openai-whisper torch", "whisper.log_mel_spectrogram(whisper.pad_or_trim(audio))")
def whisper_80(x):
    import whisper

    return whisper_80_clip(whisper.pad_or_trim(x))


@reference("whisper-128", "openai-whisper torch", "whisper.log_mel_spectrogram(whisper.pad_or_trim(audio), n_mels=128)")
def whisper_128(x):
    import whisper

    return whisper_128_clip(whisper.pad_or_trim(x))


@cache
def vocos_features():
    from vocos.feature_extractors import MelSpectrogramFeatures

    return MelSpectrogramFeatures()


@reference("vocos-24k", "vocos torchaudio torch", "vocos.feature_extractors.MelSpectrogramFeatures")
def vocos_24k(x):
    return vocos_features()(tensor(x)[None])[0].numpy().T


@cache
def f5_features():
    # The package's own __init__ imports its trainer and much else; the mel module needs none of it.
    folder = next(iter(importlib.util.find_spec("f5_tts").submodule_search_locations))
    package = types.ModuleType("f5_tts.model")
    package.__path__ = [f"{folder}/model"]
    sys.modules.setdefault("f5_tts.model", package)
    return importlib.import_module("f5_tts.model.modules").MelSpec()


@reference("f5-tts", "f5-tts torchaudio torch", "f5_tts.model.modules.MelSpec")
def f5_tts(x):
    return f5_features()(tensor(x)[None])[0].numpy().T


@cache
def xtts_features(n_fft, win, hop):
    from TTS.tts.layers.tortoise.arch_utils import TorchMelSpectrogram

    return TorchMelSpectrogram(filter_length=n_fft, win_length=win, hop_length=hop, mel_norm_file=None)


def xtts(x, n_fft, win, hop, norms=None):
    features = xtts_features(n_fft, win, hop)
    features.mel_norms = None if norms is None else tensor(norms)
    return features(tensor(np.clip(x, -1, 1))[None])[0].numpy().T


for suffix, norms in (("", None), ("+norms", formulas.XTTS_NORMS)):
    reference(
        f"xtts-dvae{suffix}", "coqui-tts torchaudio torch", "TTS.tts.layers.tortoise.arch_utils.TorchMelSpectrogram"
    )(lambda x, norms=norms: xtts(x, 1024, 1024, 256, norms))
for name, sizes in (("xtts-cond", (2048, 1024, 256)), ("xtts-cond-4096", (4096, 4096, 1024))):
    reference(name, "coqui-tts torchaudio torch", "TTS.tts.layers.tortoise.arch_utils.TorchMelSpectrogram")(
        lambda x, sizes=sizes: xtts(x, *sizes)
    )


@cache
def speecht5_features():
    from transformers import SpeechT5FeatureExtractor

    return SpeechT5FeatureExtractor()


@reference("speecht5", "transformers", "transformers.SpeechT5FeatureExtractor(audio_target=...)")
def speecht5(x):
    return speecht5_features()(audio_target=x, sampling_rate=16000, return_tensors="np")["input_values"][0]


@reference("kaldi-fbank", "kaldi-native-fbank", "kaldi_native_fbank.OnlineFbank, dither 0, 80 bins")
def kaldi_fbank(x):
    import kaldi_native_fbank

    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.dither = 0
    options.mel_opts.num_bins = 80
    computer = kaldi_native_fbank.OnlineFbank(options)
    computer.accept_waveform(16000, (x * np.float32(32768)).tolist())
    computer.input_finished()
    frames = [computer.get_frame(i) for i in range(computer.num_frames_ready)]
    return np.stack(frames) if frames else np.empty((0, 80), np.float32)


@cache
def lhotse_features():
    from lhotse import Fbank

    return Fbank()


@reference("lhotse-fbank", "lhotse torch", "lhotse.Fbank().extract")
def lhotse_fbank(x):
    return lhotse_features().extract(x, 16000)


importlib.import_module("references_restated")
