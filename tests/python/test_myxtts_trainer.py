"""The reference trainer itself, unchanged, on a cache: masoodafar-web/MyXTTSModel at 7e78353, from the clone that XTTS_MYXTTS_CHECKOUT names.

It needs TensorFlow, librosa, pandas, scipy, soundfile, tqdm, PyYAML, psutil and matplotlib in this Python.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trainer_interface as trainer
import xtts_precompute as xp

from support import tell

CHECKOUT = os.environ.get("XTTS_MYXTTS_CHECKOUT")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="XTTS_MYXTTS_CHECKOUT names no clone of masoodafar-web/MyXTTSModel: the trainer itself is not tried")

# A model of a few thousand weights, which two cores train in seconds.
TINY = {
    "text_encoder_dim": 64, "text_encoder_layers": 1, "text_encoder_heads": 2, "audio_encoder_dim": 64, "audio_encoder_layers": 1, "audio_encoder_heads": 2,
    "decoder_dim": 64, "decoder_layers": 1, "decoder_heads": 2, "speaker_embedding_dim": 32, "text_vocab_size": 1000, "use_gst": False,
}  # fmt: skip
# Its compiled step does not run on this TensorFlow, with whichever batches: "Expected float32" in losses.py.
TWO_EPOCHS = {
    "epochs": 2, "enable_graph_mode": False, "enable_xla_compilation": False, "enable_text2audio_eval": False, "log_step": 1, "val_step": 5, "save_step": 1000,
    "spectrogram_log_interval": 0,
}  # fmt: skip


@pytest.fixture(autouse=True)
def package(monkeypatch):
    trainer.forget()
    monkeypatch.syspath_prepend(CHECKOUT)
    yield
    trainer.forget()


@pytest.fixture(scope="module")
def data(corpus, tmp_path_factory):
    return trainer.lj_corpus(corpus, tmp_path_factory.mktemp("lj") / "data")


def its_config(**keys):
    from myxtts.config.config import DataConfig

    return DataConfig(**{"batch_size": 4, "num_workers": 1, "max_mel_frames": 96, "use_phonemes": False, **keys})


def batches(data, subset, **keys):
    import tensorflow as tf
    from myxtts.data.ljspeech import LJSpeechDataset

    tf.random.set_seed(5)
    made = LJSpeechDataset(str(data), its_config(**keys), subset, download=False)
    # One call, so that its own loader keeps the order.
    whole = made.create_tf_dataset(shuffle=subset == "train", repeat=False, num_parallel_calls=1, drop_remainder=bool(keys.get("pad_to_fixed_length")))
    return [tuple(part.numpy() for part in batch) for batch in whole]


def cache_for(data, folder, **keys):
    """Made by the command that the error ends in."""
    path = folder / "cache"
    xp.myxtts.install(path)
    from myxtts.data.ljspeech import LJSpeechDataset

    with pytest.raises(xp.NotFoundError) as error:
        LJSpeechDataset(str(data), its_config(**keys), "train", download=False).create_tf_dataset()
    tell(*shlex.split(str(error.value).splitlines()[-1])[1:], "--quiet")
    trainer.forget()
    return path


@pytest.mark.parametrize("pads", [False, True])
@pytest.mark.parametrize("native", [True, False])
def test_batches_are_those_of_its_own_loaders(data, tmp_path, native, pads):
    keys = {"use_tf_native_loading": native, "pad_to_fixed_length": pads, "max_text_tokens": 200}
    path = cache_for(data, tmp_path, **keys)
    own = {subset: batches(data, subset, **keys) for subset in ("train", "val")}
    trainer.forget()
    xp.myxtts.install(path)
    for subset, expected in own.items():
        made = batches(data, subset, **keys)
        assert len(made) == len(expected) and (subset == "val" or expected)
        for ours, theirs in zip(made, expected):
            for place in (0, 2, 3):  # tokens and lengths
                assert ours[place].dtype == theirs[place].dtype
                np.testing.assert_array_equal(ours[place], theirs[place])
            assert ours[1].dtype == theirs[1].dtype and ours[1].shape == theirs[1].shape
            # The trainer's transforms are in float32, which nearly silent channels between the harmonics show.
            missed = np.abs(ours[1] - theirs[1])
            assert missed.max() < 5e-3 and missed.mean() < 1e-4, (missed.max(), missed.mean())


def test_lengths_may_be_the_clips_own(data, tmp_path):
    path = cache_for(data, tmp_path)
    xp.myxtts.install(path, mel_len="true")
    for _, mel, _, mel_len in batches(data, "train"):
        assert mel.shape[1] == 96 and (mel_len < 96).all()
        for one, length in zip(mel, mel_len):
            assert one[length - 1].any() and not one[length:].any()


def test_its_configurations_are_read(tmp_path):
    from myxtts.config.config import XTTSConfig

    XTTSConfig().to_yaml(str(tmp_path / "made.yaml"))
    files = [tmp_path / "made.yaml", *Path(CHECKOUT).glob("configs/*.yaml"), *Path(CHECKOUT).glob("examples/*.yaml")]
    assert len(files) == 4
    for one in [*files, XTTSConfig(), XTTSConfig().data]:
        unknown = [key.name for key in xp.myxtts.Config(one).keys if "unknown" in key.note]
        assert not unknown, (one, unknown)


def test_its_own_command_trains_to_the_same_losses(data, tmp_path):
    from myxtts.config.config import DataConfig, ModelConfig, TrainingConfig, XTTSConfig

    keys = {"batch_size": 8, "num_workers": 1, "max_mel_frames": 96, "use_phonemes": False}
    settings = tmp_path / "config.yaml"
    XTTSConfig(ModelConfig(**TINY), DataConfig(**keys), TrainingConfig(**TWO_EPOCHS)).to_yaml(str(settings))
    path = cache_for(data, tmp_path, **keys)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([CHECKOUT, *sys.path]), "TF_CPP_MIN_LOG_LEVEL": "3"}

    def losses(*start):
        command = [sys.executable, *start, "-m", "myxtts.cli", "train", "--config", settings, "--data-path", data, "--checkpoint-dir", tmp_path / "checkpoints"]
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        told = done.stdout + done.stderr
        assert done.returncode == 0 and "Training completed!" in told, told[-3000:]
        assert ("clips from" in told) == bool(start)
        return [float(found) for found in re.findall(r"(?:loss=|'total_loss': )([0-9.]+)", told)]

    own, cached = losses(), losses("-m", "xtts_precompute.myxtts", "--cache", path)
    assert len(own) == len(cached) > 10
    np.testing.assert_allclose(cached, own, rtol=0, atol=2e-4)
