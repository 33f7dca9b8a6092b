"""The reference trainer itself, unchanged, on a cache: masoodafar-web/MyXTTSModel at 7e78353.

XTTS_MYXTTS_CHECKOUT names its clone. It needs TensorFlow, librosa, pandas, scipy, soundfile, tqdm,
PyYAML, psutil and matplotlib in this Python.
"""

import json
import os
import re
import shlex
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import trainer_interface as trainer
import xtts_precompute as xp
from support import PROJECT, ran, tell

CHECKOUT = os.environ.get("XTTS_MYXTTS_CHECKOUT")
pytestmark = pytest.mark.skipif(
    not CHECKOUT,
    reason="XTTS_MYXTTS_CHECKOUT names no clone of masoodafar-web/MyXTTSModel: the trainer itself is not tried",
)

# A model that two cores train in seconds.
TINY = {
    "text_encoder_dim": 64, "text_encoder_layers": 1, "text_encoder_heads": 2,
    "audio_encoder_dim": 64, "audio_encoder_layers": 1, "audio_encoder_heads": 2,
    "decoder_dim": 64, "decoder_layers": 1, "decoder_heads": 2, "speaker_embedding_dim": 32,
    "text_vocab_size": 1000, "use_gst": False,
}  # fmt: skip
# The trainer's compiled step does not run on this TensorFlow, with any batches: "Expected float32"
# in losses.py.
TWO_EPOCHS = {
    "epochs": 2, "enable_graph_mode": False, "enable_xla_compilation": False, "enable_text2audio_eval": False,
    "log_step": 1, "val_step": 5, "save_step": 1000,
    "spectrogram_log_interval": 0,
}  # fmt: skip


@pytest.fixture(autouse=True)
def package(monkeypatch):
    trainer.forget()
    monkeypatch.syspath_prepend(CHECKOUT)
    yield
    trainer.forget()


def its_config(**keys):
    from myxtts.config.config import DataConfig

    return DataConfig(**{"batch_size": 4, "num_workers": 1, "max_mel_frames": 96, "use_phonemes": False, **keys})


def batches(data, subset, **keys):
    import tensorflow as tf
    from myxtts.data.ljspeech import LJSpeechDataset

    tf.random.set_seed(5)
    made = LJSpeechDataset(str(data), its_config(**keys), subset, download=False)
    # With one call, the trainer's own loader keeps the order.
    whole = made.create_tf_dataset(
        shuffle=subset == "train", repeat=False, num_parallel_calls=1, drop_remainder=False
    )  # fmt: skip
    return [tuple(part.numpy() for part in batch) for batch in whole]


def cache_for(data, folder, **keys):
    """Makes the cache by the command that the error ends in."""
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
        assert [len(batch[0]) for batch in made] == [len(batch[0]) for batch in expected]
        assert expected and (subset == "val" or len(expected[-1][0]) < 4)
        for ours, theirs in zip(made, expected):
            for place in (0, 2, 3):  # places of tokens and lengths
                assert ours[place].dtype == theirs[place].dtype
                np.testing.assert_array_equal(ours[place], theirs[place])
            assert ours[1].dtype == theirs[1].dtype and ours[1].shape == theirs[1].shape
            # The trainer's transforms are in float32, which shows in the nearly silent channels
            # between the harmonics.
            missed = np.abs(ours[1] - theirs[1])
            assert missed.max() < 5e-3 and missed.mean() < 1e-4, (missed.max(), missed.mean())


def test_lengths_may_be_the_clips_own(data, tmp_path):
    path = cache_for(data, tmp_path)
    xp.myxtts.install(path, mel_len="true")
    for _, mel, _, mel_len in batches(data, "train"):
        assert mel.shape[1] == 96 and (mel_len < 96).all()
        for one, length in zip(mel, mel_len):
            assert one[length - 1].any() and not one[length:].any()


def plain(value):
    """Returns a value as the table of keys writes it."""
    return (
        [*map(str, value)] if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)
    )


def test_what_it_says_and_what_it_leaves_unsaid_come_to_the_same():
    from myxtts.config.config import DataConfig

    said = {"sample_rate": 16000, "use_tf_native_loading": False}
    whole, short = xp.myxtts.Config(DataConfig(**said)), xp.myxtts.Config(said)
    for name in ("features", "text"):
        assert whole.fingerprints[name] == short.fingerprints[name]
    assert (
        [key.name for key in whole.not_reproduced()]
        == [key.name for key in short.not_reproduced()]
        == ["data.enable_vad"]
    )


