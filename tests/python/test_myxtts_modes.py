"""xp.myxtts: where the cache is looked for, and what the modes do with it and without it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from myxtts_support import KEYS, SETTINGS, all_ids, command_of, kept, opened, run_command_of, yaml_file
from support import MAX_FRAMES, MAX_TOKENS, run_python, tell
from xtts_precompute.myxtts import source

# ---- where the cache is


def test_the_cache_is_the_argument_or_the_configurations_or_beside_the_data(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.cache").symlink_to(path)
    assert opened(path, {"cache_path": "nowhere"}).source.path == str(path)
    assert opened(None, {"cache_path": str(path), "dataset_path": "data"}).source.path == str(path)
    assert opened(None, {"dataset_path": "data/"}).source.path == "data.cache"
    assert opened(None, {"dataset_path": "nowhere"}, data="data").source.path == "data.cache"
    with pytest.raises(xp.NotFoundError, match="no cache is named"):
        opened(None)


@pytest.mark.parametrize("data", [".", "./", "sub/.."])
def test_the_cache_is_beside_the_data_where_they_are_the_working_directory(path, tmp_path, monkeypatch, data):
    (tmp_path / "data/sub").mkdir(parents=True)
    (tmp_path / "data.cache").symlink_to(path)
    monkeypatch.chdir(tmp_path / "data")
    assert opened(None, data=data).source.path == str(tmp_path / "data.cache")


def test_several_caches_are_one(path, second_path):
    assert all_ids(opened([path, second_path], split=None)) == sorted([*xp.open(path).ids, *xp.open(second_path).ids])


def test_an_open_cache_will_do(cache):
    assert opened(cache).source is cache


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_data_set_has_its_clips(path, corpus, mode):
    dataset = opened(path, {"preprocessing_mode": mode}, data=corpus)
    batches = [
        (clip_id, batch, row)
        for batch in kept(dataset.reader(shuffle=False, drop_last=False, ids=True))
        for row, clip_id in enumerate(batch.ids)
    ]
    assert len(dataset) == len(batches) > 20
    for place, (clip_id, batch, row) in enumerate(batches):
        tokens, mel, text_len, mel_len = one = dataset[place]
        assert one.ids == [clip_id] and (text_len, mel_len) == (batch.text_len[row], batch.mel_len[row]) == (
            len(tokens),
            len(mel),
        )
        np.testing.assert_array_equal(tokens, batch.tokens[row][:text_len])
        np.testing.assert_array_equal(mel, batch.mel[row][:mel_len])
    assert dataset[-1].ids == [batches[-1][0]] and [one.ids[0] for one in dataset] == [
        clip_id for clip_id, *_ in batches
    ]
    with pytest.raises(xp.NotFoundError):
        dataset[len(dataset)]


# ---- precompute


@pytest.mark.parametrize("kind", ["file", "dict"])
def test_the_command_of_the_error_makes_the_missing_cache(corpus, tmp_path, kind):
    folder = tmp_path / "it's here"
    folder.mkdir()
    config = {**KEYS, "n_mels": 40, "language": "fa", "train_split": 0.75, "val_split": 0.25}
    if kind == "file":
        config = yaml_file(folder, "data:\n" + "".join(f"  {name}: {value}\n" for name, value in config.items()))
    arguments = {
        "cache": folder / "the cache",
        "data": corpus,
        "settings": {"log.floor": 1e-4, "text.too_long": "drop"},
        "tokenizer": "recipe",
    }
    with pytest.raises(xp.NotFoundError, match="the cache .* is not there") as missing:
        xp.myxtts.open(config, **arguments)
    assert ("--config" in command_of(missing.value)) == (kind == "file")
    run_command_of(missing.value)
    dataset = xp.myxtts.open(config, **arguments)
    batch = next(iter(dataset.reader()))
    assert batch.mel.shape == (4, MAX_FRAMES, 40) and batch.mel.min() >= np.log(np.float32(1e-4)) - 1e-6


@pytest.mark.parametrize(
    ("keys", "difference", "overwrites"),
    [
        ({"n_mels": 40}, "features.mel.n_mels: 80 in the cache, 40 asked for", True),
        ({"trim_silence": False}, 'features.trim.method: "top_db" in the cache, "none" asked for', True),
        ({"train_split": 0.5, "val_split": 0.5}, "corpus.train_split: 0.9 in the cache, 0.5 asked for", True),
    ],
)
def test_the_command_of_the_error_makes_another_cache_the_right_one(corpus, own_path, keys, difference, overwrites):
    with pytest.raises(xp.MismatchError) as other:
        opened(own_path, keys, data=corpus)
    assert difference in str(other.value)
    assert ("--overwrite" in command_of(other.value)) == overwrites
    run_command_of(other.value)
    assert len(opened(own_path, keys, data=corpus, split=None).reader()) > 1


PRECOMPUTE = {"preprocessing_mode": "precompute", "use_tf_native_loading": True}


def test_precompute_takes_the_features_of_the_cache_as_they_are(path, truth):
    with pytest.warns(UserWarning, match=r"\(recipe myxtts\); the trainer's own loader computes others \(myxtts-tf\)"):
        dataset = opened(path, PRECOMPUTE, settings=None)
    for batch in dataset.reader(ids=True):
        assert batch.mel.shape == (4, MAX_FRAMES, 80)
        for row, clip_id in enumerate(batch.ids):
            assert batch.mel_len[row] == len(truth.mels[clip_id])
            np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id))
    with pytest.raises(xp.MismatchError, match='"myxtts" in the cache, "myxtts-tf" asked for'):
        opened(path, PRECOMPUTE, mode="parity", settings=None)


def test_rate_hop_and_mels_of_the_cache_must_fit(corpus, tmp_path):
    tell("build", corpus, tmp_path / "cache", "--quiet", "--set", "features.stft.hop_samples=128")
    keys = {**PRECOMPUTE, "use_tf_native_loading": False, "n_mels": 40}
    with pytest.raises(xp.MismatchError) as error:
        opened(tmp_path / "cache", keys, data=corpus)
    assert "hop_samples: 128 in the cache, 256 asked for" in str(error.value)
    assert "n_mels: 80 in the cache, 40 asked for" in str(error.value)
    run_command_of(error.value)
    batch = next(iter(opened(tmp_path / "cache", keys, data=corpus).reader()))
    assert batch.mel.shape == (4, MAX_FRAMES, 40)


def test_a_subset_that_is_not_asked_for_any_more_is_noticed(corpus, tmp_path):
    keys = {"auto_rebuild_mel_cache": True, "preprocessing_mode": "auto"}
    half = {**SETTINGS, "corpus.train_subset_fraction": 0.5, "corpus.subset_seed": 3}
    subset = all_ids(opened(tmp_path / "cache", keys, data=corpus, settings=half))
    with pytest.raises(
        xp.MismatchError,
        match="corpus.subset_seed: 3 in the cache, 0 asked for(.|\n)*corpus.train_subset_fraction: 0.5 "
        "in the cache, 1.0",
    ):
        opened(tmp_path / "cache", data=corpus)
    everything = all_ids(opened(tmp_path / "cache", keys, data=corpus))
    assert 0 < len(subset) < len(everything) and set(subset) < set(everything)
    # subset_seed has no effect without a subset.
    opened(tmp_path / "cache", data=corpus, settings={**SETTINGS, "corpus.subset_seed": 4})


def test_what_the_configuration_does_not_say_may_be_the_caches(corpus, tmp_path):
    xp.build(
        corpus,
        tmp_path / "cache",
        settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS},
        language="sw",
        progress=False,
    )
    opened(tmp_path / "cache")


def test_a_part_of_a_cache_is_not_complete(corpus, tmp_path):
    xp.build(
        corpus,
        tmp_path / "part",
        settings={**SETTINGS, "max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS},
        partition=(1, 1),
        progress=False,
    )
    with pytest.raises(xp.MismatchError, match="is a part of one. This joins them:\n    xtts-precompute merge"):
        opened(tmp_path / "part")


def test_a_cache_that_is_not_finished_is_called_so(tmp_path):
    (tmp_path / "cache/.build").mkdir(parents=True)
    with pytest.raises(xp.NotFoundError, match="is begun, but not finished"):
        opened(tmp_path / "cache", data="data")


def spoiled(path):
    manifest = path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"generation"', b'"generatiom"', 1))


def test_the_command_of_the_error_mends_a_damaged_cache(corpus, own_path):
    spoiled(own_path)
    with pytest.raises(xp.CorruptError, match="the cache is damaged") as damage:
        opened(own_path, data=corpus)
    run_command_of(damage.value)
    assert len(opened(own_path).reader()) > 1


# ---- auto

AUTO = {"preprocessing_mode": "auto", "auto_rebuild_mel_cache": True}


def contents(path):
    return {file: file.read_bytes() for file in Path(path).rglob("*") if file.is_file()}


def test_auto_uses_a_valid_cache_as_it_is(own_path):
    before = contents(own_path)
    dataset = opened(own_path, AUTO, data="nowhere")
    assert dataset.mode == "precompute" and contents(own_path) == before


def test_auto_makes_a_missing_cache_and_tells_of_its_progress(corpus, tmp_path):
    told = []
    dataset = opened(tmp_path / "cache", AUTO, data=corpus, progress=told.append)
    assert dataset.mode == "precompute" and told[-1].done == told[-1].total == len(xp.open(tmp_path / "cache"))
    # It has the bytes of the cache that the command line makes.
    told.clear()
    opened(tmp_path / "cache", AUTO, data=corpus, progress=told.append)
    assert not told


def test_auto_makes_a_cache_anew_that_is_another_one(corpus, own_path):
    with pytest.warns(
        UserWarning, match="is made anew, because .*\n    features.mel.n_mels: 80 in the cache, 40 asked for"
    ):
        dataset = opened(own_path, {**AUTO, "n_mels": 40}, data=corpus)
    assert next(iter(dataset.reader())).mel.shape == (4, MAX_FRAMES, 40)


def test_auto_mends_a_damaged_cache(corpus, own_path):
    spoiled(own_path)
    assert len(opened(own_path, AUTO, data=corpus).reader()) > 1
    assert xp.verify(own_path, progress=False).ok


@pytest.mark.parametrize("lost", [True, False])
def test_a_shard_that_is_lost_or_cut_is_noticed_and_mended(corpus, own_path, lost):
    (shard,) = Path(own_path).glob("shards/tokens/*")
    if lost:
        shard.unlink()
    else:
        os.truncate(shard, 4096)
    with pytest.raises(xp.CorruptError, match="the cache is damaged: shards/tokens/") as damage:
        opened(own_path, data=corpus)
    assert f"verify {own_path} --repair" in str(damage.value)
    with pytest.warns(UserWarning, match="computed on the fly, because the cache is damaged"):
        assert opened(own_path, {"preprocessing_mode": "auto"}, data=corpus).mode == "runtime"
    assert len(opened(own_path, AUTO, data=corpus).reader()) > 1
    assert xp.verify(own_path, progress=False).ok


def test_auto_says_that_it_leaves_clips_out_of_the_cache(corpus, own_path):
    with pytest.warns(
        UserWarning,
        match="is brought up to date, because (.*\n)*.*train_subset_fraction: 1.0 in the cache, 0.5 asked for",
    ):
        dataset = opened(own_path, AUTO, data=corpus, settings={**SETTINGS, "corpus.train_subset_fraction": 0.5})
    assert dataset.mode == "precompute"


RANK = """
import sys, warnings
import xtts_precompute as xp
warnings.simplefilter("ignore")
config = {"preprocessing_mode": "auto", "auto_rebuild_mel_cache": True,
          "use_tf_native_loading": False, "max_mel_frames": 64, "n_mels": int(sys.argv[3])}
