"""The launcher of the trainer: modes, caches that are missing, checkpoints, and what was gained.

The trainer's interface is that of trainer_interface.py. test_myxtts_trainer.py runs the trainer itself.
"""

import importlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest
import trainer_interface as trainer
import xtts_precompute as xp
from support import PROGRAM, framework, ran, tell
from trainer_interface import batches, dataset, launch

LISTS = ("metadata_train.csv", "metadata_eval.csv")
WIDE = ("--set", "features.max_frames=128")


pytestmark = pytest.mark.usefixtures("trainer_package")


@pytest.fixture(scope="module")
def plain(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "cache"
    tell("build", data, path, "--quiet", *WIDE)
    return path


@pytest.fixture(scope="module")
def folders(corpus, tmp_path_factory):
    """The trainer's two folders, each with its own list and sound."""
    whole = trainer.lj_corpus(corpus, tmp_path_factory.mktemp("two") / "whole", LISTS)
    made = []
    for name in LISTS:
        folder = whole.parent / name.removesuffix(".csv")
        (folder / "wavs").mkdir(parents=True)
        shutil.copy(whole / name, folder / name)
        for line in (whole / name).read_text(encoding="utf-8").splitlines():
            shutil.copy(whole / "wavs" / f"{line.split('|')[0]}.wav", folder / "wavs")
        made.append(folder)
    return made


def config_file(folder, training=None, **keys):
    file = folder / "config.yaml"
    file.write_text(
        json.dumps({
            "data": {"max_mel_frames": 96, "pad_to_fixed_length": True, "max_text_tokens": 200, **keys},
            "training": training or {},
        }),
        encoding="utf-8",
    )  # fmt: skip
    return file


def commands_in(words):
    return [shlex.split(line)[1:] for line in words.splitlines() if line.startswith("    xtts-precompute ")]


# ---- precompute: the features of the cache are the features


@pytest.mark.parametrize("frames", [64, 96, 200])
@pytest.mark.parametrize("pads", [True, False])
def test_precompute_takes_the_plain_cache_however_long_its_records_are(data, tmp_path, capfd, frames, pads):
    tell("build", data, tmp_path / "cache", "--quiet", "--set", f"features.max_frames={frames}")
    xp.myxtts.install(tmp_path / "cache", mode="precompute")
    made = batches(data, pad_to_fixed_length=pads, max_text_tokens=200)
    cache = xp.open(tmp_path / "cache")
    lines = (data / "metadata.csv").read_text(encoding="utf-8").splitlines()
    rows = [(batch, row) for batch in made for row in range(len(batch[0]))]
    assert len(rows) == 37
    for line, (batch, row) in zip(lines, rows):
        stored = np.asarray(cache[line.split("|")[0]]["mel"])
        _, mel, _, mel_len = (part[row] for part in batch)
        assert mel.shape == (96, 80) and mel_len == len(stored) < 64
        np.testing.assert_array_equal(mel[:mel_len], stored)
        assert not mel[mel_len:].any()
    told = capfd.readouterr().err
    assert "(recipe myxtts, as the trainer's inference does); the trainer's own loader computes others" in told


def test_precompute_cuts_where_the_trainer_cuts(data, plain, capfd):
    xp.myxtts.install(plain, mode="precompute")
    made = batches(data, max_mel_frames=20)
    assert all(batch[1].shape[1] == 20 and (batch[3] <= 20).all() for batch in made)
    cut = sum(len(clip["mel"]) > 20 for clip in xp.open(plain))
    assert cut and f"{cut} are cut at max_mel_frames" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("--set", "features.sample_rate_hz=24000"), "features.sample_rate_hz: 24000 in the cache, 22050 asked for"),
        (("--set", "features.stft.hop_samples=128"), "features.stft.hop_samples: 128 in the cache, 256 asked for"),
        (("--set", "features.mel.n_mels=40"), "features.mel.n_mels: 40 in the cache, 80 asked for"),
    ],
)
def test_rate_hop_and_mels_must_fit(data, tmp_path, settings, words):
    tell("build", data, tmp_path / "cache", "--quiet", *settings)
    xp.myxtts.install(tmp_path / "cache", mode="precompute")
    with pytest.raises(xp.MismatchError, match=re.escape(words)) as error:
        dataset(data).create_tf_dataset()
    (command,) = commands_in(str(error.value))
    tell(*command, "--quiet")
    xp.myxtts.install([tmp_path / "cache", command[1]], mode="precompute")
    assert len(batches(data)) == 10


