"""Values that a dtype cannot hold: an error that names clip, column, value and remedy, or the dtype's largest."""

import re

import numpy as np
import pytest
import xtts_precompute as xp
from support import make_corpus
from xtts_precompute._base.arrays import numpy_dtype
from xtts_precompute._loaders.ranges import fitted

LARGEST = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127")}
BIG = {"float16": 70000.0, "bfloat16": 3.4e38}
WIDER = {"float16": "bfloat16 or float32", "bfloat16": "float32"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One clip's `big` is beyond float16, its `huge` beyond bfloat16, its `number` beyond int32."""
    folder = tmp_path_factory.mktemp("range")
    make_corpus(folder / "data", 7)
    xp.build(folder / "data", folder / "cache", progress=False)
    cache = xp.open(folder / "cache")
    odd = cache[4].id

    def add(name, value, dtype):
        def record(clip):
            return np.array([1, -value if clip.id == odd else 2, value if clip.id == odd else 3], dtype)

        return cache.add_column(name, record, axis="fixed", progress=False)

    for name, value in BIG.items():
        cache = add(name, value, np.float32)
    return add("number", 2**40, np.int64)


def ids_before(reader, name):
    """Returns the ids of an epoch's batches, and the error that one of them gave."""
    found, refused = [], None
    while True:
        try:
            found += next(reader).ids
        except StopIteration:
            return found, refused
        except xp.InvalidArgumentError as error:
            assert refused is None
            refused = str(error)


@pytest.mark.parametrize("dtype", LARGEST)
def test_the_batch_is_refused_and_the_others_come(cache, dtype):
    numpy_dtype(dtype, "")
    reader = cache.reader(batch_size=1, columns={dtype: dtype}, shuffle="none")
    found, refused = ids_before(iter(reader), dtype)
    assert found == [clip.id for clip in cache if clip.id != cache[4].id]
    assert refused.startswith(f"column '{dtype}' of clip {cache[4].id} holds -")
    assert f", which {dtype} cannot hold: read the column as {WIDER[dtype]}, or set on_range to clip" in refused


@pytest.mark.parametrize("dtype", LARGEST)
def test_clip_gives_the_largest_and_counts(cache, dtype):
    reader = cache.reader(batch_size=7, columns={dtype: dtype}, shuffle="none", on_range="clip")
    numbers = next(iter(reader))[dtype].astype(np.float64)
    assert np.isfinite(numbers).all()
    assert numbers[4].tolist() == [1, -LARGEST[dtype], LARGEST[dtype]]
    assert reader.stats().saturated_count == 2


def test_a_choice_that_there_is_not_is_refused(cache):
    with pytest.raises(xp.InvalidArgumentError, match="did you mean 'clip'"):
        cache.reader(on_range="clipp")


@pytest.mark.parametrize("dtype", LARGEST)
def test_the_frameworks_step_is_the_readers(dtype):
    """What Python converts has the reader's numbers and words."""
    numbers = np.array([[1, BIG[dtype]], [-BIG[dtype], np.inf], [np.nan, 5]], np.float32)
    wanted = numpy_dtype(dtype, "")
    with pytest.raises(xp.InvalidArgumentError, match=re.escape(f"row 0 holds {numbers[0, 1]}, which {dtype} cannot")):
        fitted(numbers, wanted, "raise", lambda row: f"row {row}", "read it whole")
    narrow, count = fitted(numbers, wanted, "clip", lambda row: "", "")
    assert count == 2 and narrow.dtype == wanted
    assert narrow.astype(np.float64)[:2].tolist() == [[1, LARGEST[dtype]], [-LARGEST[dtype], np.inf]]
    assert np.isnan(narrow[2, 0].astype(np.float32))


def test_integers_are_asked_too():
    numbers = np.array([[1, 2**31 - 1], [2**31, -(2**40)]], np.int64)
    with pytest.raises(xp.InvalidArgumentError, match="row 1 holds 2147483648, which int32 cannot hold: give more, or"):
        fitted(numbers, np.dtype(np.int32), "raise", lambda row: f"row {row}", "give more")
    narrow, count = fitted(numbers, np.dtype(np.int32), "clip", lambda row: "", "")
    assert count == 2 and narrow.tolist() == [[1, 2**31 - 1], [2**31 - 1, -(2**31)]]


def test_clips_by_position_in_torch(cache):
    torch = pytest.importorskip("torch")
    for dtype, largest in LARGEST.items():
        whole = xp.torch.ClipDataset(cache, columns={dtype: dtype})
        assert whole[3][dtype].tolist() == [1, 2, 3]
        with pytest.raises(xp.InvalidArgumentError, match=f"clip {cache[4].id} holds .* read the column as"):
            whole[4]
        clipped = xp.torch.ClipDataset(cache, columns={dtype: dtype}, on_range="clip")
        assert clipped[4][dtype].to(torch.float64).tolist() == [1, -largest, largest]
        assert clipped.saturated_count == 2


def test_batches_in_torch_workers(cache):
    torch = pytest.importorskip("torch")
    dataset = xp.torch.BatchDataset(cache, batch_size=7, columns={"float16": "float16"}, on_range="clip")
    (batch,) = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=1)
    assert torch.isfinite(batch.float16).all()


@pytest.mark.parametrize("framework", ["tensorflow", "jax"])
def test_integers_of_frameworks(cache, framework):
    pytest.importorskip(framework)
    module = getattr(xp, framework)
    with pytest.raises(xp.InvalidArgumentError, match=f"column 'number' of clip {cache[4].id} holds -1099511627776"):
        list(module.Loader(cache, batch_size=7, columns=["number"]))
    loader = module.Loader(cache, batch_size=7, columns=["number"], on_range="clip", shuffle="none")
    for batch in loader:
        assert np.asarray(batch.number)[4].tolist() == [1, -(2**31), 2**31 - 1]
    assert loader.stats().saturated_count == 2
