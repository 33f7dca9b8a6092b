"""xp.myxtts.install() and its launcher, with the trainer's interface of trainer_interface.py."""

import importlib
import os
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import trainer_interface as trainer
import xtts_precompute as xp
from support import PROGRAM, framework, ran, tell
from trainer_interface import batches, dataset, launch

NATIVE = (
    "--recipe",
    "myxtts-tf",
    "--set",
    "features.max_frames=96",
    "--set",
    "features.too_long=truncate",
    "--set",
    "text.too_long=truncate",
)


pytestmark = pytest.mark.usefixtures("trainer_package")


@pytest.fixture(scope="module")
def native(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("native") / "cache"
    tell("build", data, path, "--quiet", *NATIVE)
    return path


def test_the_class_is_replaced_where_the_trainer_imports_it(data, native):
    xp.myxtts.install(native)
    theirs = importlib.import_module("myxtts.data.ljspeech")
    importer = importlib.import_module("myxtts.trainer")
    assert importer.LJSpeechDataset is theirs.LJSpeechDataset
    assert (
        importer.LJSpeechDataset.__mro__[1].__name__ == "LJSpeechDataset"
        and importer.LJSpeechDataset.__module__ == "myxtts.data.ljspeech"
    )
    assert len(dataset(data)) == 37


def test_it_is_replaced_where_it_was_imported_before(native):
    importer = importlib.import_module("myxtts.trainer")
    own = importer.LJSpeechDataset
    xp.myxtts.install(native)
    assert importer.LJSpeechDataset is not own and issubclass(importer.LJSpeechDataset, own)
    xp.myxtts.install(native, mel_len="true")  # a second call replaces the first
    assert importer.LJSpeechDataset.__mro__[1] is own


def test_a_module_without_the_class_is_named(native, monkeypatch):
    module = importlib.import_module("myxtts.data.ljspeech")
    monkeypatch.delattr(module, "LJSpeechDataset")
    with pytest.raises(xp.InvalidArgumentError, match="has no class LJSpeechDataset, so this is not the trainer"):
        xp.myxtts.install(native)


@pytest.mark.parametrize("pads", [False, True])
def test_batches_are_the_trainers_clips_tokens_and_order(data, native, pads):
    items = [30, 2, 17, 5, 9, 11]
    xp.myxtts.install(native)
    made = batches(data, splits={"train": items}, pad_to_fixed_length=pads, max_text_tokens=200)
    cache, lines = xp.open(native), (data / "metadata.csv").read_text(encoding="utf-8").splitlines()
    assert [len(batch[0]) for batch in made] == [4, 2]  # the trainer asks for the short one, too
    rows = [tuple(part[row] for part in batch) for batch in made for row in range(len(batch[0]))]
    for item, (tokens, mel, text_len, mel_len) in zip(items, rows):
        clip_id, text, _ = lines[item].split("|")
        np.testing.assert_array_equal(tokens[:text_len], trainer.tokens(text))
        assert not tokens[text_len:].any() and len(tokens) == (200 if pads else len(trainer.tokens(text)))
        stored = np.asarray(cache[clip_id]["mel"])
        np.testing.assert_array_equal(mel[: len(stored)], stored)
        assert mel.shape == (96, 80) and not mel[len(stored) :].any()
        assert mel_len == 96  # the native loader says so for every clip


def test_lengths_may_be_the_clips_own(data, native):
    xp.myxtts.install(native, mel_len="true")
    cache, clip_id = xp.open(native), (data / "metadata.csv").read_text(encoding="utf-8").split("|")[0]
    assert batches(data)[0][3][0] == len(cache[clip_id]["mel"]) < 96


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_of_librosa_longer_clips_are_cut_where_the_trainer_cuts_them(data, tmp_path, dtype):
    tell("build", data, tmp_path / "cache", "--quiet", "--dtype", dtype, "--set", "text.too_long=truncate")
    xp.myxtts.install(tmp_path / "cache")
    cache = xp.open(tmp_path / "cache")
    ids = [line.split("|")[0] for line in (data / "metadata.csv").read_text(encoding="utf-8").splitlines()]
    lengths = {clip_id: len(cache[clip_id]["mel"]) for clip_id in ids}
    assert min(lengths.values()) < 20 < max(lengths.values())
    made = batches(data, use_tf_native_loading=False, max_mel_frames=20)
    for place, (mel, mel_len) in enumerate(
        (mel, mel_len) for batch in made for mel, mel_len in zip(batch[1], batch[3])
    ):
        assert mel_len == min(lengths[ids[place]], 20)
        np.testing.assert_array_equal(mel[:mel_len], np.asarray(cache[ids[place]]["mel"]).astype(np.float32)[:mel_len])


def test_tensorflows_seed_gives_the_order_of_its_shuffle(data, native):
    tf = framework("tensorflow")
    xp.myxtts.install(native)

    def order():
        tf.random.set_seed(3)
        return [batch[1].numpy().tobytes() for batch in dataset(data).create_tf_dataset(repeat=False)]

    assert order() == order() != [batch[1].tobytes() for batch in batches(data)]


CUT = ["text.too_long=truncate", "features.too_long=truncate"]
UNCUT = ["text.too_long=truncate", "features.too_long=auto", "storage.layout=packed"]


@pytest.mark.parametrize(
    ("keys", "recipe", "settings"),
    [
        ({}, "myxtts-tf", [*CUT, "features.max_frames=96"]),
        ({"max_mel_frames": None}, "myxtts-tf", [*UNCUT, "features.pad=frames", "features.max_frames=2600"]),
        ({"use_tf_native_loading": False}, None, [*CUT, "features.max_frames=96"]),
        ({"use_tf_native_loading": False, "max_mel_frames": 0}, None, [*UNCUT, "features.max_frames=2600"]),
        ({"use_tf_native_loading": False, "trim_silence": False}, None,
         [*CUT, "features.max_frames=96", "features.trim.method=none"]),
        (
            {"use_tf_native_loading": False, "enable_loudness_normalization": False}, None,
            [*CUT, "features.max_frames=96", "features.loudness.method=peak", "features.loudness.target=1.0"],
        ),
    ],
)  # fmt: skip
def test_the_error_ends_in_the_command_that_makes_the_cache(data, tmp_path, keys, recipe, settings):
    xp.myxtts.install(tmp_path / "cache")
    with pytest.raises(
        xp.NotFoundError, match="is not there, or not finished. This makes it:\n    xtts-precompute "
    ) as error:
        dataset(data, **keys).create_tf_dataset()
    words = shlex.split(str(error.value).splitlines()[-1])
    assert sorted(word for word in words if "=" in word) == sorted(settings) and words.count("--recipe") == (
        recipe is not None
    )
    assert recipe in (None, words[words.index("--recipe") + 1] if recipe else None)
    done = ran(PROGRAM, *words[1:], "--quiet")
    assert done.returncode == 0, done.stderr
    assert len(batches(data, **keys)) == 10


def test_another_cache_is_refused_with_what_differs(data, native):
    xp.myxtts.install(native)
    with pytest.raises(xp.MismatchError, match="features.max_frames: 96 in the cache, 128 asked for") as error:
        dataset(data, max_mel_frames=128).create_tf_dataset()
    # The cache that is there stays: the one for the trainer's own features stands beside it.
    assert shlex.split(str(error.value).splitlines()[-1])[2] == f"{native}-parity"
    assert "--mode precompute, or write preprocessing_mode: precompute" in str(error.value)


def test_two_folders_have_a_cache_each(corpus, tmp_path, capfd):
    lists = ("metadata_train.csv", "metadata_eval.csv")
    data = trainer.lj_corpus(corpus, tmp_path / "data", lists)
    keys = {
        "metadata_train_file": lists[0],
        "metadata_eval_file": lists[1],
        "wavs_train_dir": "wavs",
        "wavs_eval_dir": "wavs",
    }
    (data / lists[1]).rename(tmp_path / lists[1])
    (tmp_path / "eval" / "wavs").mkdir(parents=True)
    for line in (tmp_path / lists[1]).read_text(encoding="utf-8").splitlines():
        (data / "wavs" / f"{line.split('|')[0]}.wav").rename(tmp_path / "eval" / "wavs" / f"{line.split('|')[0]}.wav")
    (tmp_path / lists[1]).rename(tmp_path / "eval" / lists[1])

    xp.myxtts.install(tmp_path / "cache")
    with pytest.raises(xp.NotFoundError) as error:
        dataset(data, **keys).create_tf_dataset()
    tell(*shlex.split(str(error.value).splitlines()[-1])[1:], "--quiet")
    with pytest.raises(
        xp.MismatchError,
        match="cache holds other clips: none of .*metadata_eval.csv is there. This makes it:\n.*cache-val",
    ) as error:
        dataset(tmp_path / "eval", "val", **keys).create_tf_dataset()
    tell(*shlex.split(str(error.value).splitlines()[-1])[1:], "--quiet")
    xp.myxtts.install([tmp_path / "cache", tmp_path / "cache-val"])
    assert sum(len(batch[0]) for batch in batches(data, **keys)) == 19
    assert sum(len(batch[0]) for batch in batches(tmp_path / "eval", "val", **keys)) == 18
    assert "train: 19 of 19 clips" in capfd.readouterr().err


def test_the_cache_of_another_corpus_is_refused(data, native, tmp_path):
    other = tmp_path / "metadata.csv"
    other.write_text(
        (data / "metadata.csv").read_text(encoding="utf-8").replace("this is", "no such text"), encoding="utf-8"
    )
    os.symlink(data / "wavs", tmp_path / "wavs")
    xp.myxtts.install(native)
    with pytest.raises(xp.MismatchError, match="37 of 37 clips have other texts"):
        dataset(tmp_path).create_tf_dataset()


def test_clips_that_the_cache_cut_are_not_taken_for_whole(data, tmp_path):
    tell(
        "build",
        data,
        tmp_path / "cache",
        "--quiet",
        "--set",
        "features.max_frames=20",
        "--set",
        "features.too_long=truncate",
    )
    xp.myxtts.install(tmp_path / "cache")
    with pytest.raises(
        xp.MismatchError, match="clips are cut in the cache .*, and the trainer reads 96 of their frames"
    ):
        dataset(data, use_tf_native_loading=False).create_tf_dataset()


def test_modes(data, native, tmp_path):
    xp.myxtts.install(native, mode="runtime")
    assert dataset(data).create_tf_dataset() == "the trainer's own batches"
    xp.myxtts.install(tmp_path / "none", mode="auto")
    with pytest.warns(UserWarning, match="own loading .mode auto., because the cache .*none is not there"):
        assert dataset(data).create_tf_dataset() == "the trainer's own batches"
    xp.myxtts.install(tmp_path / "none")  # versions that have the key name the mode themselves
    assert dataset(data, preprocessing_mode="runtime").create_tf_dataset() == "the trainer's own batches"
    with pytest.raises(xp.InvalidArgumentError, match="there is no mode 'fast'"):
        xp.myxtts.install(native, mode="fast")


def test_versions_that_compute_ahead_by_themselves_do_not(data, tmp_path, monkeypatch):
    theirs = importlib.import_module("myxtts.data.ljspeech").LJSpeechDataset
    for name in ("precompute_mels", "precompute_tokens", "verify_and_fix_cache", "filter_items_by_cache"):
        monkeypatch.setattr(theirs, name, lambda *_, **__: pytest.fail("it computes"), raising=False)
    monkeypatch.setattr(
        theirs, "create_tf_dataset", lambda self, use_cache_files=True, **_: pytest.fail("it reads its own files")
    )
    tell("build", data, tmp_path / "cache", "--quiet", "--set", "text.too_long=truncate")
    xp.myxtts.install(tmp_path / "cache")
    made = dataset(data, preprocessing_mode="precompute")
    made.precompute_mels(num_workers=2, overwrite=False)
    made.precompute_tokens(num_workers=2)
    assert not made.verify_and_fix_cache(fix=True)["failed"] and made.filter_items_by_cache() == 37
    framework("tensorflow")
    # These versions have the key use_tf_native_loading, but compute by librosa.
    assert len(list(made.create_tf_dataset(repeat=False, use_cache_files=True))) == 10


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"use_tf_native_loading": False, "enable_pitch_shift": True},
            "enable_pitch_shift changes each clip at random",
        ),
        ({"sample_rate": 24000}, "at 24000 Hz use_tf_native_loading resamples by interpolating lines"),
    ],
)
def test_what_no_cache_holds_is_named(data, native, keys, words):
    xp.myxtts.install(native)
    with pytest.raises(xp.MismatchError, match=words):
        dataset(data, **keys).create_tf_dataset()