def test_other_features_fit_that_have_its_rate_hop_and_mels(data, tmp_path, capfd):
    tell("build", data, tmp_path / "cache", "--quiet", "--recipe", "hifigan")
    xp.myxtts.install(tmp_path / "cache", mode="precompute")
    assert len(batches(data)) == 10
    told = capfd.readouterr().err
    assert "(recipe hifigan); the trainer's own loader computes others (myxtts-tf), and its inference those of" in told
    xp.myxtts.install(tmp_path / "cache", mode="precompute")
    batches(data, use_tf_native_loading=False)
    assert "the trainer's own loader and its inference compute others (myxtts)" in capfd.readouterr().err


def test_a_record_that_was_cut_shorter_than_the_trainer_asks_is_an_error(data, tmp_path):
    settings = ("--set", "features.max_frames=20", "--set", "features.too_long=truncate")
    tell("build", data, tmp_path / "cache", "--quiet", *settings)
    xp.myxtts.install(tmp_path / "cache", mode="precompute")
    with pytest.raises(xp.MismatchError, match="clips are cut in the cache .* reads 96 of their frames") as error:
        dataset(data).create_tf_dataset()
    (command,) = commands_in(str(error.value))
    tell(*command, "--quiet")
    assert len(batches(data)) == 10


def test_clips_that_the_build_left_out_are_left_out_and_told(data, tmp_path, capfd):
    tell("build", data, tmp_path / "cache", "--quiet", "--set", "features.max_frames=40", "--max-dropped", "100%")
    left_out = (tmp_path / "cache/rejects.jsonl").read_text(encoding="utf-8").count("\n")
    xp.myxtts.install(tmp_path / "cache", mode="precompute")
    assert sum(len(batch[0]) for batch in batches(data)) == 37 - left_out < 37
    assert f"its build left out {left_out}, rejects.jsonl says why" in capfd.readouterr().err


def test_clips_that_no_build_has_looked_at_are_an_error(data, plain, tmp_path):
    more = shutil.copytree(data, tmp_path / "data")
    with open(more / "metadata.csv", "a", encoding="utf-8") as file:
        file.write("new|a text|a text\n")
    shutil.copy(more / "wavs/clip-001.wav", more / "wavs/new.wav")
    own = shutil.copytree(plain, tmp_path / "cache")
    xp.myxtts.install(own, mode="precompute")
    with pytest.raises(xp.MismatchError, match="1 of the 38 clips that the trainer has for train are not in .*: new."):
        dataset(more).create_tf_dataset()


def test_two_caches_with_different_features_are_an_error(folders, tmp_path):
    framework("tensorflow")
    keys = {"metadata_train_file": LISTS[0], "metadata_eval_file": LISTS[1], "wavs_train_dir": "wavs",
            "wavs_eval_dir": "wavs"}  # fmt: skip
    for folder, name, recipe in zip(folders, LISTS, ("myxtts", "hifigan")):
        tell("build", folder, tmp_path / recipe, "--quiet", "--recipe", recipe, "--set",
             f"corpus.metadata_train_file={name}", "--set", "corpus.wavs_train_folder=wavs")  # fmt: skip
    xp.myxtts.install([tmp_path / "myxtts", tmp_path / "hifigan"], mode="precompute")
    dataset(folders[0], **keys).create_tf_dataset()
    with pytest.raises(xp.MismatchError, match="the caches .*myxtts and .*hifigan have different features:\n    feat"):
        dataset(folders[1], "val", **keys).create_tf_dataset()


