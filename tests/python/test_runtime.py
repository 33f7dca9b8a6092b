"""Clips without a cache: bit for bit those of a cache, one by one and as batches.

Failures, threads and processes: test_runtime_processes.py.
"""

import gc
import json
import os
import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp
from runtime_support import SETTINGS, check_same_batches, count_threads, runtime, same
from support import MAX_FRAMES, MAX_TOKENS, PADDING, make_corpus

CORPUS = Path(os.environ.get("XTTS_CORPUS", "/nowhere"))


@pytest.fixture
def clips(corpus):
    return runtime(corpus)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """A corpus with two files that are no sound and one text that is too long, and its cache."""
    folder = tmp_path_factory.mktemp("faulty")
    make_corpus(folder / "data", 24)
    (folder / "data/clip-005.wav").write_bytes(b"no sound at all, but words about one")
    (folder / "data/clip-016.wav").write_bytes(b"")
    table = folder / "data/metadata.csv"
    table.write_text(table.read_text().replace("this is clip-009", "so long " * 20))
    settings = {**SETTINGS, "text.too_long": "drop"}
    report = xp.build(folder / "data", folder / "cache", settings=settings, max_rejects=1.0, progress=False)
    assert report.rejects["count"] == 3
    return folder / "data", folder / "cache", settings


# ---- one by one


def test_it_is_what_the_cache_is(clips, cache):
    assert len(clips) == len(cache) and list(clips.ids) == list(cache.ids)
    assert clips.columns == cache.columns and clips.recipe == cache.recipe
    assert clips.speakers == cache.speakers and clips.languages == cache.languages
    assert clips.features_fingerprint == cache.features_fingerprint and clips.text_fingerprint == cache.text_fingerprint
    assert {name: column.shape for name, column in clips.columns.items()} == {
        "mel": (MAX_FRAMES, 80),
        "tokens": (MAX_TOKENS,),
    }
    assert clips.rejects == [] and clips.fault_count == 0


def test_clips_are_the_caches_bit_for_bit(clips, cache):
    for position, clip_id in enumerate(cache.ids):
        stored, computed = cache[position], clips[clip_id if position % 2 else position]
        assert same(computed.mel, stored.mel) and same(computed["tokens"], stored.tokens), clip_id
        for name in ("id", "text", "speaker", "language", "dataset", "split", "duration_s", "position", "columns"):
            assert getattr(computed, name) == getattr(stored, name), name
        assert (computed.mel_len, computed.text_len) == (len(stored.mel), len(stored.tokens))
        info = clips.info(clip_id)
        assert (info.id, info.text, info.speaker) == (stored.id, stored.text, stored.speaker)
        assert cache.speakers[info.speaker_number] == stored.speaker == cache.speakers[computed.speaker_number]
    assert not computed.mel.flags.writeable


def test_arrays_outlive_clip_and_clips(corpus, cache):
    mel = runtime(corpus)[3].mel
    gc.collect()
    assert same(mel, cache[3].mel)


def test_what_is_not_there_is_named(clips):
    with pytest.raises(xp.NotFoundError, match="no clip 'nobody'"):
        clips["nobody"]
    with pytest.raises(xp.NotFoundError):
        clips[len(clips)]
    with pytest.raises(xp.InvalidArgumentError):
        clips[1.5]
    with pytest.raises(AttributeError, match="there is no column 'mell'"):
        _ = clips[0].mell
    with pytest.raises(xp.NotFoundError):
        clips[0]["wave"]
    assert "clip-003" in clips and "nobody" not in clips and 3 not in clips


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        ("whisper-80", {"max_frames": 150}),  # filled with what its own padding came to
        ("myxtts-tf", {"max_frames": 150}),
        ("wave-22k", {"max_frames": 100}),
        ("myxtts", {**SETTINGS, "columns.wave": "int16", "columns.energy": True, "normalize.method": "mean_variance"}),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_batches_of_other_recipes_are_the_caches(recipe, settings, dtype, corpus, tmp_path):
    if recipe == "wave-22k" and dtype == "bfloat16":
        pytest.skip("a wave has no such type")
    options = {"recipe": recipe, "settings": settings, "dtype": dtype}
    xp.build(corpus, tmp_path / "cache", progress=False, **options)
    reading = {"batch_size": 4, "shuffle": "global", "seed": 3, "drop_last": False}
    with runtime(corpus, **options).reader(**reading) as reader:
        assert check_same_batches(xp.open(tmp_path / "cache").reader(**reading), reader) == 10


