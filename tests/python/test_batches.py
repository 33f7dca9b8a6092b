"""What is in batches, against the command line's records and against order-v1 in plain Python."""

import importlib.util
import itertools
import warnings

import numpy as np
import pytest
import xtts_precompute as xp
from conftest import CLIPS, FORMS
from support import MAX_FRAMES, MAX_TOKENS, MELS, PADDING, PROJECT

spec = importlib.util.spec_from_file_location("order_v1", PROJECT / "tests/golden/order-v1/order_v1.py")
order_v1 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(order_v1)


@pytest.mark.parametrize("shuffle", ["none", "global", "window"])
@pytest.mark.parametrize("form", FORMS)
def test_every_number_of_an_epoch(form, shuffle, caches, truths):
    truth, cache = truths(form), xp.open(caches(form))
    seen = []
    for batch in cache.reader(batch_size=8, shuffle=shuffle, seed=5, drop_last=False):
        truth.check(batch, dtype=truth.mels[truth.order[0]].dtype)
        for row, clip_id in enumerate(batch.ids):
            assert cache.speakers[batch.speaker[row]] == truth.clips[clip_id]["speaker"]
            assert cache.languages[batch.language[row]] == truth.clips[clip_id]["language"]
            assert truth.order[int(batch.positions[row])] == clip_id
        seen += batch.ids
    assert sorted(seen) == sorted(truth.order)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float16", np.float16])
def test_conversion_is_that_of_numpy(form, dtype, caches, truths):
    truth = truths(form)
    for batch in xp.open(caches(form)).reader(batch_size=8, columns={"mel": dtype, "tokens": None}):
        assert batch.mel.dtype == np.dtype(dtype)
        for row, clip_id in enumerate(batch.ids):
            stored = truth.mels[clip_id].astype(np.float32)
            np.testing.assert_array_equal(batch.mel[row, : len(stored)], stored.astype(dtype))


def test_shapes_names_and_repr(cache):
    batch = next(iter(cache.reader(batch_size=8)))
    assert batch.columns == ("mel", "tokens") and "mel" in batch and len(batch) == batch.valid_count == 8
    assert batch.mel.shape == (8, MAX_FRAMES, MELS) and batch.tokens.shape == (8, MAX_TOKENS)
    assert batch.tokens_len is batch.text_len is batch.lengths("tokens") and batch.bucket == 0
    assert repr(batch) == "<Batch of 8 clips: mel [8, 64, 80] float32, tokens [8, 48] int32>"
    assert {"mel", "mel_len", "text_len", "speaker"} <= set(dir(batch))
    with pytest.raises(AttributeError, match="there is no column 'mell'"):
        batch.mell
    with pytest.raises(xp.NotFoundError, match="did you mean 'mel'"):
        batch["mell"]
    with pytest.raises(AttributeError):
        batch.nothing_len
    assert not hasattr(batch, "_nothing")


def test_chosen_columns_in_the_order_of_the_request(cache, truth):
    batch = next(iter(cache.reader(columns=["tokens"], batch_size=8)))
    assert batch.columns == ("tokens",)
    batch = next(iter(cache.reader(columns=["tokens", {"name": "mel", "pad_value": 7.5}], batch_size=8)))
    assert batch.columns == ("tokens", "mel")
    for row, clip_id in enumerate(batch.ids):
        np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id, pad_value=7.5))
    batch = next(iter(cache.reader(columns={"mel": {"dtype": "float16", "pad_value": 1}}, batch_size=8)))
    for row, clip_id in enumerate(batch.ids):
        np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id, np.float16, 1))


def ids_of(reader):
    return [batch.ids for batch in reader]


@pytest.mark.parametrize("epoch", [0, 3])
@pytest.mark.parametrize("shuffle", ["none", "global", "window"])
def test_order_is_that_of_the_note(shuffle, epoch, cache):
    options = {"shuffle": shuffle, "seed": 42}
    if shuffle == "window":
        options |= {"stretch_samples": 4, "stretches_per_window": 3}
    sample = order_v1.sampler(shuffle, CLIPS, 42, epoch, 4, 3)
    expected = [[cache.ids[sample(place)] for place in range(first, first + 8)] for first in range(0, CLIPS - 7, 8)]
    reader = cache.reader(batch_size=8, **options)
    reader.set_epoch(epoch)
    assert ids_of(reader) == expected and len(reader) == len(expected) == 4


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("world_size", [2, 3])
def test_ranks_share_the_sequence(world_size, drop_last, cache):
    sample = order_v1.sampler("global", CLIPS, 9, 1, 1, 1)
    count, batches = steps(CLIPS, 5, world_size, drop_last)
    of_ranks = []
    for rank in range(world_size):
        reader = cache.reader(batch_size=5, seed=9, rank=rank, world_size=world_size, drop_last=drop_last)
        reader.set_epoch(1)
        of_ranks.append(ids_of(reader))
        assert len(of_ranks[-1]) == len(reader) == count
    expected = [[cache.ids[sample(place)] for place in places] for places in batches]
    assert [of_ranks[rank][step] for step in range(count) for rank in range(world_size)] == expected