def test_padding_that_the_trainer_itself_fails_at_is_named(data, native):
    xp.myxtts.install(native)
    with pytest.raises(
        xp.InvalidArgumentError, match="trainer's own padded_batch fails at them, too. Set data.max_text_tokens: 5"
    ):
        dataset(data, pad_to_fixed_length=True, max_text_length=5).create_tf_dataset()


@pytest.mark.parametrize("pads", [False, True])
def test_clips_that_fill_no_batch_are_a_short_one(data, native, pads):
    framework("tensorflow")
    xp.myxtts.install(native)
    made = dataset(data, pad_to_fixed_length=pads, max_text_tokens=200).create_tf_dataset(batch_size=40)
    assert [len(batch[0]) for batch in made.take(2)] == [37, 37]


def test_a_subset_without_clips_is_what_the_trainer_does_or_an_error(data, native, tmp_path):
    xp.myxtts.install(native)
    keys = {"splits": {"train": [0, 1], "val": [], "test": []}}
    assert not batches(data, "test", **keys)
    with pytest.raises(
        xp.InvalidArgumentError,
        match="val has none of the 37 clips of .*metadata.csv, .*splits.json, which divides them, and raise data.val_",
    ):
        dataset(data, "val", **keys).create_tf_dataset()
    (tmp_path / "wavs").mkdir()
    shutil.copy(data / "metadata.csv", tmp_path)
    with pytest.raises(xp.InvalidArgumentError, match="train has no clips, .* no line of .* has its sound in .*ID.wav"):
        dataset(tmp_path).create_tf_dataset()