def test_the_table_of_keys_has_its_defaults():
    from myxtts.config.config import DataConfig, TrainingConfig

    known = {key.name: key for key in xp.myxtts.Config(DataConfig()).keys}
    assert not [key for key in known.values() if "unknown" in key.note]
    # The configuration has all keys.
    assert not [key for key in known.values() if key.name.startswith("data.") and key.is_default]
    absent = [key for key in xp.myxtts.Config({}).keys if key.is_default]
    assert len(absent) > 10
    for key in absent:
        section, name = key.name.split(".")
        theirs = getattr({"data": DataConfig, "training": TrainingConfig}[section](), name)
        assert plain(theirs) == (list(key.items) or key.value), key
    # So an empty configuration gives what the trainer's own does.
    said, unsaid = xp.myxtts.Config(DataConfig()), xp.myxtts.Config({})
    for name in ("features", "text"):
        assert said.fingerprints[name] == unsaid.fingerprints[name]


def test_config_check_knows_its_fields():
    """The keys of xtts_advise/trainers/myxtts against the trainer's own classes."""
    from dataclasses import fields
    from typing import get_type_hints

    import yaml
    from myxtts.config import config as its

    source = (PROJECT / "src/python/xtts_advise/trainers/myxtts/keys.yaml").read_text(encoding="utf-8")
    sections = yaml.load(source, yaml.BaseLoader)
    table = {
        f"{section}.{name}": (
            row["type"].removesuffix(" or null"),
            row.get("default", ""),
            row["type"].endswith(" or null"),
        )
        for section in ("model", "data", "training")
        for name, row in sections[section].items()
        if "type" in row
    }
    kinds = {"int": "int", "float": "float", "bool": "bool", "str": "text", "List": "list", "Dict": "map"}
    theirs = {}
    for section, owner in (("model", its.ModelConfig), ("data", its.DataConfig), ("training", its.TrainingConfig)):
        for field in fields(owner):
            hint = str(get_type_hints(owner)[field.name])
            kind = kinds[re.search(r"(int|float|bool|str|List|Dict)", hint)[0]]
            if "List" in hint or "Dict" in hint:
                kind = "list" if "List" in hint else "map"
            made = "" if field.default is None else plain(field.default)
            theirs[f"{section}.{field.name}"] = (kind, made, field.default is None)
    assert table == theirs


def test_config_check_mends_its_files(tmp_path):
    """Each of its files stops the trainer as it is, and loads once it is mended."""
    from myxtts.config.config import XTTSConfig

    files = [*Path(CHECKOUT).glob("configs/*.yaml"), *Path(CHECKOUT).glob("examples/*.yaml")]
    assert len(files) == 3
    for file in files:
        copy = tmp_path / file.name
        shutil.copy(file, copy)
        with pytest.raises(TypeError):
            XTTSConfig.from_yaml(str(copy))
        tell("config", "check", copy, "--gpu", "24GB", "--fix", "--fail-on", "warn")
        config = XTTSConfig.from_yaml(str(copy))
        assert isinstance(config.training.learning_rate, float), file
        assert config.data.pad_to_fixed_length and config.data.max_text_tokens == config.data.max_text_length
        assert Path(f"{copy}.bak").read_bytes() == file.read_bytes()
        mended = copy.read_bytes()
        tell("config", "check", copy, "--gpu", "24GB", "--fix")
        assert copy.read_bytes() == mended
    XTTSConfig().to_yaml(str(tmp_path / "made.yaml"))  # all keys, each with its default
    tell("config", "check", tmp_path / "made.yaml", "--gpu", "24GB", "--fix", "--fail-on", "warn")
    XTTSConfig.from_yaml(str(tmp_path / "made.yaml"))


def its_configurations(folder):
    from myxtts.config.config import DataConfig, XTTSConfig

    sys.argv[1:] = []  # the trainer's program reads it when it is imported
    train_main = pytest.importorskip("train_main")
    XTTSConfig().to_yaml(str(folder / "made.yaml"))
    files = [folder / "made.yaml", *Path(CHECKOUT).glob("configs/*.yaml"), *Path(CHECKOUT).glob("examples/*.yaml")]
    assert len(files) == 4
    made = [train_main.build_config(model_size="tiny"), train_main.build_config(enable_static_shapes=True)]
    return {
        **{file.name: file for file in files},
        "XTTSConfig()": XTTSConfig(),
        "DataConfig()": DataConfig(),
        **dict(zip(("tiny", "static"), made)),
    }


