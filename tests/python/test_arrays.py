"""Arrays: read-only, without copies, alive while they are held; DLPack in both directions."""

import gc
import weakref

import numpy as np
import pytest
import xtts_precompute as xp


@pytest.fixture(params=["copied", "in place", "record"])
def array(request, cache):
    if request.param == "record":
        return cache[0].mel
    reader = cache.reader(batch_size=8, shuffle="global" if request.param == "copied" else "none")
    batch = next(iter(reader))
    assert batch.is_view("mel") == (request.param == "in place")
    return batch.mel


def test_memory_is_aligned_and_cannot_be_written(array):
    assert isinstance(array, xp.Array) and isinstance(array, np.ndarray)
    assert array.ctypes.data % 256 == 0 and array.flags.c_contiguous and not array.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    for view in (array, array[1:], array.reshape(-1), np.asarray(array), array.view(np.ndarray)):
        with pytest.raises(ValueError):
            view.flags.writeable = True
    with pytest.raises(ValueError):
        np.add(array, 1, out=array)
    with pytest.raises((TypeError, BufferError)):
        memoryview(array).cast("B")[0] = 1


def test_results_are_ordinary_arrays(array):
    plain = np.asarray(array).copy()
    for result in (
        array * 2,
        np.exp(array),
        array + array,
        array.copy(),
        array.astype(np.float64),
        np.array(array),
        np.concatenate([array, array]),
        array.sum(axis=0),
        np.add.reduce(array),
        array @ array.swapaxes(-1, -2),
    ):
        assert type(result) is np.ndarray and result.flags.writeable
    np.testing.assert_array_equal(array * 2, plain * 2)
    assert isinstance(array.sum(), np.float32) and array.sum() == plain.sum()
    out = np.empty_like(plain)
    assert np.multiply(array, 2, out=out) is out
    plain += array
    assert type(plain) is np.ndarray


def test_masks_and_results_made_of_arrays_do_not_end_the_process(array):
    mask = np.zeros_like(array, dtype=bool)  # NumPy gives it the same class
    mask[0] = True
    assert isinstance(mask, xp.Array)
    plain, chosen = np.asarray(array), np.asarray(mask)
    np.testing.assert_array_equal(np.add(plain, 1, where=mask, out=plain.copy()), np.where(chosen, plain + 1, plain))
    assert array.mean(where=mask) == plain.mean(where=chosen) and np.sum(plain, where=mask) == plain.sum(where=chosen)
    out = np.zeros_like(array)
    assert np.add(array, 1, out=out) is out and (out == plain + 1).all()
    whole, part = np.zeros_like(array), np.zeros_like(array)
    results = np.modf(array, out=(part, whole))
    assert results[0] is part and results[1] is whole and (part + whole == plain).all()
    assert np.modf(array, None, whole)[1] is whole


def test_arrays_outlive_batch_reader_and_cache(path):
    cache = xp.open(path)
    reader = cache.reader(batch_size=8, seed=1)
    batch = next(iter(reader))
    view = batch.mel[2:5, ::2].T
    lengths, clip = batch.mel_len, cache[3].mel
    copies = [np.array(array) for array in (view, lengths, clip)]
    gone = weakref.ref(reader), weakref.ref(cache), weakref.ref(batch)
    del batch, reader, cache
    gc.collect()
    assert [reference() for reference in gone] == [None] * 3
    xp.open(path).reader(batch_size=8, seed=2)  # would reuse memory that had been freed
    for array, copy in zip((view, lengths, clip), copies):
        np.testing.assert_array_equal(array, copy)


def test_a_batch_moves_one_reference_and_no_bytes(cache):
    batch = next(iter(cache.reader(batch_size=8)))
    assert batch.mel is batch.mel is batch["mel"]
    one, other = batch.mel, batch.mel[3]
    assert other.ctypes.data == one.ctypes.data + 3 * one.strides[0]


def test_dlpack_shares_with_who_knows_read_only_memory(array):
    assert array.__dlpack_device__() == array._memory.device == (1, 0)
    capsule = array.__dlpack__(max_version=(1, 0))
    assert '"dltensor_versioned"' in repr(capsule)
    theirs = from_capsule(capsule)
    assert theirs.ctypes.data == array.ctypes.data and not theirs.flags.writeable
    np.testing.assert_array_equal(theirs, array)
    strided = array[1:, ::3]
    theirs = from_capsule(strided.__dlpack__(max_version=(1, 1)))
    assert theirs.strides == strided.strides
    np.testing.assert_array_equal(theirs, strided)