# ---- batches


@pytest.mark.parametrize("shuffle", ["none", "global"])
@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("world_size", [1, 3])
def test_batches_are_the_caches_bit_for_bit(clips, cache, shuffle, drop_last, world_size):
    for rank in range(world_size):
        options = {
            "batch_size": 5,
            "shuffle": shuffle,
            "seed": 7,
            "drop_last": drop_last,
            "rank": rank,
            "world_size": world_size,
        }
        with clips.reader(**options, prefetch=3, threads=3) as reader:
            expected = cache.reader(**options)
            assert len(reader) == len(expected) and reader.sample_count == expected.sample_count
            for _ in range(2):  # epochs 0 and 1, one after the other
                assert check_same_batches(expected, reader) == len(expected)
                assert reader.epoch == expected.epoch
            for one in (reader, expected):
                one.set_epoch(2**40)
            assert check_same_batches(expected, reader) == len(expected)


def test_selections_and_columns_are_the_caches(clips, cache):
    some = [cache.ids[number] for number in (9, 2, 30, 31, 4, 11, 2)]
    for options in (
        {"split": "train"},
        {"ids": some},
        {"exclude": some},
        {"ids": some, "exclude": some[:2]},
        {"columns": ["tokens"]},
        {"columns": {"tokens": None, "mel": "float16"}},
        {"columns": {"mel": {"dtype": "bfloat16", "pad_value": -11.5}}},
        {"columns": {"mel": {"normalize": cache.stats["mel"]}}},
        {"columns": {"mel": {"normalize": (np.linspace(-9, 1, 80), np.linspace(1, 3, 80)), "dtype": "float16"}}},
    ):
        options = {"batch_size": 3, "seed": 1, "drop_last": False, **options}
        with clips.reader(**options) as reader:
            assert check_same_batches(cache.reader(**options), reader) == len(reader) > 0


def test_buckets_crops_where_and_weights_are_the_caches(clips, cache):
    for options in (
        {"buckets": [{"batch_size": 5, "mel": 40}, {"batch_size": 3, "tokens": 16}, {"batch_size": 2}]},
        {"crop": {"frames": 20}},
        {"where": f"speaker == '{cache.speakers[0]}'"},
        {"where": "seconds > 0.4 and text_len > 14 and peak > 0"},
        {"where": "text ~ '1'", "columns": ["mel"]},
        {"weights": {"by": "speaker", "temperature": 0.0, "draws": 50}},
    ):
        for rank in range(2):
            options = {"batch_size": 3, "seed": 4, "drop_last": False, "rank": rank, "world_size": 2, **options}
            with clips.reader(**options) as reader, cache.reader(**options) as expected:
                for _ in range(2):
                    assert check_same_batches(expected, reader) == len(expected) > 0, options
                assert {**reader.state_dict(), "cache": None} == {**expected.state_dict(), "cache": None}
                assert len(reader) == len(expected) and reader.sample_count == expected.sample_count


def test_a_state_of_buckets_goes_on_where_a_caches_would(clips, cache):
    options = {"buckets": [{"batch_size": 4, "mel": 40}, {"batch_size": 2}], "seed": 6, "drop_last": False}
    with clips.reader(**options) as reader:
        for _ in range(3):
            next(reader)
        state = json.loads(json.dumps(reader.state_dict()))
    with clips.reader(**options) as made, cache.reader(**options) as stored:
        made.load_state_dict(state)
        stored.load_state_dict({**state, "cache": stored.state_dict()["cache"]})
        assert check_same_batches(stored, made) > 0


def test_loaders_of_threads_give_the_same(clips):
    options = {"batch_size": 4, "seed": 8, "drop_last": False}
    with clips.reader(**options, threads=1) as one, clips.reader(**options, threads=7, prefetch=6) as many:
        assert check_same_batches(one, many) == len(one)


def test_batches_are_leases_as_a_caches(clips):
    with clips.reader(batch_size=4, shuffle="none", prefetch=3) as reader:
        first = next(reader)
        kept = first.mel.copy()
        for _ in range(4):
            assert next(reader).valid_count == 4
        assert same(first.mel, kept) and not first.mel.flags.writeable and not first.is_view("mel")
        assert "mel" in first and repr(first).startswith("<Batch of 4 clips: mel [4, 64, 80]")
        with pytest.raises(AttributeError, match="did you mean 'mel'"):
            _ = first.mell
        with pytest.raises(xp.NotFoundError):
            first["wave"]


