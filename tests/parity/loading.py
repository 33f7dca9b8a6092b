"""How each reference loads a file: its own function, run, from the whole file to mono samples.

    load(name, path) -> float32 samples at the recipe's rate, as the reference's mel function gets them
    LOADERS[name].origin -> the function, and whether it is for training, validation or inference

`load` raises whatever error the reference raises; that is a refusal. Packages of PyPI run as they
are. The functions of other repositories are taken out of their files at the stated commit and run:
REPOSITORIES/OWNER/NAME is a clone of each (`git clone https://github.com/OWNER/NAME`).
"""

import ast
import io
import logging
import math
import os
import random
import subprocess
import textwrap
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

REPOSITORIES = "."  # set by the caller


@dataclass(frozen=True)
class Loader:
    load: Callable
    origin: str


LOADERS = {}


def loader(names, origin):
    def register(function):
        LOADERS.update({name: Loader(function, origin) for name in names.split()})
        return function

    return register


def load(name, path):
    samples = np.asarray(LOADERS[name].load(str(path)), np.float32)
    if samples.ndim != 1:
        raise ValueError(f"its mel function takes no samples of shape {samples.shape}")
    return samples


@cache
def source_of(repository, file):
    name, commit = repository.split("@")
    folder = os.path.join(REPOSITORIES, name)
    return subprocess.run(
        ["git", "-C", folder, "show", f"{commit}:{file}"], check=True, capture_output=True, text=True
    ).stdout


def own(repository, file, name, **names):
    """Runs the definition of NAME or CLASS.NAME in a file of the reference, which may use `names`."""
    text = source_of(repository, file)
    body = ast.parse(text).body
    *classes, function = name.split(".")
    for one in classes:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == one).body
    node = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == function)
    exec(textwrap.dedent(ast.get_source_segment(text, node, padded=True)), names)
    return names[function]


class Samples(Exception):
    """Carries what a reference gave to its mel function."""


def give(samples, *_, **__):
    raise Samples(samples)


def samples_of(function, *arguments):
    try:
        function(*arguments)
    except Samples as given:
        return np.squeeze(given.args[0].numpy(), 0)
    raise AssertionError("the mel function was not called")


def torch_and_more():
    import librosa
    import soundfile
    import torch
    import torchaudio

    torch.set_num_threads(1)
    return torch, torchaudio, librosa, soundfile


MYXTTS = "masoodafar-web/MyXTTSModel@7e78353"


@loader("myxtts", "AudioProcessor.load_audio (training and inference)")
def myxtts(path):
    _, _, librosa, soundfile = torch_and_more()
    names = {"Optional": typing.Optional, "np": np, "sf": soundfile, "librosa": librosa}
    function = own(MYXTTS, "myxtts/utils/audio.py", "AudioProcessor.load_audio", **names)
    return function(types.SimpleNamespace(sample_rate=22050), path)


@loader("myxtts-tf", "tf.audio.decode_wav as TFNativeDataLoader calls it (training)")
def myxtts_tf(path):
    import soundfile
    import tensorflow

    if soundfile.info(path).samplerate != 22050:
        raise NotResampled
    return tensorflow.audio.decode_wav(tensorflow.io.read_file(path), desired_channels=1).audio[:, 0].numpy()


class NotResampled(Exception):
    """The reference takes the samples as if they had its rate."""


def read_wav(path):
    from scipy.io.wavfile import read

    return read(path)


@loader("tacotron2", "TextMelLoader.get_mel (training)")
def tacotron2(path):
    torch, _, _, _ = torch_and_more()
    repository = "NVIDIA/tacotron2@185cd24"
    wav = own(repository, "utils.py", "load_wav_to_torch", read=read_wav, np=np, torch=torch)
    get_mel = own(repository, "data_utils.py", "TextMelLoader.get_mel", load_wav_to_torch=wav, torch=torch)
    stft = types.SimpleNamespace(sampling_rate=22050, mel_spectrogram=give)
    return samples_of(get_mel, types.SimpleNamespace(load_mel_from_disk=False, max_wav_value=32768.0, stft=stft), path)