def test_each_of_its_configurations_opens(data, tmp_path, monkeypatch):
    pytest.importorskip(
        "phonemizer", reason="phonemizer is not installed here: the trainer makes no tokens of its own defaults"
    )
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    shutil.copytree(data, tmp_path / "data")
    shutil.copy(data / "metadata.csv", tmp_path / "data/metadata_train.csv")  # train_main.py reads this list
    data = tmp_path / "data"
    for name, config in its_configurations(tmp_path).items():
        read = xp.myxtts.Config(config)
        with pytest.raises(xp.NotFoundError) as missing:
            xp.myxtts.open(config, tmp_path / f"cache of {name}", data)
        tell(*shlex.split(str(missing.value).splitlines()[-1])[1:], "--quiet")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            dataset = xp.myxtts.open(config, tmp_path / f"cache of {name}", data, progress=False)
        assert not told, (name, [str(one.message) for one in told])
        batch = next(iter(dataset.reader(batch_size=4)))
        frames = {"made.yaml": 1024, "XTTSConfig()": 1024, "DataConfig()": 1024, "tiny": 256, "static": 512}.get(
            name, 800
        )
        assert read.recipe_name == "myxtts-tf" and batch.mel.shape == (4, frames, 80), name
        assert (batch.mel_len == frames).all() and batch.tokens.max() > 0


@pytest.mark.parametrize("native", [True, False])
def test_a_data_set_of_ours_has_its_split_and_tokens(corpus, tmp_path, native):
    pytest.importorskip("phonemizer", reason="phonemizer is not installed here: the trainer makes no phonemes")
    keys = {"use_tf_native_loading": native, "use_phonemes": True}
    # The trainer has not numbered its phonemes yet, so these are our own numbers.
    config = its_config(**keys)
    read = xp.myxtts.Config(config)
    fresh = trainer.lj_corpus(corpus, tmp_path / "fresh")
    with read.arguments() as arguments:
        xp.build(fresh, tmp_path / "cache", progress=False, **arguments)
    first = {
        one.ids[0]: one.tokens for one in xp.myxtts.open(config, tmp_path / "cache", fresh, split=None, progress=False)
    }
    from myxtts.data.ljspeech import LJSpeechDataset

    for subset in ("train", "val", "test"):
        theirs = LJSpeechDataset(str(fresh), config, subset, download=False)
        ours = xp.myxtts.open(config, tmp_path / "cache", fresh, split=subset, progress=False)
        assert len(ours) == len(theirs) and (subset == "test" or len(ours))
        by_id = {one.ids[0]: one for one in ours}
        for item in (theirs[place] for place in range(len(theirs))):
            mine = by_id.pop(item["id"])
            np.testing.assert_array_equal(mine.tokens, item["text_sequence"])
            np.testing.assert_array_equal(first[item["id"]], item["text_sequence"])
            if not native:
                assert mine.mel_len == min(item["mel_length"], 96)
                missed = np.abs(mine.mel - item["mel_spectrogram"][:96])
                assert missed.max() < 5e-3 and missed.mean() < 3e-4  # the trainer's transforms are in float32
        assert not by_id


def test_its_own_command_trains_to_the_same_losses(data, tmp_path):
    from myxtts.config.config import DataConfig, ModelConfig, TrainingConfig, XTTSConfig

    keys = {"batch_size": 8, "num_workers": 1, "max_mel_frames": 96, "use_phonemes": False}
    settings = tmp_path / "config.yaml"
    XTTSConfig(ModelConfig(**TINY), DataConfig(**keys), TrainingConfig(**TWO_EPOCHS)).to_yaml(str(settings))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([CHECKOUT, *sys.path]), "TF_CPP_MIN_LOG_LEVEL": "3"}

    def losses(*start):
        command = [
            sys.executable,
            *start,
            "-m",
            "myxtts.cli",
            "train",
            "--config",
            settings,
            "--data-path",
            data,
            "--checkpoint-dir",
            tmp_path / "checkpoints",
        ]
        done = ran(*command, cwd=tmp_path, env=environment)
        told = done.stdout + done.stderr
        assert done.returncode == 0 and "Training completed!" in told, told[-3000:]
        assert ("clips from" in told) == bool(start)
        return [float(found) for found in re.findall(r"(?:loss=|'total_loss': )([0-9.]+)", told)]

    own, cached = losses(), losses("-m", "xtts_precompute.myxtts", "--cache", tmp_path / "cache", "--build")
    assert len(own) == len(cached) > 10
    np.testing.assert_allclose(cached, own, rtol=0, atol=2e-4)


# Runs in every Python process that is started here, so that the trainer's weights and order are the
# same twice.
SEEDS = (
    "import random, numpy, tensorflow\nrandom.seed(1); numpy.random.seed(1); "
    "tensorflow.keras.utils.set_random_seed(1)\n"
    "tensorflow.config.experimental.enable_op_determinism()\n"  # else its own loading keeps no order
)