def test_clips_that_are_no_wav_files_are_told(data, native, tmp_path, capfd):
    xp.myxtts.install(native)
    shutil.copytree(data, tmp_path / "data")
    for name, suffix in (("clip-003", ".mp3"), ("clip-004", ".flac"), ("clip-005", ".flac")):
        (tmp_path / f"data/wavs/{name}.wav").rename(tmp_path / f"data/wavs/{name}{suffix}")
    assert sum(len(batch[0]) for batch in batches(tmp_path / "data")) == 34
    batches(tmp_path / "data", "val")
    told = capfd.readouterr().err
    assert told.count("warning: 3 of 37 clips of ") == 1 and "and these are 2 .flac, 1 .mp3. Convert them" in told
    assert f"delete {tmp_path}/data/processed/splits.json" in told and "xp.myxtts.open" in told


def test_a_program_may_end_while_batches_are_read(data, native):
    framework("tensorflow")
    program = (
        "import pathlib, sys, trainer_interface\nimport xtts_precompute as xp\nxp.myxtts.install(sys.argv[1])\n"
        "from myxtts.trainer import LJSpeechDataset\n"
        "made = LJSpeechDataset(pathlib.Path(sys.argv[2]), trainer_interface.config(max_mel_frames=96))\n"
        "batches = iter(made.create_tf_dataset(32))\nnext(batches)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(4):  # without a wait at the end, about every second run hangs
        subprocess.run(
            [sys.executable, "-c", program, native, data], env=environment, capture_output=True, check=True, timeout=120
        )


def test_the_launcher_runs_the_trainers_program(native, tmp_path):
    program = tmp_path / "train_main.py"
    program.write_text(
        "import sys, beside\nfrom myxtts.trainer import LJSpeechDataset\nprint(sys.argv, __name__, "
        "LJSpeechDataset.__mro__[1].__name__)\n",
        encoding="utf-8",
    )
    (tmp_path / "beside.py").write_text("", encoding="utf-8")
    done = launch("--cache", native, program, "--epochs", "2", "-m", "x", folder="/")
    assert done.stdout == f"{[str(program), '--epochs', '2', '-m', 'x']} __main__ LJSpeechDataset\n", done.stderr
    done = launch("--cache", native, "-m", "train_main", "--help", folder=tmp_path)
    assert "'--help'] __main__ LJSpeechDataset" in done.stdout, done.stderr


def test_the_launcher_says_what_is_wrong_with_its_call(native, tmp_path):
    for arguments, words in {
        ("--cache", native): "no program of the trainer is named",
        ("--cache", native, "-m"): "no program of the trainer is named",
        ("--cache", native, "none.py"): "there is no program none.py",
        ("train_main.py",): "the following arguments are required: --cache",
    }.items():
        done = launch(*arguments, folder=tmp_path)
        assert done.returncode == 2 and words in done.stderr


def test_the_launcher_ends_with_the_error_and_its_exit_code(data, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import pathlib, sys\nimport trainer_interface\nfrom myxtts.trainer import LJSpeechDataset\n"
        "LJSpeechDataset(pathlib.Path(sys.argv[1]), trainer_interface.config()).create_tf_dataset()\n",
        encoding="utf-8",
    )
    done = launch("--cache", tmp_path / "none", program, data, folder=tmp_path)
    assert (
        done.returncode == 2
        and "Traceback" not in done.stderr
        and "This makes it (--build does it here):\n    xtts-precompute " in done.stderr
    )


PROGRAMS = {
    "a key of its YAML": (
        (
            "class DataConfig:\n    def __init__(self): pass\ntry:\n    "
            "DataConfig(preprocessing_mode='auto')\nexcept Exception as error:\n    sys.exit(1)\n"
        ),
        "this version of the trainer has no key data.preprocessing_mode: take it out of the file, and say --mode here",
    ),
    "a number": (
        "'1e-4' / 2.0\n",
        "such as 1e-4, is a text in YAML (1.0e-4 is a number): xtts-precompute config check my.yaml --fix mends",
    ),
    "a short batch": (
        "def train_step():\n    raise TypeError('Binding inputs to tf.function failed due to ...')\ntrain_step()\n",
        "accumulate over two steps, --grad-accum 2 (gradient_accumulation_steps), which takes any batch",
    ),
    "another layout": (
        "raise FileNotFoundError('Metadata file not found: /data/metadata.csv')\n",
        "The trainer reads the layout of LJSpeech alone, lines of ID|TEXT and wavs/ID.wav",
    ),
    "another key": (
        "class ModelConfig:\n    def __init__(self): pass\nModelConfig(n_mells=3)\n",
        "has no key model.n_mells: xtts-precompute config check my.yaml --fix mends the file\n",
    ),
    "padding": (
        "raise ValueError('Attempted to pad to a smaller size than the input element.')\n",
        "set data.max_text_tokens to the same number",
    ),
    "accumulation": (
        "def _train_epoch():\n    None.items()\n_train_epoch()\n",
        "take --grad-accum 2 (gradient_accumulation_steps) or more",
    ),
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_launcher_names_the_trainers_own_faults(native, tmp_path, kind):
    text, words = PROGRAMS[kind]
    (tmp_path / "train.py").write_text("import sys\n" + text, encoding="utf-8")
    done = launch("--cache", native, "train.py", "--config", "my.yaml", folder=tmp_path)
    assert (
        done.returncode == 1
        and "\nxtts-precompute: the trainer fails here without a cache, too: " in "\n" + done.stderr
        and words in done.stderr
    )
    assert ("Traceback" in done.stderr) == (kind != "a key of its YAML")


def test_the_launcher_leaves_other_ends_of_the_trainer_as_they_are(native, tmp_path):
    for text, code, words in (
        ("1 / 0\n", 1, "ZeroDivisionError"),
        ("sys.exit(7)\n", 7, ""),
        ("None.items()\n", 1, "AttributeError"),
    ):
        (tmp_path / "train.py").write_text("import sys\n" + text, encoding="utf-8")
        done = launch("--cache", native, "train.py", folder=tmp_path)
        assert done.returncode == code and "without a cache, too" not in done.stderr and words in done.stderr


def test_of_two_caches_each_is_made_of_its_own_folder(corpus, tmp_path):
    caches = [tmp_path / "first", tmp_path / "second"]
    for part in ("train", "eval"):
        trainer.lj_corpus(corpus, tmp_path / part)
    (tmp_path / "eval/metadata.csv").write_text("other|x|x\n", encoding="utf-8")
    (tmp_path / "eval/wavs/other.wav").write_bytes((corpus / "clip-001.wav").read_bytes())
    xp.myxtts.install(caches)
    for part, path in zip(("train", "eval"), caches):
        with pytest.raises(
            xp.Error, match=f"[Tt]he cache {path} is not there, or not finished. This makes it"
        ) as error:
            dataset(tmp_path / part).create_tf_dataset()
        command = shlex.split(str(error.value).splitlines()[-1])[1:]
        assert command[:2] == [str(tmp_path / part), str(path)]
        tell(*command, "--quiet", "--max-rejects", "100")
        assert len(batches(tmp_path / part)) == (10 if part == "train" else 1)