@loader("vits-linear", "TextAudioLoader.get_audio (training)")
def vits(path):
    torch, _, _, _ = torch_and_more()
    repository = "jaywalnut310/vits@2e561ba"
    wav = own(repository, "utils.py", "load_wav_to_torch", read=read_wav, np=np, torch=torch)
    names = {"load_wav_to_torch": wav, "os": os, "torch": torch, "spectrogram_torch": give}
    settings = {"sampling_rate": 22050, "max_wav_value": 32768.0, "filter_length": 1024, "hop_length": 256}
    get_audio = own(repository, "data_utils.py", "TextAudioLoader.get_audio", **names)
    return samples_of(get_audio, types.SimpleNamespace(win_length=1024, **settings), path)


@loader("hifigan", "MelDataset (validation)")
def hifigan(path):
    torch, _, librosa, _ = torch_and_more()
    repository = "jik876/hifi-gan@4769534"
    wav = own(repository, "meldataset.py", "load_wav", read=read_wav)
    names = {"load_wav": wav, "MAX_WAV_VALUE": 32768.0, "normalize": librosa.util.normalize, "torch": torch}
    item = own(repository, "meldataset.py", "MelDataset.__getitem__", mel_spectrogram=give, **names)
    settings = {"fine_tuning": False, "split": False, "_cache_ref_count": 0, "n_cache_reuse": 0}
    mel = dict.fromkeys(("n_fft", "num_mels", "hop_size", "win_size", "fmin", "fmax"))
    return samples_of(item, types.SimpleNamespace(audio_files=[path], sampling_rate=22050, **settings, **mel), 0)


@loader("matcha", "TextMelDataset.get_mel (training)")
def matcha(path):
    _, torchaudio, _, _ = torch_and_more()
    file = "matcha/data/text_mel_datamodule.py"
    get_mel = own(
        "shivammehta25/Matcha-TTS@108906c", file, "TextMelDataset.get_mel", ta=torchaudio, mel_spectrogram=give
    )
    mel = dict.fromkeys(("n_fft", "n_mels", "hop_length", "win_length", "f_min", "f_max"))
    return samples_of(get_mel, types.SimpleNamespace(sample_rate=22050, **mel), path)


@loader("cosyvoice cosyvoice2", "dataset/processor.py: filter, resample (training)")
def cosyvoice(path, rate=22050):
    torch, torchaudio, _, _ = torch_and_more()
    names = {"torchaudio": torchaudio, "torch": torch, "BytesIO": io.BytesIO, "logging": logging}
    repository, file = "FunAudioLLM/CosyVoice@ace7c47", "cosyvoice/dataset/processor.py"
    read = own(repository, file, "filter", online_feature=True, **names)
    resample = own(repository, file, "resample", **names)
    with open(path, "rb") as sound:
        sample = {"audio_data": sound.read(), "text_token": [1, 2, 3]}
    return next(resample(read([sample]), resample_rate=rate))["speech"][0].numpy()


LOADERS["cosyvoice2"] = Loader(lambda path: cosyvoice(path, 24000), LOADERS["cosyvoice2"].origin)


@loader("bigvgan-44k", "MelDataset (validation), which cuts the end to a whole hop")
def bigvgan(path):
    torch, _, librosa, _ = torch_and_more()
    names = {"librosa": librosa, "np": np, "math": math, "random": random, "torch": torch, "mel_spectrogram": give}
    names["Tuple"] = tuple
    names["Exception"] = OSError  # it would take another file instead, with a warning
    item = own("NVIDIA/BigVGAN@7d2b454", "meldataset.py", "MelDataset.__getitem__", **names)
    settings = {"fine_tuning": False, "split": False, "hop_size": 512, "sampling_rate": 44100}
    mel = dict.fromkeys(("n_fft", "num_mels", "win_size", "fmin", "fmax"))
    return samples_of(item, types.SimpleNamespace(audio_files=[path], **settings, **mel), 0)