def test_its_own_program_trains_to_the_same_losses(corpus, tmp_path):
    """train_main.py has a folder, and so a cache, for each of its two lists.

    It reads no YAML. The test takes minutes on two cores.
    """
    pytest.importorskip("phonemizer", reason="phonemizer is not installed here: train_main.py makes phonemes")
    for part, kept in (("train", slice(0, 32)), ("eval", slice(32, None))):
        folder = trainer.lj_corpus(corpus, tmp_path / f"dataset_{part}", lists=(f"metadata_{part}.csv",))
        table = folder / f"metadata_{part}.csv"
        table.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[kept]) + "\n", encoding="utf-8")
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds/sitecustomize.py").write_text(SEEDS, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "seeds"), CHECKOUT, *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    arguments = [
        "--train-data",
        str(tmp_path / "dataset_train"),
        "--val-data",
        str(tmp_path / "dataset_eval"),
        "--model-size",
        "tiny",
        "--epochs",
        "1",
        "--batch-size",
        "16",
        "--max-mel-frames",
        "96",
    ]

    def run(*start):
        command = [sys.executable, *start, os.path.join(CHECKOUT, "train_main.py"), *arguments, "--reset-training"]
        done = ran(*command, cwd=tmp_path, env=environment)
        return done.returncode, done.stdout + done.stderr

    launcher = ["-m", "xtts_precompute.myxtts", "--cache", tmp_path / "cache", "--cache", tmp_path / "cache-val"]
    # One error has both commands.
    code, told = run(*launcher)
    assert code == 2 and "Loaded 32 items" not in told, told[-3000:]
    assert [line.split()[1:3] for line in told.splitlines() if line.startswith("    xtts-precompute ")] == [
        [str(tmp_path / "dataset_train"), str(tmp_path / "cache")],
        [str(tmp_path / "dataset_eval"), str(tmp_path / "cache-val")],
    ]
    found = []
    for start in ((), [*launcher, "--build"]):
        code, told = run(*start)
        assert code == 0 and ("clips from" in told) == bool(start), told[-3000:]
        assert ("too few to time" in told) == bool(start) == ("times the cache's" in told), told[-3000:]
        found.append([float(one) for one in re.findall(r"(?:loss=|'total_loss': )([0-9.]+)", told)])
    assert len(found[0]) == len(found[1]) >= 3
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=2e-4)


def test_its_own_configuration_with_the_key_trains_on_the_plain_cache(data, tmp_path):
    """The three lines: a build without an option, the key in the trainer's file, and the launcher."""
    tell("build", data, tmp_path / "cache", "--quiet")
    settings = tmp_path / "config.yaml"
    text = (Path(CHECKOUT) / "configs/config.yaml").read_text(encoding="utf-8")
    settings.write_text(text.replace("\ndata:\n", "\ndata:\n  preprocessing_mode: precompute\n"), encoding="utf-8")
    told = tell("config", "check", settings, "--fix")
    assert b"the trainer alone stops at `preprocessing_mode`" in told
    # A smaller model and batch, for two cores.
    lines = settings.read_text(encoding="utf-8").splitlines()
    small = {"batch_size": 8, "num_workers": 1, "max_mel_frames": 96, "epochs": 1, **TINY, **TWO_EPOCHS}
    lines = [line for line in lines if line.split(":")[0].strip() not in small]
    for section, keys in (
        ("model:", TINY),
        ("training:", {**TWO_EPOCHS, "epochs": 1}),
        ("data:", {"batch_size": 8, "num_workers": 1, "max_mel_frames": 96, "use_phonemes": False}),
    ):
        place = lines.index(section) + 1
        lines[place:place] = [f"  {name}: {json.dumps(value)}" for name, value in keys.items()]
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    before = settings.read_bytes()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([CHECKOUT, *sys.path]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    launcher = (sys.executable, "-m", "xtts_precompute.myxtts", "--cache", tmp_path / "cache")
    words = ("-m", "myxtts.cli", "train", "--config", settings, "--data-path", data)
    done = ran(*launcher, *words, cwd=tmp_path, env=environment)
    told = done.stdout + done.stderr
    assert done.returncode == 0 and "Training completed!" in told, told[-3000:]
    assert "the trainer's own loader computes others (myxtts-tf)" in told
    assert "What was gained" in told and "times the cache's" in told, told[-3000:]
    assert settings.read_bytes() == before
    noted = json.loads((tmp_path / "checkpoints/xtts-features.json").read_text(encoding="utf-8"))
    assert [one["recipe"] for one in noted["features"].values()] == ["myxtts"] and noted["checkpoints"]
