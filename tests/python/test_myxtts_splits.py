"""xp.myxtts: which clips a split has, by the trainer's lists, and how long they are."""

import json
import shutil
import warnings

import numpy as np
import pytest
import xtts_precompute as xp
from myxtts_support import KEYS, SETTINGS, all_ids, command_of, opened, run_command_of, yaml_file
from support import MAX_FRAMES, MAX_TOKENS, PROGRAM, framework, ran, write_wav


def lj_data(corpus, folder):
    """Makes the trainer's folder, with its list of the tests' clips; returns the ids by its numbers.

    One of the clips has no sound.
    """
    (folder / "wavs").mkdir(parents=True)
    names = sorted(file.stem for file in corpus.glob("*.wav"))[::-1]
    lines = ["ID|text|normalized text", f"{names[0]}|a|b|c", "no bars", "", "not there|x|y"] + [
        f"{name}|this is {name}|this is {name}" for name in names[1:]
    ]
    (folder / "metadata.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    for name in names:
        shutil.copy(corpus / f"{name}.wav", folder / "wavs")
    return names


def test_the_trainers_own_split_is_read(corpus, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    settings = {**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS}
    # Two lines of the list are not clips.
    xp.build(tmp_path / "data", tmp_path / "cache", settings=settings, max_rejects=2, progress=False)
    (tmp_path / "data/processed").mkdir()
    splits = tmp_path / "data/processed/splits.json"
    places = {"train": [5, 0, *range(8, len(names)), 3], "val": [1, 2], "test": [4, 6, 7]}
    splits.write_text(json.dumps(places))
    for split, numbers in places.items():
        dataset = opened(tmp_path / "cache", data=tmp_path / "data", split=split)
        assert all_ids(dataset) == sorted(names[number] for number in numbers) == sorted(one.ids[0] for one in dataset)
    # If sound has gone from DATA, the clips keep their numbers as long as the cache has them.
    shutil.rmtree(tmp_path / "data/wavs")
    assert all_ids(opened(tmp_path / "cache", data=tmp_path / "data", split="val")) == sorted(names[1:3])
    table = tmp_path / "data/metadata.csv"
    table.write_text("\n".join(table.read_text(encoding="utf-8").splitlines()[:-1]), encoding="utf-8")
    with pytest.raises(
        xp.MismatchError,
        match=f"divides {len(names)} clips, and .*metadata.csv has {len(names) - 1}, so that .* Delete it, and",
    ):
        opened(tmp_path / "cache", data=tmp_path / "data", split="val")


@pytest.mark.parametrize("text", ["[]", "{", "{}", ('{"train": 1, "val": [], "test": '
    '[]}'), '{"train": [1e400], "val": [], "test": []}',
                                  '{"train": [0], "val": [-1], "test": []}', ('{"train": ["0"], "val": '
                                      '[1], "test": []}'), "\xff"])  # fmt: skip
def test_a_file_that_is_no_split_is_named(corpus, path, tmp_path, text):
    lj_data(corpus, tmp_path / "data")
    (tmp_path / "data/processed").mkdir()
    (tmp_path / "data/processed/splits.json").write_text(text, encoding="latin-1")
    with pytest.raises(xp.InvalidArgumentError, match="splits.json is no file of the trainer's splits"):
        opened(path, data=tmp_path / "data")


def test_an_empty_split_of_the_trainers_is_told(corpus, path, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    (tmp_path / "data/processed").mkdir()
    (tmp_path / "data/processed/splits.json").write_text(
        json.dumps({"train": list(range(len(names))), "val": [], "test": []})
    )
    dataset = opened(path, data=tmp_path / "data", split="test")
    assert len(dataset) == 0
    with pytest.raises(xp.InvalidArgumentError, match="no clip is chosen: the trainer's own split has none for test"):
        dataset.reader()


@pytest.mark.parametrize("kind", ["file", "dict"])
def test_the_trainers_two_folders_have_a_cache_each(corpus, tmp_path, kind):
    """train_main.py names both lists, and has a folder for each."""
    keys = {
        **KEYS, "metadata_train_file": "metadata_train.csv", "metadata_eval_file": "metadata_eval.csv",
        "wavs_train_dir": "wavs", "wavs_eval_dir": "wavs",
    }  # fmt: skip
    config = (
        keys
        if kind == "dict"
        else yaml_file(tmp_path, "data:\n" + "".join(f"  {name}: {value}\n" for name, value in keys.items()))
    )
    for name in ("train", "eval"):
        names = lj_data(corpus, tmp_path / name)
        (tmp_path / name / "metadata.csv").unlink()
        chosen = names[:9] if name == "eval" else names[9:]
        (tmp_path / name / f"metadata_{name}.csv").write_text("".join(f"{one}|x|this is {one}\n" for one in chosen))
        arguments = {
            "cache": tmp_path / f"cache-{name}",
            "data": tmp_path / name,
            "settings": SETTINGS,
            "tokenizer": "recipe",
        }
        with pytest.raises(xp.NotFoundError) as missing:
            xp.myxtts.open(config, **arguments, split="train" if name == "train" else "val")
        run_command_of(missing.value)
        other = "val" if name == "train" else "train"
        with pytest.raises(
            xp.InvalidArgumentError,
            match=f"and not metadata_.*.csv, which has the clips of "
            f"{'validation' if other == 'val' else other}: give data=",
        ):
            xp.myxtts.open(config, **arguments, split=other)
        # The trainer uses the same list for validation and tests.
        for split in ("train",) if name == "train" else ("val", "test"):
            assert all_ids(xp.myxtts.open(config, **arguments, split=split)) == sorted(chosen)


def test_one_list_alone_is_divided_so_that_no_clip_is_in_two_splits(corpus, path, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    (tmp_path / "data/metadata.csv").rename(tmp_path / "data/metadata_train.csv")
    keys = {"metadata_train_file": "metadata_train.csv", "wavs_train_dir": "wavs"}
    splits = [set(all_ids(opened(path, keys, data=tmp_path / "data", split=split))) for split in ("train", "val")]
    assert splits[0] and splits[1] and not splits[0] & splits[1] and splits[0] | splits[1] <= set(names)


def test_texts_that_were_edited_since_are_told(corpus, tmp_path):
    names = lj_data(corpus, tmp_path / "data")
    table = tmp_path / "data/metadata.csv"
    lines = [f"{name}|this is {name}|this is {name}" for name in names]
    table.write_text("\n".join(lines) + "\n")
    xp.build(
        tmp_path / "data",
        tmp_path / "cache",
        settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS},
        progress=False,
    )
    (tmp_path / "data/processed").mkdir()
    (tmp_path / "data/processed/splits.json").write_text(
        json.dumps({"train": list(range(len(names))), "val": [], "test": []})
    )
    arguments = {"cache": tmp_path / "cache", "data": tmp_path / "data"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(**arguments)
    table.write_text("\n".join(["edited".join(lines[0].rsplit("this is", 1)), *lines[1:]]) + "\n")
    with pytest.warns(
        UserWarning,
        match=f"1 clip has another text in the trainer's list than in .*: {names[0]}. This brings it "
        "up to date:\n    xtts-precompute",
    ):
        opened(**arguments)


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_each_clip_comes_once_in_validation(corpus, path, mode):
    framework("torch")
    dataset = opened(path, data=corpus, mode=mode, split="val")
    for loader in (dataset.reader(batch_size=1000, ids=True), dataset.create_torch_loader(batch_size=1000, ids=True)):
        assert sorted(clip_id for batch in loader for clip_id in batch.ids) == sorted(one.ids[0] for one in dataset)
        assert len(dataset)


def test_the_trainer_changes_the_sound_of_training_clips_alone(path):
    assert len(opened(path, {"enable_pitch_shift": True}, split="val"))
    with pytest.raises(xp.InvalidArgumentError, match="data.enable_pitch_shift"):
        opened(path, {"enable_pitch_shift": True}, split="train")


def test_other_shares_of_the_splits_are_those_of_a_new_cache(corpus, own_path):
    keys = {"train_split": 0.5, "val_split": 0.5}
    with pytest.raises(xp.MismatchError) as other:
        opened(own_path, keys, data=corpus)
    run_command_of(other.value)
    counts = [len(opened(own_path, keys, data=corpus, split=split)) for split in ("train", "val")]
    assert min(counts) > 10  # there are 37 clips


@pytest.mark.parametrize("native", [True, False])
def test_without_a_limit_nothing_is_cut(corpus, tmp_path, native):
    """With a clip of 31 s, the command drops it with a warning, or makes longer records if told to."""
    keys = {"use_tf_native_loading": native, "max_mel_frames": None, "batch_size": 4}
    shutil.copytree(corpus, tmp_path / "data")
    write_wav(tmp_path / "data/clip-000.wav", 8000 * np.sin(np.arange(31 * 22050) / 20))
    arguments = {
        "cache": tmp_path / "cache",
        "data": tmp_path / "data",
        "tokenizer": "recipe",
        "split": None,
        "progress": False,
    }
    with pytest.raises(xp.NotFoundError) as missing:
        xp.myxtts.open(keys, **arguments)
    command = [*command_of(missing.value), "--quiet"]
    refused = ran(PROGRAM, *command)
    assert refused.returncode == 3 and "max_frames" in refused.stderr
    done = ran(PROGRAM, *command, "--set", "features.max_frames=2671")
    assert done.returncode == 0, done.stderr
    dataset = xp.myxtts.open(keys, **arguments)
    batch = next(iter(dataset.reader(batch_size=len(dataset))))
    assert len(dataset) == 37 and batch.mel.shape[1] == batch.mel_len.max() > 2600


def test_the_command_keeps_a_recipe_that_was_named(corpus, tmp_path):
    config = yaml_file(tmp_path, "data:\n  batch_size: 4\n")
    for recipe, name in ((None, "myxtts-tf"), ("myxtts", "myxtts"), ("myxtts-tf", "myxtts-tf")):
        with pytest.raises(xp.NotFoundError) as missing:
            xp.myxtts.open(config, tmp_path / f"cache of {recipe}", corpus, recipe=recipe)
        run_command_of(missing.value)
        assert xp.open(tmp_path / f"cache of {recipe}").recipe == name
        xp.myxtts.open(config, tmp_path / f"cache of {recipe}", corpus, recipe=recipe)


def test_texts_are_cut_before_they_are_padded(own_path):
    keys = {"max_text_tokens": 6, "max_text_length": 40}
    dataset = opened(own_path, keys, tokenizer=lambda text: list(range(1, 1 + len(text))), tokenizer_version="1")
    for batch in dataset.reader():
        assert (
            batch.tokens.shape == (4, 40)
            and (batch.text_len == 6).all()
            and not batch.tokens[:, 6:].any()
            and batch.tokens[:, :6].all()
        )
    assert [len(one.tokens) for one in dataset] == [6] * len(dataset)


def test_clips_of_a_data_set_are_cut_as_batches_are(path):
    for one in opened(path, {"max_mel_frames": 20, "max_text_length": 6}):
        assert len(one.mel) == one.mel_len <= 20 and len(one.tokens) == one.text_len == 6


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_split_may_be_a_list_of_ids(corpus, path, mode):
    chosen = ["clip-007", "clip-003", "clip-030"]
    dataset = opened(path, data=corpus, mode=mode, ids=chosen)
    assert all_ids(dataset) == sorted(chosen) == sorted(one.ids[0] for one in dataset) and len(dataset) == 3
    with pytest.raises(xp.NotFoundError, match="1 of 2 clips is not in .*: nobody"):
        opened(path, data=corpus, mode=mode, ids=["clip-007", "nobody"])
    for wrong, says in (([], "ids is empty"), ("clip-007", "not one text"), ([7], "one of ids must be a text")):
        with pytest.raises(xp.InvalidArgumentError, match=says):
            opened(path, ids=wrong)


def test_a_split_of_the_caches_own_is_told_where_there_is_a_checkpoint(path, tmp_path):
    sections = {"data": KEYS, "training": {"checkpoint_dir": str(tmp_path / "checkpoints")}}

    def told(**options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            xp.myxtts.open(sections, path, settings=SETTINGS, tokenizer="recipe", **options)
        return [str(one.message) for one in caught]

    assert not told()
    (tmp_path / "checkpoints").mkdir()
    assert not told()
    (tmp_path / "checkpoints/checkpoint_12_model.weights.h5").touch()
    assert len(told()) == 1 and "has a checkpoint, and the clips of train are those of the cache's split" in told()[0]
    assert not told(ids=["clip-007"]) and not told(split=None)