# ---- the key of the trainer's file


def test_the_key_is_taken_out_of_what_the_trainer_reads(data, plain, tmp_path):
    xp.myxtts.install(plain)
    module = importlib.import_module("myxtts.config.config")
    file = config_file(tmp_path, preprocessing_mode="precompute")
    before = file.read_bytes()
    read = module.XTTSConfig.from_yaml(file).data
    assert read.preprocessing_mode == "precompute"
    assert "preprocessing_mode" not in module.DataConfig.__dataclass_fields__
    assert file.read_bytes() == before
    with pytest.raises(xp.InvalidArgumentError, match="did you mean 'precompute'"):
        module.DataConfig(preprocessing_mode="precomputed")
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_mels'"):
        module.DataConfig(n_mels=80)


@pytest.mark.parametrize(("mode", "words"), [("precompute", "sample_rate_hz"), (None, "use_tf_native_loading is on")])
def test_the_key_of_the_file_is_the_mode_unless_another_is_named(data, plain, tmp_path, mode, words):
    file = config_file(tmp_path, preprocessing_mode=mode or "runtime", sample_rate=24000 if mode else 22050)
    asked = [] if mode else ["--mode", "parity"]
    done = launch(
        "--cache", plain, *asked, "-m", "myxtts.cli", "train", "--config", file, "--data-path", data, folder=tmp_path
    )
    assert done.returncode == 2 and words in done.stderr, done.stderr
    command = [PROGRAM, "train", "--cache", plain, *asked, "--", sys.executable, "-m", "myxtts.cli", "train"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    handed = ran(*command, "--config", file, "--data-path", data, cwd=tmp_path, env=environment)
    assert (handed.returncode, handed.stderr) == (done.returncode, done.stderr)


def test_a_value_that_is_no_mode_is_named(data, plain, tmp_path):
    file = config_file(tmp_path, preprocessing_mode="precomputed")
    done = launch("--cache", plain, "-m", "myxtts.cli", "train", "--config", file, "--data-path", data, folder=tmp_path)
    assert done.returncode == 2 and "there is no preprocessing_mode 'precomputed'" in done.stderr, done.stderr


# ---- parity: one error before TensorFlow is imported


def no_tensorflow(folder):
    """Returns the path of a folder in which TensorFlow cannot be imported."""
    (folder / "broken").mkdir()
    (folder / "broken/tensorflow.py").write_text("raise SystemExit('TensorFlow is imported')\n", encoding="utf-8")
    return os.pathsep.join([str(folder / "broken"), *sys.path])


def test_one_error_names_all_caches_and_commands_before_tensorflow_is_imported(trainer_package, folders, tmp_path):
    path = no_tensorflow(tmp_path)
    words = (trainer_package / "train_main.py", "--train-data", folders[0], "--val-data", folders[1])
    done = launch("--cache", tmp_path / "cache", *words, folder=tmp_path, PYTHONPATH=path)
    assert done.returncode == 2 and "TensorFlow is imported" not in done.stderr, done.stderr
    made = commands_in(done.stderr)
    assert [command[:2] for command in made] == [
        [str(folders[0]), str(tmp_path / "cache")],
        [str(folders[1]), str(tmp_path / "cache-val")],
    ]
    assert "These make them (--build does it here):\n    xtts-precompute " in done.stderr
    for command in made:
        assert {"myxtts-tf", "features.max_frames=96"} <= set(command)
        tell(*command, "--quiet")
    done = launch("--cache", tmp_path / "cache", *words, folder=tmp_path, PYTHONPATH=path)
    assert "TensorFlow is imported" in done.stderr  # the caches are right


def test_the_plain_cache_is_not_overwritten_by_that_of_the_trainers_own_features(data, plain, tmp_path):
    own = shutil.copytree(plain, tmp_path / "cache")
    words = ("-m", "myxtts.cli", "train", "--config", config_file(tmp_path), "--data-path", data)
    done = launch("--cache", own, *words, folder=tmp_path)
    assert done.returncode == 2
    assert '"myxtts" in the cache, "myxtts-tf" asked for' in done.stderr
    assert f"To train on the features that {own} has, give --mode precompute, or write" in done.stderr
    (command,) = commands_in(done.stderr)
    assert command[1] == f"{own}-parity" and "--overwrite" not in command
    tell(*command, "--quiet")
    done = launch("--cache", own, *words, folder=tmp_path, PYTHONPATH=no_tensorflow(tmp_path))
    assert "TensorFlow is imported" in done.stderr  # it is found beside the other


def test_of_two_plain_caches_each_stays_and_gets_another_beside_it(trainer_package, folders, tmp_path):
    for folder, name, cache in zip(folders, LISTS, ("a", "b")):
        tell("build", folder, tmp_path / cache, "--quiet", "--set", f"corpus.metadata_train_file={name}",
             "--set", "corpus.wavs_train_folder=wavs")  # fmt: skip
    words = (trainer_package / "train_main.py", "--train-data", folders[0], "--val-data", folders[1])
    start = ("--cache", tmp_path / "a", "--cache", tmp_path / "b")
    done = launch(*start, *words, folder=tmp_path)
    assert [command[:2] for command in commands_in(done.stderr)] == [
        [str(folders[0]), str(tmp_path / "a-parity")],
        [str(folders[1]), str(tmp_path / "b-parity")],
    ]
    done = launch(*start, "--build", *words, folder=tmp_path, PYTHONPATH=no_tensorflow(tmp_path))
    assert "TensorFlow is imported" in done.stderr, done.stderr


@pytest.mark.parametrize(("mode", "recipe"), [((), "myxtts-tf"), (("--mode", "precompute"), "myxtts")])
def test_build_makes_what_is_missing(trainer_package, folders, tmp_path, mode, recipe):
    path = no_tensorflow(tmp_path)
    words = (trainer_package / "train_main.py", "--train-data", folders[0], "--val-data", folders[1])
    done = launch("--cache", tmp_path / "cache", *mode, "--build", *words, folder=tmp_path, PYTHONPATH=path)
    assert "TensorFlow is imported" in done.stderr, done.stderr
    assert done.stderr.count("xtts-precompute: --build: xtts-precompute ") == 2
    assert {xp.open(tmp_path / name).recipe for name in ("cache", "cache-val")} == {recipe}


def test_one_cache_is_made_of_a_folder_whose_clips_a_cache_does_not_have(data, folders, tmp_path):
    tell("build", folders[0], tmp_path / "cache", "--quiet", "--set", f"corpus.metadata_train_file={LISTS[0]}",
         "--set", "corpus.wavs_train_folder=wavs")  # fmt: skip
    other = shutil.copytree(data, tmp_path / "data")
    table = (other / "metadata.csv").read_text(encoding="utf-8")
    (other / "metadata.csv").write_text(table.replace("clip-", "other-"), encoding="utf-8")
    for file in (other / "wavs").iterdir():
        file.rename(file.with_name(file.name.replace("clip-", "other-")))
    file = config_file(tmp_path, preprocessing_mode="precompute")
    words = ("-m", "myxtts.cli", "train", "--config", file, "--data-path", other)
    done = launch("--cache", tmp_path / "cache", *words, folder=tmp_path)
    assert f"{tmp_path}/cache holds other clips: none of {other}/metadata.csv is there" in done.stderr, done.stderr
    assert len(commands_in(done.stderr)) == 1


def test_an_error_that_the_trainer_has_printed_is_printed_once(data, tmp_path):
    framework("tensorflow")
    (tmp_path / "own.py").write_text(
        "import runpy\nrunpy.run_module('myxtts.cli', run_name='__main__')\n", encoding="utf-8"
    )
    words = ("own.py", "train", "--config", config_file(tmp_path), "--data-path", data)
    done = launch("--cache", tmp_path / "none", *words, folder=tmp_path)
    assert done.returncode == 2 and (done.stdout + done.stderr).count("is not there, or not finished") == 1, done


@pytest.mark.parametrize("module", ["myxtts.clii", "no_such_trainer.cli"])
def test_a_module_that_is_not_there_is_one_line(tmp_path, module):
    done = launch("--cache", tmp_path / "none", "-m", module, "train", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"xtts-precompute: -m {module}: ")
    assert done.stderr.count("\n") == 1


def test_an_interrupted_training_tells_what_was_measured(data, plain, tmp_path):
    framework("tensorflow")
    (tmp_path / "own.py").write_text(
        "import runpy\nfrom myxtts.training.trainer import XTTSTrainer as theirs\n"
        "def interrupted(self):\n    raise KeyboardInterrupt\n"
        "theirs._xtts_base._save_checkpoint = interrupted\n"
        "runpy.run_module('myxtts.cli', run_name='__main__')\n",
        encoding="utf-8",
    )
    file = config_file(tmp_path, preprocessing_mode="precompute")
    done = launch("--cache", plain, "own.py", "train", "--config", file, "--data-path", data, folder=tmp_path)
    assert done.returncode == 1 and "Interrupted by user" in done.stdout, done.stdout + done.stderr
    assert "trained 10 steps of 4 clips" in done.stderr and "a batch" not in done.stderr, done.stderr


def test_a_build_that_fails_ends_the_launcher_with_its_code(data, tmp_path):
    bad = shutil.copytree(data, tmp_path / "data")
    for file in sorted((bad / "wavs").iterdir())[:20]:
        file.write_bytes(b"RIFF")
    words = ("-m", "myxtts.cli", "train", "--config", config_file(tmp_path), "--data-path", bad)
    done = launch("--cache", tmp_path / "cache", "--build", *words, folder=tmp_path)
    assert done.returncode == 3 and "--build: this ended with 3: xtts-precompute " in done.stderr, done.stderr


def test_auto_takes_the_trainers_own_loading_where_the_cache_is_another(data, plain):
    xp.myxtts.install(plain, mode="auto")
    with pytest.warns(UserWarning, match="own loading .mode auto., because the cache .* has other features"):
        assert dataset(data).create_tf_dataset() == "the trainer's own batches"


def test_lengths_that_depend_on_a_gpu_are_not_guessed(trainer_package, folders, tmp_path, monkeypatch):
    from xtts_precompute.myxtts import dry_run

    words = [str(trainer_package / "train_main.py"), "--train-data", str(folders[0]), "--val-data", str(folders[1])]
    monkeypatch.chdir(tmp_path)
    found = dry_run.planned(words, False)
    assert (found.config.max_mel_frames, found.train, found.resumes, found.has_native) == (
        96, str(folders[0]), None, True,
    )  # fmt: skip
    asked = dry_run._asked
    monkeypatch.setattr(
        dry_run, "_asked", lambda words, is_module, gpus: dry_run.Planned(
            **{**vars(asked(words, is_module, "none")), "gpus": 2 * (gpus == "gpus"), "train": gpus}
        ),
    )  # fmt: skip
    assert dry_run.planned(words, False) is None
    assert dry_run.planned(["other.py"], False) is None and dry_run.planned(["myxtts.cli", "synthesize"], True) is None


# ---- checkpoints


def features_of(name):
    core = importlib.import_module("xtts_precompute._build.tools").core()
    described = json.loads(core.recipe(recipe=name.encode(), settings=[], config=b""))
    return {"name": name, "features": described["sections"]["features"]}


def metadata(folder, step, text="x"):
    folder.mkdir(exist_ok=True)
    (folder / f"checkpoint_{step}_metadata.json").write_text(json.dumps({"step": step, "text": text}), encoding="utf-8")
    return str(folder / f"checkpoint_{step}")


def test_a_note_says_on_which_features_a_checkpoint_was_trained(tmp_path):
    from xtts_precompute.myxtts import checkpoints

    ours, other = features_of("myxtts"), features_of("myxtts-tf")
    old = metadata(tmp_path, 900)  # of before
    before = checkpoints.written(tmp_path)
    new = metadata(tmp_path, 16)
    checkpoints.note(str(tmp_path), before, ours, "precompute")
    assert checkpoints.check(new, ours, "precompute", "") is None
    longer = {**ours, "features": {**ours["features"], "max_frames": 1024, "pad_value": -1}}
    assert checkpoints.check(new, longer, "precompute", "") is None  # of another length, the same features
    with pytest.raises(
        xp.MismatchError, match="was trained on other features(.|\n)*recipe: myxtts then, myxtts-tf now"
    ):
        checkpoints.check(new, other, "parity", "")
    with pytest.raises(xp.MismatchError, match="checkpoint_900: no note says on which features"):
        checkpoints.check(old, ours, "precompute", "")
    assert "taken for those of the trainer's own loader" in checkpoints.check(old, other, "parity", "")
    # The trainer alone has trained on since, and written a checkpoint of the same name.
    metadata(tmp_path, 16, "another")
    with pytest.raises(xp.MismatchError, match="no note says"):
        checkpoints.check(new, ours, "precompute", "")
    checkpoints.note(str(tmp_path), checkpoints.written(tmp_path), ours, "precompute")
    with pytest.raises(xp.MismatchError, match="no note says"):  # nothing was written within
        checkpoints.check(new, ours, "precompute", "")
    (tmp_path / checkpoints.NOTE).write_text("{", encoding="utf-8")
    with pytest.raises(xp.MismatchError, match="no note says"):
        checkpoints.check(new, ours, "precompute", "")


def test_a_checkpoint_of_unknown_features_stops_the_launcher_before_tensorflow(trainer_package, folders, tmp_path):
    path = no_tensorflow(tmp_path)
    for folder, name, cache in zip(folders, LISTS, ("cache", "cache-val")):
        tell("build", folder, tmp_path / cache, "--quiet", "--set", f"corpus.metadata_train_file={name}",
             "--set", "corpus.wavs_train_folder=wavs")  # fmt: skip
    metadata(tmp_path / "checkpointsmain", 500)
    words = (trainer_package / "train_main.py", "--train-data", folders[0], "--val-data", folders[1])
    start = ("--cache", tmp_path / "cache", "--mode", "precompute")
    done = launch(*start, *words, folder=tmp_path, PYTHONPATH=path)
    assert done.returncode == 2 and "TensorFlow is imported" not in done.stderr
    for part in ("checkpoint_500: no note says on which", "--reset-training", "the mode that made it", "--accept-"):
        assert part in done.stderr, done.stderr
    done = launch("--cache", tmp_path / "new", "--build", "--mode", "precompute", *words, folder=tmp_path)
    assert done.returncode == 2 and "checkpoint_500: no note" in done.stderr and "--build:" not in done.stderr
    for more in ((*start, "--accept-checkpoint", *words), (*start, *words, "--reset-training")):
        done = launch(*more, folder=tmp_path, PYTHONPATH=path)
        assert "TensorFlow is imported" in done.stderr, done.stderr


# ---- a training


def test_a_training_tells_what_was_gained_and_notes_its_checkpoints(data, plain, tmp_path):
    framework("tensorflow")
    file = config_file(tmp_path, preprocessing_mode="precompute", training={"epochs": 2})
    words = ("-m", "myxtts.cli", "train", "--config", file, "--data-path", data)
    start = ("--cache", plain)
    done = launch(*start, "--no-compare", *words, folder=tmp_path)
    assert done.returncode == 0 and "Training completed!" in done.stdout, done.stdout + done.stderr
    for line in (r"trained 20 steps of 4 clips\. What was gained", r"  steps +[\d.]+ ms each, .*good is above 10 a sec",
                 r"  waiting +.*good is below 30 %", r"  variation +.*good is below 20 %",
                 r"  batch +.*from the cache +.*good is below 100 ms"):  # fmt: skip
        assert re.search(line, done.stderr), (line, done.stderr)
    assert "own loader " not in done.stderr.split("What was gained")[1]
    noted = json.loads((tmp_path / "checkpoints/xtts-features.json").read_text(encoding="utf-8"))
    assert sorted(noted["checkpoints"]) == ["checkpoint_10", "checkpoint_20"]
    assert [one["recipe"] for one in noted["features"].values()] == ["myxtts"]
    # The same features go on; those of the trainer's own loader do not.
    resumed = (*words, "--resume-from", "checkpoints/checkpoint_20")
    done = launch(*start, "--no-compare", *resumed, folder=tmp_path)
    assert done.returncode == 0 and "trained 20 steps" in done.stderr, done.stderr
    done = launch(*start, "--mode", "runtime", *resumed, folder=tmp_path)
    assert done.returncode == 2 and "go on with the mode that made it, --mode precompute" in done.stderr, done.stderr
    assert "start anew, without --resume-from" in done.stderr


def test_a_program_that_nobody_knows_is_checked_while_it_runs(trainer_package, data, plain, tmp_path):
    framework("tensorflow")
    shutil.copy(trainer_package / "train_main.py", trainer_package / "own.py")
    metadata(tmp_path / "checkpointsmain", 500)
    (tmp_path / "data").mkdir()
    for name in LISTS:
        shutil.copy(data / "metadata.csv", tmp_path / "data" / name)
    os.symlink(data / "wavs", tmp_path / "data/wavs")
    words = (trainer_package / "own.py", "--train-data", "data", "--val-data", "data")
    done = launch("--cache", plain, "--mode", "precompute", *words, folder=tmp_path)
    assert done.returncode == 2 and "checkpoint_500: no note says" in done.stderr, done.stderr
    done = launch("--cache", plain, *words, "--reset-training", folder=tmp_path)
    assert done.returncode == 2 and '"myxtts" in the cache, "myxtts-tf" asked for' in done.stderr, done.stderr
    done = launch("--cache", plain, "--mode", "precompute", "--no-compare", *words, "--reset-training", folder=tmp_path)
    assert done.returncode == 0 and "trained up to step 10" in done.stdout, done.stderr


def watch(stats=None):
    from xtts_precompute.myxtts.watch import ReaderStats, Watch

    told = []
    return Watch(stats or ReaderStats(), told.append), told


@pytest.fixture
def clock(monkeypatch):
    """Gives a function that lets time pass: no other time does."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def passes(seconds):
        now[0] += seconds

    return passes


def run_epoch(watched, source, step):
    def train(dataset):
        for _ in dataset:
            step()

    watched.epoch(source, train)


@pytest.mark.parametrize("late", [True, False])
def test_steps_that_vary_are_warned_of_while_the_trainer_trains(clock, late):
    watched, told = watch()
    turn = iter(range(10**6))

    def some_are_long():
        clock(0.1 if next(turn) % 10 == 0 else 0.01)

    def source():
        for _ in range(160):
            if late:
                some_are_long()
            yield np.zeros(4)

    run_epoch(watched, source(), (lambda: clock(0.001)) if late else some_are_long)
    (warning,) = told  # once, and not for each step
    assert warning.startswith("warning: steps vary by 1")
    assert "(the last 20; good is below 20 %, bad above 50 %)" in warning
    assert ("batches come late" in warning) == late and ("steps themselves differ" in warning) != late


def test_one_long_step_is_no_variation(clock):
    watched, told = watch()
    turn = iter(range(10**6))
    run_epoch(watched, range(60), lambda: clock(5 if next(turn) == 30 else 0.01))
    assert not told


def test_even_steps_are_not_warned_of_and_their_figures_are_right(clock):
    watched, told = watch()

    def source():
        for _ in range(120):
            clock(0.001)
            yield np.zeros((16, 3))

    run_epoch(watched, source(), lambda: clock(0.004))
    clock(30)  # validation is in no step
    run_epoch(watched, source(), lambda: clock(0.004))
    assert not told and watched.steps == 240
    lines = watched.report(0.5, 60.0, "").splitlines()
    assert lines[0].startswith("trained 240 steps of 16 clips")
    assert [" ".join(line.split()).removesuffix(" that a step computes.") for line in lines[1:]] == [
        "steps 5 ms each, 200 a second good (good is above 10 a second)",
        "waiting 1 ms a step, 20.0% good (good is below 30 %)",
        "variation 0% stable (good is below 20 %)",
        "batch 0.5 ms from the cache good (good is below 100 ms)",
        "own loader 60 ms a batch 120 times the cache's",
        "With its own loader a step would take 60 ms or more, 12 times as long: a batch takes longer than the 4 ms",
    ]
    assert "would keep up with steps as long as these: a batch is 25.0% of" in watched.report(0.5, 1.0, "")
    assert "own loader could not be measured: why" in watched.report(None, None, "could not be measured: why")


def test_too_few_steps_are_not_judged():
    watched, _ = watch()
    run_epoch(watched, [1, 2], lambda: None)
    assert watched.report(None, None, "") == "trained 2 steps, too few to time: the first 3 do not count."
    assert "120 times the cache's" in watched.report(0.5, 60.0, "")


def test_the_last_step_of_an_epoch_is_timed_though_no_batch_is_asked_for_behind_it(clock):
    watched, _ = watch()

    def train(dataset):
        batches = iter(dataset)
        for _ in range(2):
            next(batches)
            clock(0.004)

    for _ in range(2):
        watched.epoch(itertools.repeat(np.zeros((16, 3))), train)
        clock(30)
    told = watched.report(None, None, "")
    assert told.startswith("trained 4 steps of 16 clips. What was gained") and "4 ms each" in told


def test_monitor_shows_what_the_launcher_reads(tmp_path, monkeypatch):
    from xtts_precompute.myxtts.watch import ReaderStats

    monkeypatch.delenv("XTTS_READER_STATS", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stats = ReaderStats()
    stats.add(16, 100)
    (file,) = tmp_path.glob("xtts-readers-*/*.json")
    first = json.loads(file.read_text(encoding="utf-8"))
    assert first["batches"] == 1 and first["samples"] == 16 and first["bytes"] == 100 and first["format"] == 1
    watched, _ = watch(stats)
    run_epoch(watched, (time.sleep(0.05) for _ in range(3)), lambda: None)
    time.sleep(1.0)
    stats.add(16, 100)
    second = json.loads(file.read_text(encoding="utf-8"))
    assert second["samples"] == 32 and second["consumer_wait_s"] >= 0.15 and second["at_s"] > first["at_s"]
    told = subprocess.Popen(
        [str(importlib.import_module("support").PROGRAM), "monitor", "--for", "4"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    while told.poll() is None:
        stats.add(16, 100)
        time.sleep(0.05)
    assert re.search(r"GiB +\d+ +\d+ %", told.stdout.read())  # clips a second, and waiting
    stats._remove()
    assert not list(tmp_path.glob("xtts-readers-*/*.json"))


def test_a_folder_of_another_user_or_a_link_gets_no_statistics(tmp_path, monkeypatch):
    from xtts_precompute.myxtts import watch as module

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"xtts-readers-{os.getuid()}").symlink_to("elsewhere")
    assert module._usual_folder() is None