def steps(n, batch_size, world_size, drop_last):
    together = batch_size * world_size
    count = n // together if drop_last else -(-n // together)
    return count, [range(first, min(first + batch_size, n)) for first in range(0, count * together, batch_size)]


def test_selection(cache, truth):
    def chosen(**options):
        return sorted(itertools.chain.from_iterable(ids_of(cache.reader(batch_size=4, drop_last=False, **options))))

    def by(field, value):
        return sorted(clip_id for clip_id, clip in truth.clips.items() if clip[field] == value)

    assert chosen() == sorted(truth.order)
    for split in ("train", "validation"):
        assert chosen(split=split) == by("split", split) != []
    assert chosen(where='speaker == "chen"') == by("speaker", "chen") != []
    assert chosen(where="seconds > 0.3", exclude=truth.order[:9]) == sorted(
        clip_id for clip_id, clip in truth.clips.items() if clip["seconds"] > 0.3 and clip_id not in truth.order[:9]
    )
    assert chosen(ids=truth.order[4:7]) == sorted(truth.order[4:7])
    assert chosen(ids=iter(truth.order[4:7]), exclude=(name for name in truth.order[:6])) == [truth.order[6]]


def test_weights_even_out_languages(cache, truth):
    reader = cache.reader(batch_size=10, weights={"by": "language", "temperature": 0, "draws": 40}, seed=3)
    drawn = [truth.clips[clip_id]["language"] for batch in reader for clip_id in batch.ids]
    assert len(drawn) == 40 and drawn.count("fa") == 20  # Farsi has 8 clips, English 29


def test_buckets_hold_clips_of_like_length(cache, truth):
    reader = cache.reader(
        buckets=[{"batch_size": 6, "mel": 30}, {"batch_size": 4, "mel": 45, "tokens": 20}, {}],
        batch_size=3,
        seed=1,
        drop_last=False,
    )
    seen = []
    for batch in reader:
        limit = (30, 45, MAX_FRAMES)[batch.bucket]
        assert batch.mel.shape == ((6, 4, 3)[batch.bucket], limit, MELS)
        assert batch.tokens.shape[1] == (MAX_TOKENS, 20, MAX_TOKENS)[batch.bucket]
        for row, clip_id in enumerate(batch.ids):
            assert (0, 31, 46)[batch.bucket] <= len(truth.mels[clip_id]) <= limit
            np.testing.assert_array_equal(batch.mel[row], truth.padded_mel(clip_id, frames=limit))
        seen += batch.ids
    assert sorted(seen) == sorted(truth.order)
    state = reader.state_dict()
    assert state["epoch"] == 1 and state["bucket_samples_consumed"] == [0, 0, 0]


@pytest.mark.parametrize("form", ["lmdb-padded-float32", "hdf5-packed-float32"])
def test_crops_are_pieces_from_seeded_places(form, caches, truths):
    truth, cache = truths(form), xp.open(caches(form))
    frames = 16
    sample = order_v1.sampler("global", CLIPS, 8, 2, 1, 1)
    reader = cache.reader(batch_size=6, seed=8, crop={"frames": frames})
    reader.set_epoch(2)
    place = 0
    for batch in reader:
        assert batch.mel.shape == (6, frames, MELS)
        for row, clip_id in enumerate(batch.ids):
            assert clip_id == truth.order[sample(place)]
            mel = truth.mels[clip_id]
            first = 0 if len(mel) <= frames else order_v1.crop_choice(8, 2, place, len(mel) - frames + 1)
            expected = np.full((frames, MELS), PADDING, np.float32)
            expected[: len(mel)] = mel[first : first + frames]
            np.testing.assert_array_equal(batch.mel[row], expected)
            place += 1
    assert place == 36


@pytest.mark.parametrize("reading", ["mapped", "direct"])
@pytest.mark.parametrize("form", ["lmdb-padded-float32", "hdf5-packed-bfloat16"])
def test_same_batches_however_they_are_read(form, reading, caches, truths):
    truth, cache = truths(form), xp.open(caches(form))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        reader = cache.reader(batch_size=8, seed=2, reading=reading, columns={"mel": "float32", "tokens": None})
    for batch in reader:
        truth.check(batch)
    stats = reader.stats()
    assert stats.storage and stats.reading and stats.batch_count == 4
    assert bool(told) == (not stats.reading.startswith(reading))


def test_a_reading_that_was_replaced_is_told(cache):
    # Records of tokens are too small for the disk to be asked past the page cache.
    with pytest.warns(UserWarning, match="reading='direct' cannot be had here.* takes 'mapped': .*small") as told:
        cache.reader(batch_size=8, reading="direct", columns=["tokens"])
    assert told[0].filename == __file__


def test_same_batches_for_any_number_of_threads(cache):
    runs = []
    for threads in (1, 3):
        runs.append(
            [
                (batch.ids, batch.mel.tobytes())
                for batch in cache.reader(batch_size=8, seed=2, threads=threads, prefetch=3)
            ]
        )
    assert runs[0] == runs[1]
