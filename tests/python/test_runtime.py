"""Clips computed when they are asked for: bit for bit those of a cache, one by one and as batches."""

import gc
import json
import os
import pickle
import shutil
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import xtts_precompute as xp

from support import MAX_FRAMES, MAX_TOKENS, PADDING, RESIDENT_KIB, make_corpus, run_python

SETTINGS = {"max_frames": MAX_FRAMES, "max_tokens": MAX_TOKENS, "features.pad_value": PADDING}
CORPUS = Path(os.environ.get("XTTS_CORPUS", "/nowhere"))


def runtime(data, **options):
    return xp.runtime(data, **{"settings": SETTINGS, "progress": False, "workers": 2, **options})


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


def runtime_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("xtts-runtime")]


def wait_until(holds, seconds=10):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def same(one, other):
    """Type, shape and bits."""
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def check_same_batches(of_cache, of_clips):
    """Every array of every batch of the epoch; how many there were."""
    count = 0
    for expected, batch in zip(of_cache, of_clips, strict=True):
        count += 1
        assert batch.columns == expected.columns and len(batch) == len(expected)
        for name in expected.columns:
            assert same(batch[name], expected[name]), name
            assert same(batch.lengths(name), expected.lengths(name)), name
        assert same(batch.speaker, expected.speaker) and same(batch.language, expected.language)
        assert batch.valid_count == expected.valid_count and batch.ids == expected.ids
    return count


# ---- one by one


def test_it_is_what_the_cache_is(clips, cache):
    assert len(clips) == len(cache) and list(clips.ids) == list(cache.ids)
    assert clips.columns == cache.columns and clips.recipe == cache.recipe
    assert clips.speakers == cache.speakers and clips.languages == cache.languages
    assert clips.features_fingerprint == cache.features_fingerprint and clips.text_fingerprint == cache.text_fingerprint
    assert (clips.frames, clips.mels, clips.max_tokens) == (MAX_FRAMES, 80, MAX_TOKENS)
    assert clips.fill_values == {"mel": PADDING, "tokens": 0}
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
        ("whisper-80", {"max_frames": 150}),  # filled up by what its own padding came to
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
        options = {"batch_size": 5, "shuffle": shuffle, "seed": 7, "drop_last": drop_last, "rank": rank, "world_size": world_size}
        with clips.reader(**options, prefetch=2, workers=3) as reader:
            expected = cache.reader(**options)
            assert len(reader) == len(expected) and reader.sample_count == expected.sample_count
            for _ in range(2):  # epochs 0 and 1, as they follow
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
        {"columns": {"mel": {"normalize": (np.linspace(-9, 1, 80), np.linspace(0, 3, 80)), "dtype": "float16"}}},
    ):
        options = {"batch_size": 3, "seed": 1, "drop_last": False, **options}
        with clips.reader(**options) as reader:
            assert check_same_batches(cache.reader(**options), reader) == len(reader) > 0


def test_batches_are_ones_own(clips):
    with clips.reader(batch_size=4, shuffle="none") as reader:
        first, second = next(reader), next(reader)
        kept = first.mel.copy()
        second.mel[:] = 0
        assert same(first.mel, kept) and "mel" in first and repr(first).startswith("<RuntimeBatch of 4 clips: mel [4, 64, 80]")
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