def test_a_reader_goes_on_where_it_stands(clips):
    with clips.reader(batch_size=5, seed=2, shuffle="global") as reader:
        whole = [batch.ids for batch in reader]
        reader.set_epoch(0)
        for batch in reader:
            assert batch.ids == whole[0]
            break
        assert [batch.ids for batch in reader] == whole[1:] and reader.epoch == 1
        assert [batch.ids for batch in reader] != whole and reader.epoch == 2
        reader.set_epoch(0)
        assert next(reader).ids == whole[0]


@pytest.mark.parametrize("shuffle", ["none", "global"])
@pytest.mark.parametrize("drop_last", [True, False])
def test_a_state_goes_on_where_a_caches_would(clips, cache, shuffle, drop_last):
    first = {"batch_size": 3, "shuffle": shuffle, "seed": 9, "drop_last": drop_last}
    for world_size, batch_size in ((1, 3), (1, 4), (3, 2)):
        with clips.reader(**first) as made, cache.reader(**first) as stored:
            for reader in (made, stored):
                reader.set_epoch(2)
                for _ in range(4):
                    next(reader)
            states = json.loads(json.dumps([made.state_dict(), stored.state_dict()]))
            assert {**states[0], "cache": None, "selection": None} == {**states[1], "cache": None, "selection": None}
        for rank in range(world_size):
            each, left = batch_size * world_size, len(clips) - 12
            options = {**first, "batch_size": batch_size, "seed": 0, "rank": rank, "world_size": world_size}
            with clips.reader(**options) as made, cache.reader(**options) as stored:
                made.load_state_dict(states[0])
                stored.load_state_dict(states[1])
                assert check_same_batches(stored, made) == left // each + (not drop_last and left % each > 0)
                assert made.epoch == stored.epoch == 3 and made.state_dict()["samples_consumed"] == 0
                assert check_same_batches(stored, made) == len(stored)


def test_a_state_of_something_else_is_told(clips, cache, corpus):
    with clips.reader(batch_size=5) as reader:
        state = reader.state_dict()
        for other in (clips.reader(batch_size=5, shuffle="none"), clips.reader(batch_size=5, split="train")):
            with other, pytest.raises(xp.MismatchError, match="with other clips or another shuffle"):
                other.load_state_dict(state)
        with pytest.raises(xp.MismatchError, match="the state is of a cache, or of other clips"):
            reader.load_state_dict(cache.reader(batch_size=5).state_dict())
        with (
            runtime(corpus, settings={**SETTINGS, "log.floor": 1e-4}).reader(batch_size=5) as other,
            pytest.raises(xp.MismatchError, match="other clips"),
        ):
            other.load_state_dict(state)
        for key, wrong, error in (
            ("samples_consumed", len(clips) + 1, xp.MismatchError),
            ("samples_consumed", -1, xp.InvalidArgumentError),
            ("seed", "7", xp.InvalidArgumentError),
            ("epoch", None, xp.InvalidArgumentError),
            ("order_version", 2, xp.UnsupportedError),
            ("bucket_samples_consumed", [3], xp.MismatchError),
            ("epochs", 1, xp.InvalidArgumentError),
        ):
            with pytest.raises(error):
                reader.load_state_dict({**state, key: wrong})
        with pytest.raises(xp.InvalidArgumentError, match="one of state_dict"):
            reader.load_state_dict(3)
        assert next(reader).ids == next(clips.reader(batch_size=5)).ids


def test_its_stats_tell_what_it_has_done(clips):
    with clips.reader(batch_size=4) as reader:
        assert reader.stats().batch_count == 0
        count = sum(1 for _ in reader)
        stats = reader.stats()
        assert (stats.batch_count, stats.sample_count, stats.left_out_count) == (count, 4 * count, 0)
        assert stats.consumer_wait_s > 0 and 0 <= stats.ms_p50 <= stats.ms_p95 <= stats.ms_p99 and stats.ms_mean > 0


def test_an_epoch_without_a_batch_warns(clips):
    said = f"an epoch has no batch: {len(clips)} clips do not fill one of {len(clips) + 1}"
    with clips.reader(batch_size=len(clips) + 1) as reader, pytest.warns(UserWarning, match=said):
        assert list(reader) == []