def test_dlpack_copies_for_who_does_not_know_it(array):
    for arguments in ({}, {"max_version": (0, 8)}, {"max_version": None, "stream": None, "copy": None}):
        capsule = array.__dlpack__(**arguments)
        assert '"dltensor"' in repr(capsule)
        theirs = from_capsule(capsule)
        assert theirs.ctypes.data != array.ctypes.data
        np.testing.assert_array_equal(theirs, array)
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__(copy=False)
    theirs = from_capsule(array.__dlpack__(max_version=(1, 0), copy=True))
    assert theirs.ctypes.data != array.ctypes.data and theirs.flags.writeable
    for arguments in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            array.__dlpack__(**arguments)


def test_dlpack_keeps_the_slot(cache):
    reader = cache.reader(batch_size=8, prefetch=3)
    kept = [from_capsule(next(iter(reader)).mel.__dlpack__(max_version=(1, 0))) for _ in range(3)]
    with pytest.raises(xp.BusyError, match=r"all 3 batch slots .* \(prefetch=\)"):
        next(reader)
    del kept[0]
    assert next(reader) is not None


def test_memory_without_memory_shows_none():
    with pytest.raises(BufferError):
        memoryview(xp._core.Memory.__new__(xp._core.Memory))


class Producer:
    """An object for numpy.from_dlpack(), which hands over a given capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def from_capsule(capsule):
    if "dltensor_versioned" in repr(capsule) and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip(f"NumPy {np.__version__} does not read DLPack 1.0")
    return np.from_dlpack(Producer(capsule))


def test_torch_takes_arrays_without_a_copy(array):
    torch = pytest.importorskip("torch", minversion="2.9", reason="PyTorch before 2.9 does not ask for DLPack 1.0")
    shared = torch.from_dlpack(array)
    assert shared.data_ptr() == array.ctypes.data and tuple(shared.shape) == array.shape
    own = torch.from_dlpack(array, copy=True)
    before = np.array(array)
    own.add_(1)
    assert own.data_ptr() != array.ctypes.data and (array == before).all() and (own.numpy() == before + 1).all()


def test_jax_takes_arrays(array):
    jax = pytest.importorskip("jax")
    for take in (jax.numpy.asarray, jax.device_put, jax.numpy.from_dlpack):
        np.testing.assert_array_equal(take(array), array)


def test_numpy_takes_arrays_itself(array):
    theirs = np.from_dlpack(array)
    np.testing.assert_array_equal(theirs, array)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert theirs.ctypes.data == array.ctypes.data


def test_integers_and_positions(cache):
    batch = next(iter(cache.reader(batch_size=4, shuffle="none", drop_last=False)))
    assert batch.tokens.dtype == batch.mel_len.dtype == batch.speaker.dtype == batch.language.dtype == np.int32
    assert batch.positions.dtype == np.uint64
    for array in (batch.tokens, batch.mel_len, batch.speaker, batch.language, batch.positions):
        assert not array.flags.writeable
        np.testing.assert_array_equal(from_capsule(array.__dlpack__(max_version=(1, 0))), array)


def test_bfloat16_is_ml_dtypes_own(cache):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    batch = next(iter(cache.reader(batch_size=4, columns={"mel": "bfloat16"}, shuffle="none")))
    wide = next(iter(cache.reader(batch_size=4, columns=["mel"], shuffle="none")))
    assert batch.mel.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(batch.mel.astype(np.float32), wide.mel.astype(ml_dtypes.bfloat16).astype(np.float32))
    assert '"dltensor_versioned"' in repr(batch.mel.__dlpack__(max_version=(1, 0)))


def test_bfloat16_without_ml_dtypes_says_what_to_do(cache, monkeypatch):
    monkeypatch.setitem(xp._base.arrays._DTYPES, "bfloat16", None)
    batch = next(iter(cache.reader(batch_size=4, columns={"mel": "bfloat16"})))
    with pytest.raises(xp.UnsupportedError, match="pip install ml_dtypes, or ask for numbers"):
        batch["mel"]


def test_selections_of_rows_are_numpys_own(array):
    rows = array[[0, 1]]
    assert rows.flags.writeable
    theirs = from_capsule(rows.__dlpack__())
    assert theirs.ctypes.data == rows.ctypes.data
    np.testing.assert_array_equal(theirs, array[:2])
    np.testing.assert_array_equal(np.from_dlpack(rows), array[:2])