tokenizer = (lambda text: [len(text)]) if len(sys.argv) > 4 else "recipe"
dataset = xp.myxtts.open(config, sys.argv[2], sys.argv[1], progress=False, tokenizer=tokenizer)
assert tokenizer == "recipe" or set(dataset.source.columns) == {"mel", "tokens", "tokenizer_tokens"}
print(dataset.source.digest, next(iter(dataset.reader(batch_size=4))).mel.shape[2])
"""


@pytest.mark.parametrize(
    ("begun", "tokenizer"), [("missing", []), ("of another recipe", []), ("missing", ["tokenizer"])]
)
def test_ranks_that_find_no_cache_make_it_once(corpus, tmp_path, begun, tokenizer):
    cache = tmp_path / "cache"
    if begun != "missing":
        run_python(RANK, corpus, cache, 80)
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, corpus, cache, "40", *tokenizer], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    said = [rank.communicate(timeout=120)[0].split() for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0, 0]
    assert {channels for _, channels in said} == {"40"}
    assert len({digest for digest, _ in said}) == 1


def test_a_rank_leaves_what_another_made_since_it_looked(corpus, own_path, monkeypatch):
    build_or_mend = source._build_or_mend
    made = []

    def be_late(*arguments):
        made.append(run_python(RANK, corpus, own_path, "40").split()[0])
        build_or_mend(*arguments)

    monkeypatch.setattr(source, "_build_or_mend", be_late)
    with pytest.warns(UserWarning, match="is made anew"):
        config = {
            "preprocessing_mode": "auto",
            "auto_rebuild_mel_cache": True,
            "use_tf_native_loading": False,
            "max_mel_frames": 64,
            "n_mels": 40,
        }
        dataset = xp.myxtts.open(config, own_path, corpus, tokenizer="recipe", progress=False)
    assert [dataset.source.digest] == made


def test_auto_without_leave_to_build_says_so_and_computes_at_runtime(corpus, tmp_path):
    with pytest.warns(UserWarning) as told:
        dataset = opened(tmp_path / "cache", {"preprocessing_mode": "auto"}, data=corpus)
    (said,) = [str(one.message) for one in told]
    assert (
        "computed on the fly, because the cache" in said
        and "data.auto_rebuild_mel_cache: true would make it here" in said
    )
    assert told[0].filename == opened.__code__.co_filename
    assert dataset.mode == "runtime" and not (tmp_path / "cache").exists()
    run_command_of(said)
    stored = opened(tmp_path / "cache")
    assert stored.mode == "precompute" and all_ids(stored) == all_ids(dataset)


def test_auto_that_does_not_know_the_data_says_what_is_missing(tmp_path):
    with (
        pytest.warns(UserWarning, match="auto_rebuild_mel_cache needs to know where the data is"),
        pytest.raises(xp.NotFoundError, match="no data is named"),
    ):
        opened(tmp_path / "cache", AUTO)


# ---- runtime


@pytest.mark.parametrize("pads", [True, False])
@pytest.mark.parametrize("shuffle", [True, False])
def test_batches_at_runtime_are_those_of_the_cache(corpus, path, pads, shuffle):
    keys = {"pad_to_fixed_length": pads}
    stored = opened(path, keys).reader(shuffle=shuffle, drop_last=False, ids=True)
    made = opened(path, {**keys, "preprocessing_mode": "runtime"}, data=corpus)
    assert made.mode == "runtime"
    made = made.reader(shuffle=shuffle, drop_last=False, ids=True)
    assert len(stored) == len(made)
    for _ in range(2):
        pairs = list(zip(kept(stored), kept(made), strict=True))
        assert len(pairs) > 1
        for one, other in pairs:
            assert one.ids == other.ids
            for first, second in zip(one, other, strict=True):
                assert (
                    first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()
                )


def test_passes_and_states_at_runtime_are_as_with_a_cache(corpus, path):
    def ids_of(made):
        loader = made.reader(ids=True)
        ids = [[batch.ids for batch in loader]]
        for batch in loader:  # broken off: the next pass is a whole one of another epoch
            ids.append(batch.ids)
            break
        ids += [loader.epoch, [batch.ids for batch in loader], loader.epoch]
        loader.set_epoch(0)
        passing = iter(loader)
        next(passing)
        state = json.loads(json.dumps(loader.state_dict()))
        other = made.reader(ids=True, batch_size=2)
        other.load_state_dict(state)
        assert loader.stats().batch_count == 1 + sum(map(len, (ids[0], ids[3]))) + 1
        return [*ids, [batch.ids for batch in other], other.epoch]

    stored, made = opened(path), opened(path, {"preprocessing_mode": "runtime"}, data=corpus)
    found = ids_of(made)
    assert found == ids_of(stored) and found[-1] == 1 and found[2] == 1
    with pytest.raises(xp.MismatchError, match="of a cache"):
        made.reader().load_state_dict(stored.reader().state_dict())


def test_sound_without_texts_is_told_at_once_at_runtime(corpus, tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.wav").write_bytes((corpus / f"clip-00{number}.wav").read_bytes())
    with pytest.raises(xp.MismatchError, match="has no tokens, .* no clip has a text"):
        opened(None, {"preprocessing_mode": "runtime"}, data=tmp_path)


def test_wrong_arguments_at_runtime_are_told_at_once(corpus):
    made = opened(None, {"preprocessing_mode": "runtime"}, data=corpus)
    with pytest.raises(xp.InvalidArgumentError, match="batch_size"):
        made.reader(batch_size=0)


def test_nothing_is_computed_before_the_first_batch_is_asked_for(corpus, monkeypatch):
    made = opened(None, {"preprocessing_mode": "runtime"}, data=corpus)
    monkeypatch.setattr(xp.RuntimeClips, "_open_reader", None)
    loader = made.reader()
    monkeypatch.undo()
    assert next(iter(loader)).mel.shape == (4, MAX_FRAMES, 80)


def test_the_tokenizer_is_called_at_runtime(corpus, path):
    dataset = opened(
        path, {"preprocessing_mode": "runtime"}, data=corpus, tokenizer=lambda text: [len(text), ord(text[-1])]
    )
    cache = xp.open(path)
    for batch in dataset.reader(ids=True):
        for row, clip_id in enumerate(batch.ids):
            words = cache[clip_id].text
            assert batch.text_len[row] == 2 and batch.tokens[row].tolist() == [len(words), ord(words[-1])] + [0] * (
                MAX_TOKENS - 2
            )