WRONG = {
    "batch_size": 0,
    "split": "tain",
    "shuffle": "window",
    "seed": -1,
    "rank": 2,
    "world_size": 0,
    "drop_last": "no",
    "prefetch": 0,
    "threads": 0,
    "columns": "mel",
    "ids": [],
    "exclude": "clip-001",
    "where": 2,
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(clips, name):
    before = count_threads()
    with pytest.raises(xp.InvalidArgumentError, match=name):
        clips.reader(**{"world_size": 2, name: WRONG[name]})
    assert count_threads() == before


def test_columns_that_cannot_be_are_named(clips):
    with pytest.raises(xp.NotFoundError, match="there is no column 'mels'"):
        clips.reader(columns=["mels"])
    with pytest.raises(xp.UnsupportedError, match="cache.stats"):
        clips.reader(columns={"mel": {"normalize": "corpus"}})
    with pytest.raises(xp.InvalidArgumentError, match="2 means"):
        clips.reader(columns={"mel": {"normalize": ([0, 0], [1, 1])}})
    with pytest.raises(xp.InvalidArgumentError, match="tokens"):
        clips.reader(columns={"tokens": "float32"})
    with pytest.raises(xp.NotFoundError, match="nobody"):
        clips.reader(ids=["nobody"])


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"recipe": "myxts"}, xp.NotFoundError, "myxtts"),
        ({"settings": {"max_frame": 3}}, xp.InvalidArgumentError, "max_frame"),
        ({"settings": {"corpus.duplicates": "drop"}}, xp.UnsupportedError, "duplicates"),
        ({"layout": "ljspeech"}, xp.InvalidArgumentError, "layout_of_data"),
        ({"layout_of_data": "lj"}, xp.InvalidArgumentError, "ljspeech"),
        ({"workers": 0}, xp.InvalidArgumentError, "workers"),
        ({"memory": "1K"}, xp.InvalidArgumentError, "memory"),
        ({"device": "cuda"}, xp.UnsupportedError, "cuda"),
        ({"progress": "yes"}, xp.InvalidArgumentError, "progress"),
        ({"language": 3}, xp.InvalidArgumentError, "language"),
    ],
)
def test_wrong_arguments_of_runtime_are_named(corpus, options, error, what):
    with pytest.raises(error, match=what):
        runtime(corpus, **options)


def test_data_that_is_not_there_is_named(tmp_path):
    with pytest.raises(xp.NotFoundError, match="nowhere"):
        runtime(tmp_path / "nowhere")


def test_progress_is_told(corpus):
    told = []
    clips = runtime(corpus, progress=told.append)
    assert told[-1].clips == len(clips) and told[-1].elapsed_s > 0


