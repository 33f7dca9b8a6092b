"""Mels normalized by the corpus's statistics, against NumPy: by the reader, and baked by `convert`."""

import re

import numpy as np
import pytest
import xtts_precompute as xp
from conftest import CLIPS, FORMS
from support import MAX_FRAMES, MELS, PADDING, Truth, tell

CORPUS = {"mel": {"normalize": "corpus"}}


def by_numpy(mel, mean, std):
    """Returns NumPy's result, each operation rounded to float32: the package gives the same bits."""
    mean, divisor = np.float32(mean), np.float32(np.maximum(std, 1e-5))
    return (np.asarray(mel).astype(np.float32) - mean) / divisor


def check(reader, truth, mean, std, padding=PADDING, first=0):
    """Compares every number of an epoch; returns the number of rows."""
    rows = 0
    for batch in reader:
        assert batch.mel.dtype == np.float32
        for row, clip_id in enumerate(batch.ids):
            expected = by_numpy(truth.mels[clip_id], mean, std)
            np.testing.assert_array_equal(batch.mel[row, : len(expected)], expected, clip_id)
            assert (batch.mel[row, len(expected) :] == np.float32(padding)).all(), "padding is left alone"
            assert batch.mel_len[row] == len(expected)
            rows += 1
    return rows


def test_the_statistics_are_those_of_the_training_clips(cache, truth):
    frames = np.concatenate([truth.mels[c] for c in truth.order if truth.clips[c]["split"] == "train"]).astype(
        np.float64
    )
    stats = cache.stats["mel"]
    assert stats.frames == len(frames) and not stats.is_baked
    np.testing.assert_allclose(stats.mean, frames.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(stats.std, frames.std(axis=0), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shuffle", ["none", "global", "window"])
@pytest.mark.parametrize("form", FORMS)
def test_every_number_is_that_of_numpy(form, shuffle, caches, truths):
    cache = xp.open(caches(form))
    stats = cache.stats["mel"]
    columns = {"mel": {"normalize": "corpus", "dtype": "float32"}}
    reader = cache.reader(batch_size=8, shuffle=shuffle, drop_last=False, columns=columns)
    assert check(reader, truths(form), stats.mean, stats.std) == CLIPS
    assert reader.stats().batches_in_place == 0


def test_in_the_cache_s_own_dtype_it_is_rounded_last(caches, truths):
    form = "lmdb-packed-float16"
    cache, truth = xp.open(caches(form)), truths(form)
    stats = cache.stats["mel"]
    for batch in cache.reader(batch_size=8, columns=CORPUS):
        assert batch.mel.dtype == np.float16
        for row, clip_id in enumerate(batch.ids):
            expected = by_numpy(truth.mels[clip_id], stats.mean, stats.std).astype(np.float16)
            np.testing.assert_array_equal(batch.mel[row, : len(expected)], expected)


def test_buckets_and_crops_and_pad_values(cache, truth):
    stats = cache.stats["mel"]
    columns = {"mel": {"normalize": "corpus", "pad_value": 0}}
    buckets = [{"batch_size": 5, "mel": 30}, {"batch_size": 3}]
    assert (
        check(cache.reader(columns=columns, buckets=buckets, drop_last=False), truth, stats.mean, stats.std, padding=0)
        == CLIPS
    )
    cropped = cache.reader(batch_size=8, seed=3, columns=CORPUS, crop={"frames": 12})
    plain = cache.reader(batch_size=8, seed=3, columns=["mel"], crop={"frames": 12})
    for one, other in zip(cropped, plain):
        for row in range(8):
            length = other.mel_len[row]
            np.testing.assert_array_equal(
                one.mel[row, :length], by_numpy(other.mel[row, :length], stats.mean, stats.std)
            )


def test_numbers_of_ones_own(cache, truth):
    mean, std = np.linspace(-9, 2, MELS), np.linspace(0, 3, MELS)  # the first channel has the least divisor
    for pair in ((mean, std), [mean.tolist(), std.tolist()], xp.Statistics(mean, std, 0, False)):
        reader = cache.reader(batch_size=8, columns={"mel": {"normalize": pair}}, drop_last=False)
        assert check(reader, truth, mean, std) == CLIPS


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("corpse", r"did you mean 'corpus'"),
        (3, r"a pair \(mean, std\)"),
        ((1.0, 2.0), r"shapes \(\) and \(\), not \[channels\] each"),
        (([1.0], [2.0]), "it has 80 channels, and there are 1 means"),
        ((np.zeros(MELS), -np.ones(MELS)), "deviation of channel 0"),
        ((np.full(MELS, np.nan), np.ones(MELS)), "mean of channel 0"),
        ((["x"] * MELS, ["y"] * MELS), r"a pair \(mean, std\)"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(wish, message, cache):
    with pytest.raises(xp.InvalidArgumentError, match=message):
        cache.reader(columns={"mel": {"normalize": wish}})


def test_tokens_are_not_normalized(cache):
    with pytest.raises(xp.InvalidArgumentError, match="it holds int32"):
        cache.reader(columns={"tokens": {"normalize": "corpus"}})


def test_several_caches_want_to_be_told(path, second_path):
    both = xp.open([path, second_path])
    with pytest.raises(xp.MismatchError, match="each cache has its own statistics"):
        both.stats
    with pytest.raises(xp.MismatchError, match="give means and deviations"):
        both.reader(columns=CORPUS)
    stats = xp.open(path).stats["mel"]
    reader = both.reader(batch_size=4, columns={"mel": {"normalize": stats}}, drop_last=False)
    seen = 0
    for batch in reader:
        for row, clip_id in enumerate(batch.ids):
            np.testing.assert_array_equal(
                batch.mel[row, : batch.mel_len[row]], by_numpy(both[clip_id].mel, stats.mean, stats.std)
            )
            seen += 1
    assert seen == len(both)


@pytest.mark.parametrize("form", ["lmdb-padded-float32", "lmdb-packed-float16", "hdf5-packed-bfloat16"])
def test_a_baked_cache_gives_the_same_bits(form, caches, truths, tmp_path):
    raw = xp.open(caches(form))
    tell("convert", caches(form), tmp_path / "baked", "--bake", "corpus", "--quiet")
    baked = xp.open(tmp_path / "baked")
    stats = baked.stats["mel"]
    assert stats.is_baked and stats.frames == raw.stats["mel"].frames
    np.testing.assert_array_equal(stats.mean, raw.stats["mel"].mean)
    np.testing.assert_array_equal(stats.std, raw.stats["mel"].std)
    assert baked.features_fingerprint != raw.features_fingerprint
    # Baked statistics are not applied twice: the records come as they are stored.
    readers = [
        raw.reader(batch_size=6, seed=2, columns={**CORPUS, "tokens": None}),
        baked.reader(batch_size=6, seed=2),
        baked.reader(batch_size=6, seed=2, columns={**CORPUS, "tokens": None}),
    ]
    rows = 0
    for batches in zip(*readers):
        first = batches[0]
        for other in batches[1:]:
            assert other.ids == first.ids and other.mel.dtype == first.mel.dtype
            np.testing.assert_array_equal(np.asarray(other.mel), np.asarray(first.mel))
            np.testing.assert_array_equal(other.tokens, first.tokens)
        rows += len(first.ids)
    assert rows == CLIPS // 6 * 6
    if form == "lmdb-padded-float32":
        (batch,) = baked.reader(batch_size=CLIPS, shuffle="none", columns=CORPUS)
        assert batch.mel.shape == (CLIPS, MAX_FRAMES, MELS)
        clip = truths(form).order[0]
        undone = baked[clip].mel * np.maximum(stats.std, 1e-5) + stats.mean
        np.testing.assert_allclose(undone, truths(form).mels[clip], atol=2e-5)


def test_a_baked_cache_is_told_apart(path, tmp_path):
    tell("convert", path, tmp_path / "baked", "--bake", "corpus", "--quiet")
    with pytest.raises(xp.MismatchError, match=re.escape(str(tmp_path / "baked"))):
        xp.open([path, tmp_path / "baked"])
    assert Truth(tmp_path / "baked", tmp_path / "truth").order == list(xp.open(path).ids)