@loader("styletts2", "FilePathDataset._load_tensor (training)")
def styletts2(path):
    torch, _, librosa, soundfile = torch_and_more()
    names = {"sf": soundfile, "librosa": librosa, "np": np, "osp": os.path, "torch": torch, "print": lambda *_: None}
    function = own("yl4579/StyleTTS2@5cedc71", "meldataset.py", "FilePathDataset._load_tensor", **names)
    dataset = types.SimpleNamespace(root_path="", text_cleaner=lambda text: [])
    wave, _, _ = function(dataset, (path, "", 0))
    return wave[5000:-5000]  # its mel function puts them on again


@loader("fastspeech2", "librosa.load as Preprocessor.process_utterance calls it (preparation)")
def fastspeech2(path):
    import librosa

    return librosa.load(path)[0]


@loader("xtts-dvae xtts-cond xtts-cond-4096", "load_audio of tts/models/xtts.py (training)")
def xtts(path):
    torch, torchaudio, _, _ = torch_and_more()
    file = "TTS/tts/models/xtts.py"
    load_audio = own("coqui-ai/TTS@dbf1a08", file, "load_audio", torch=torch, torchaudio=torchaudio)
    return load_audio(path, 22050)[0].numpy()


@loader("whisper-80 whisper-128", "whisper.load_audio (training and inference)")
def whisper(path):
    import whisper

    return whisper.load_audio(path)


@loader("vocos-24k", "VocosDataset (validation), which sets the peak to -3 dB")
def vocos(path):
    torch, torchaudio, _, soundfile = torch_and_more()
    known = soundfile.info(path)
    shared = math.gcd(24000, known.samplerate)
    length = torch.ceil(torch.as_tensor(24000 // shared * known.frames / (known.samplerate // shared)))
    names = {"np": np, "torch": torch, "torchaudio": torchaudio}
    item = own("gemelo-ai/vocos@c859e3b", "vocos/dataset.py", "VocosDataset.__getitem__", **names)
    whole = {"train": False, "num_samples": int(length)}  # else it takes a part
    return item(types.SimpleNamespace(filelist=[path], sampling_rate=24000, **whole), 0).numpy()


@loader("f5-tts", "CustomDataset of model/dataset.py (training)")
def f5(path):
    torch, torchaudio, _, _ = torch_and_more()
    file = "src/f5_tts/model/dataset.py"
    item = own("SWivid/F5-TTS@2ae2c9b", file, "CustomDataset.__getitem__", torch=torch, torchaudio=torchaudio)
    settings = {"target_sample_rate": 24000, "preprocessed_mel": False, "mel_spectrogram": give, "_resamplers": {}}
    data = [{"audio_path": path, "text": "", "duration": 1.0}]
    return samples_of(item, types.SimpleNamespace(data=data, **settings), 0)


@loader("lhotse-fbank", "Recording.resample, load_audio (training)")
def lhotse(path):
    from lhotse import Recording

    return Recording.from_file(path).resample(16000).load_audio()[0]  # its Fbank takes the first channel


@loader("speecht5", "SpeechT5FeatureExtractor, which gets samples (training)")
def speecht5(path):
    import soundfile
    from transformers import SpeechT5FeatureExtractor

    samples, rate = soundfile.read(path, dtype="float32")
    SpeechT5FeatureExtractor()(audio_target=samples, sampling_rate=rate)
    return samples


@loader("kaldi-fbank", "OnlineFbank.accept_waveform, which gets samples")
def kaldi(path):
    import kaldi_native_fbank
    import soundfile

    samples, rate = soundfile.read(path, dtype="float32")
    if samples.ndim > 1:
        raise ValueError("one channel alone")
    kaldi_native_fbank.OnlineFbank(kaldi_native_fbank.FbankOptions()).accept_waveform(rate, samples.tolist())
    return samples