WRONG = {
    "batch_size": 0,
    "split": "tain",
    "shuffle": "window",
    "seed": -1,
    "rank": 2,
    "world_size": 0,
    "drop_last": "no",
    "prefetch": 0,
    "workers": 0,
    "columns": "mel",
    "ids": [],
    "exclude": "clip-001",
    "where": "seconds > 2",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_named(clips, name):
    before = len(runtime_threads())
    with pytest.raises(xp.InvalidArgumentError, match=name):
        clips.reader(**{"world_size": 2, name: WRONG[name]})
    assert len(runtime_threads()) == before


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
        assert (error.id, error.stage, error.kind, error.reason) == (clip_id, line["stage"], line["class"], line["reason"])
        assert clip_id in str(error) and line["reason"] in str(error)
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
                    assert batch.mel_len[row] == len(mel) and stored.speakers[batch.speaker[row]] == stored[clip_id].speaker
                empty = slice(batch.valid_count, None)
                assert (batch.mel[empty] == PADDING).all() and not batch.tokens[empty].any()
                assert not batch.mel_len[empty].any() and (batch.speaker[empty] == -1).all()
        assert len(caught) == 1 and sorted(seen) == sorted(stored.ids)
        assert sorted(reject.id for reject in reader.rejects) == ["clip-005", "clip-016"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert sum(batch.valid_count for batch in reader) == len(stored)


def test_without_the_caches_rejects_the_batches_are_the_caches(faulty):
    data, cache, settings = faulty
    options = {"batch_size": 4, "shuffle": "global", "seed": 5}
    with runtime(data, settings=settings).reader(**options, exclude=["clip-005", "clip-009", "clip-016"]) as reader:
        assert check_same_batches(xp.open(cache).reader(**options), reader) == 5


def test_too_many_rejects_are_an_error(faulty):
    data, _, settings = faulty
    with runtime(data, settings=settings, max_rejects=1).reader(batch_size=4, shuffle="none") as reader, warnings.catch_warnings():
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


# ---- failures, threads, processes


class Failing:
    """A handle whose machine fails at one clip."""

    def __init__(self, handle, position, failures):
        self._handle, self._position, self._failures = handle, position, failures

    def record(self, position):
        if position == self._position and self._failures:
            raise self._failures.pop()
        return self._handle.record(position)

    def __getattr__(self, name):
        return getattr(self._handle, name)


def test_a_failure_is_raised_where_its_batch_would_come(clips):
    with clips.reader(batch_size=5, shuffle="none") as reader:
        reader._handle = Failing(reader._handle, 12, [xp.ResourceError("no memory left")])
        ids = list(clips.ids)
        assert next(reader).ids == ids[:5] and next(reader).ids == ids[5:10]
        with pytest.raises(xp.ResourceError, match="no memory left"):
            next(reader)
        assert [batch.ids for batch in reader] == [ids[first : first + 5] for first in range(15, 35, 5)]
        reader.set_epoch(0)
        assert sum(batch.valid_count for batch in reader) == 35


def test_close_ends_the_threads(clips):
    before = len(runtime_threads())
    reader = clips.reader(batch_size=4, workers=4, prefetch=8)
    next(reader)
    assert len(runtime_threads()) > before
    reader.close()
    reader.close()
    assert len(runtime_threads()) == before and repr(reader).endswith("closed>")
    with pytest.raises(xp.InvalidArgumentError, match="closed"):
        next(reader)
    with pytest.raises(xp.InvalidArgumentError, match="closed"):
        reader.set_epoch(1)


def test_a_reader_that_is_dropped_ends_its_threads(clips):
    before = len(runtime_threads())
    reader = clips.reader(batch_size=4, workers=4, prefetch=8)
    batch = next(reader)
    del reader
    gc.collect()
    assert wait_until(lambda: len(runtime_threads()) == before)
    assert batch.valid_count == 4


def decoders():
    """Processes of this one that decode."""
    children = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    return [pid for pid in children if b"decode-worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_the_processes_that_decode_end_with_the_clips(corpus):
    gc.collect()
    before = len(decoders())
    clips = runtime(corpus)
    _ = clips[0].mel
    assert len(decoders()) == before + 1
    del clips
    gc.collect()
    assert wait_until(lambda: len(decoders()) == before)


def test_two_threads_in_one_reader_are_told(clips):
    with clips.reader(batch_size=4) as reader, reader._turn:
        with pytest.raises(xp.BusyError, match="another thread"):
            next(reader)


def test_many_threads_may_ask_for_clips(clips, cache):
    wrong = []

    def ask(first):
        for number in range(len(clips)):
            position = (first * 5 + number) % len(clips)
            if not same(clips[position].mel, cache[position].mel):
                wrong.append(position)

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def in_child(work):
    """The exit code of a forked child: 0 where `work` returned true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and later warn of any fork beside threads
        child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_has_clips_of_its_own(clips, cache):
    _ = clips[0]
    assert in_child(lambda: same(clips[1].mel, cache[1].mel)) == 0
    assert same(clips[1].mel, cache[1].mel)


def test_a_forked_child_may_read_batches(clips):
    with clips.reader(batch_size=5, shuffle="none") as reader:
        expected = next(reader).mel

        def child():
            with pytest.raises(xp.UnsupportedError, match="open a reader in the child"):
                next(reader)
            with clips.reader(batch_size=5, shuffle="none") as own:
                return same(next(own).mel, expected)

        assert in_child(child) == 0
        assert next(reader).valid_count == 5


def test_a_child_of_a_process_that_has_built_has_clips(corpus, cache, tmp_path):
    xp.build(corpus, tmp_path / "cache", settings=SETTINGS, progress=False)
    clips = runtime(corpus)
    assert in_child(lambda: same(clips[1].mel, cache[1].mel)) == 0


def test_data_that_has_changed_is_told_to_a_child(corpus, tmp_path):
    data = shutil.copytree(corpus, tmp_path / "data")
    clips = runtime(data)
    (data / "clip-003.wav").unlink()

    def child():
        with pytest.raises(xp.MismatchError, match="plan it again"):
            clips[0]
        return True

    assert in_child(child) == 0


def test_pickled_clips_plan_anew(corpus, cache, monkeypatch, tmp_path):
    monkeypatch.chdir(corpus.parent)
    clips = runtime(corpus.name)
    pickled = pickle.dumps(clips)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickled)
    assert same(again[2].mel, cache[2].mel) and again.digest == clips.digest
    with clips.reader() as reader, pytest.raises(TypeError, match="pickle the clips"):
        pickle.dumps(reader)


def test_an_interpreter_may_end_in_the_middle(corpus):
    code = """
import sys, threading
import xtts_precompute as xp
clips = xp.runtime(sys.argv[1], settings={"max_frames": 64}, progress=False, workers=4)
reader = clips.reader(batch_size=4, prefetch=8)
print(next(reader).valid_count)
def go_on():
    while True:
        for clip in clips:
            pass
threading.Thread(target=go_on, daemon=True).start()
"""
    assert run_python(code, corpus) == "4\n"


def test_memory_does_not_grow(corpus):
    code = (
        RESIDENT_KIB
        + """
import sys
import xtts_precompute as xp
clips = xp.runtime(sys.argv[1], settings={"max_frames": 64}, progress=False, workers=2)
reader = clips.reader(batch_size=4)
def epochs(count):
    for _ in range(count):
        for batch in reader:
            batch.ids
    for position in range(len(clips)):
        clips[position].mel
epochs(6)
before = resident_kib()
epochs(20)
print(resident_kib() - before)
"""
    )
    assert int(run_python(code, corpus, timeout_s=300)) < 4096


@pytest.mark.skipif(not CORPUS.is_dir(), reason="XTTS_CORPUS is not set")
@pytest.mark.parametrize("name", ["real_ljspeech", "real_mixed", "odd_formats", "hostile/files"])
def test_a_real_corpus_is_the_caches(name, tmp_path):
    options = {"max_rejects": 1.0, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xp.build(CORPUS / name, tmp_path / "cache", **options)
    clips, cache = xp.runtime(CORPUS / name, **options), xp.open(tmp_path / "cache")
    rejects = {line["id"]: line for line in map(json.loads, (tmp_path / "cache/rejects.jsonl").read_text().splitlines())}
    stored = []
    for clip_id in clips.ids:
        if clip_id in rejects:
            with pytest.raises(xp.RejectedClipError) as caught:
                clips[clip_id]
            error, line = caught.value, rejects[clip_id]
            assert (error.stage, error.kind, error.reason) == (line["stage"], line["class"], line["reason"])
        else:
            stored.append(clip_id)
            assert same(clips[clip_id].mel, cache[clip_id].mel), clip_id
    assert stored == list(cache.ids)
    reading = {"batch_size": 8, "shuffle": "global", "seed": 11, "drop_last": False}
    with clips.reader(**reading, exclude=[one for one in clips.ids if one in rejects]) as reader:
        assert check_same_batches(cache.reader(**reading), reader) == len(reader) > 0