def test_what_progress_raises_is_raised(corpus):
    def fail(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        runtime(corpus, progress=fail)


# ---- rejected clips


def test_a_rejected_clip_says_what_the_builds_rejects_say(faulty):
    data, cache, settings = faulty
    clips = runtime(data, settings=settings, max_rejects=1.0)
    stored = xp.open(cache)
    lines = {line["id"]: line for line in map(json.loads, (cache / "rejects.jsonl").read_text().splitlines())}
    assert sorted([reject.id for reject in clips.rejects]) == ["clip-009"] and len(clips) == 23
    assert "clip-009" not in clips.ids
    for clip_id, line in lines.items():
        with pytest.raises(xp.RejectedClipError) as caught:
            clips[clip_id]
        error = caught.value
        assert (error.id, error.stage, error.kind, error.rule) == (clip_id, line["stage"], line["class"], line["rule"])
        assert (
            error.numbers == {name: line[name] for name in error.numbers}
            and clip_id in str(error)
            and error.reason in str(error)
        )
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    for clip_id in stored.ids:
        assert same(clips[clip_id].mel, stored[clip_id].mel)
    assert clips.fault_count == 2


def test_batches_come_without_rejected_clips_and_say_so_once(faulty):
    data, cache, settings = faulty
    clips, stored = runtime(data, settings=settings, max_rejects=1.0), xp.open(cache)
    with clips.reader(batch_size=4, shuffle="global", seed=3, drop_last=False) as reader:
        seen = []
        with pytest.warns(UserWarning, match="is rejected .*left out") as caught:
            for batch in reader:
                seen += batch.ids
                assert len(batch) == 4 and batch.valid_count == len(batch.ids)
                for row, clip_id in enumerate(batch.ids):
                    mel = stored[clip_id].mel
                    assert same(batch.mel[row, : len(mel)], mel) and (batch.mel[row, len(mel) :] == PADDING).all()
                    assert (
                        batch.mel_len[row] == len(mel)
                        and stored.speakers[batch.speaker[row]] == stored[clip_id].speaker
                    )
                empty = slice(batch.valid_count, None)
                assert (batch.mel[empty] == PADDING).all() and not batch.tokens[empty].any()
                assert not batch.mel_len[empty].any() and (batch.speaker[empty] == -1).all()
        assert len(caught) == 1 and sorted(seen) == sorted(stored.ids)
        assert caught[0].filename == __file__
        assert sorted(reject.id for reject in reader.rejects) == ["clip-005", "clip-016"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            counts = [batch.valid_count for batch in reader]
        # Clips that are known to be rejected leave no row empty.
        assert sum(counts) == len(stored) and set(counts[:-1]) == {4}
        assert reader.stats().left_out_count == 2


def test_without_the_caches_rejects_the_batches_are_the_caches(faulty):
    data, cache, settings = faulty
    options = {"batch_size": 4, "shuffle": "global", "seed": 5}
    with runtime(data, settings=settings).reader(**options, exclude=["clip-005", "clip-009", "clip-016"]) as reader:
        assert check_same_batches(xp.open(cache).reader(**options), reader) == 5


def test_a_clip_can_be_left_out_though_a_second_line_with_its_id_is_rejected(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    with open(data / "metadata.csv", "a") as lines:
        lines.write("clip-003.wav,said again,,\n")
    clips = runtime(data, max_rejects=1.0)
    assert [reject.id for reject in clips.rejects] == ["clip-003"] and "clip-003" in clips
    with clips.reader(batch_size=1, shuffle="none", exclude=["clip-003"]) as reader:
        assert len(reader) == len(clips) - 1


def test_buckets_know_of_rejected_clips_when_the_reader_is_opened(faulty):
    data, cache, settings = faulty
    options = {"buckets": [{"batch_size": 4, "mel": 30}, {"batch_size": 4}], "seed": 5, "drop_last": False}
    clips = runtime(data, settings=settings, max_rejects=1.0)
    with pytest.warns(UserWarning, match="is rejected .*left out") as caught:
        reader = clips.reader(**options)
    assert caught[0].filename == __file__
    with reader:
        assert sorted(reject.id for reject in reader.rejects) == ["clip-005", "clip-016"]
        assert check_same_batches(xp.open(cache).reader(**options), reader) == len(reader) > 0


def test_too_many_rejects_are_an_error(faulty):
    data, _, settings = faulty
    with (
        runtime(data, settings=settings, max_rejects=1).reader(batch_size=4, shuffle="none") as reader,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        with pytest.raises(xp.TooManyRejectsError, match="2 clips .* more than the 1 allowed"):
            list(reader)


def test_a_source_that_comes_back_is_no_reject_any_more(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    clips = runtime(data)
    (data / "clip-003.wav").rename(tmp_path / "away.wav")
    with pytest.raises(xp.RejectedClipError) as caught:
        clips["clip-003"]
    assert caught.value.kind == "environment"
    (tmp_path / "away.wav").rename(data / "clip-003.wav")
    assert clips["clip-003"].mel_len > 0 and clips.fault_count == 0


@pytest.mark.skipif(not CORPUS.is_dir(), reason="XTTS_CORPUS is not set")
@pytest.mark.parametrize("name", ["real_ljspeech", "real_mixed", "odd_formats", "hostile/files"])
def test_a_real_corpus_is_the_caches(name, tmp_path):
    options = {"max_rejects": 1.0, "progress": False}
    if name == "real_mixed":  # a folder with several corpora
        options["layout_of_data"] = "folder"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xp.build(CORPUS / name, tmp_path / "cache", max_dropped=1.0, **options)
    clips, cache = xp.runtime(CORPUS / name, **options), xp.open(tmp_path / "cache")
    rejects = {
        line["id"]: line for line in map(json.loads, (tmp_path / "cache/rejects.jsonl").read_text().splitlines())
    }
    stored = []
    for clip_id in clips.ids:
        if clip_id in rejects:
            with pytest.raises(xp.RejectedClipError) as caught:
                clips[clip_id]
            error, line = caught.value, rejects[clip_id]
            assert (error.stage, error.kind, error.rule) == (line["stage"], line["class"], line["rule"])
        else:
            stored.append(clip_id)
            assert same(clips[clip_id].mel, cache[clip_id].mel), clip_id
    assert stored == list(cache.ids)
    reading = {"batch_size": 8, "shuffle": "global", "seed": 11, "drop_last": False}
    with clips.reader(**reading, exclude=[one for one in clips.ids if one in rejects]) as reader:
        assert check_same_batches(cache.reader(**reading), reader) == len(reader) > 0
