"""Batches in a GPU's memory, over the adversarial driver of tests/support/cuda_driver.

It needs no GPU. Its device memory cannot be touched by the host, and it notes every breach of the
driver's rules.
"""

from pathlib import Path

import pytest
import xtts_precompute as xp
from cuda_support import needs_driver, run

pytestmark = needs_driver


@pytest.mark.parametrize("form", ["lmdb-padded-float32", "lmdb-packed-float16", "hdf5-packed-bfloat16"])
def test_batches_are_those_of_the_cpu(caches, form):
    body = """
options = {"batch_size": 8, "seed": 3, "drop_last": False}
options["columns"] = [{"name": "mel", "dtype": "float32"}, "tokens"]
channels = cache.columns["mel"].shape[1]
options["columns"][0]["normalize"] = ([0.5] * channels, [2.0] * channels)
count = 0
for batch, expected in zip(cache.reader(**options, device="cuda"), cache.reader(**options)):
    batch.wait()
    for name in ("mel", "tokens"):
        assert isinstance(batch[name], xp.DeviceArray) and batch[name].device == batch.device == "cuda:0"
        assert same(batch[name], expected[name]), name
    for name in ("mel_len", "text_len", "speaker", "language"):
        assert np.array_equal(getattr(batch, name), getattr(expected, name))
        assert same(batch.on_device(name), getattr(expected, name))
    assert batch.ids == expected.ids
    count += 1
result["count"] = count
del batch, expected
"""
    assert run(caches(form), body) == {"count": 5}


@pytest.mark.parametrize("seed", range(5))
def test_a_stream_waits_and_the_batch_may_be_dropped(path, seed):
    body = """
stream = driver.fake_cuda_make_stream(0, 0)
reader = cache.reader(batch_size=8, seed=seed, device="cuda")
expected = [np.array(batch.mel) for batch in cache.reader(batch_size=8, seed=seed)]
seen = []
for batch in reader:
    capsule = batch.mel.__dlpack__(stream=stream)
    seen.append(np.empty(batch.mel.shape, np.float32))
    driver.fake_cuda_launch_read(stream, batch.mel._memory.address, seen[-1].nbytes, seen[-1].ctypes.data)
    del capsule
del batch
driver.fake_cuda_finish(stream)
reader.close()
result["same"] = [bool(np.array_equal(a, b)) for a, b in zip(seen, expected)]
del reader
"""
    assert run(path, body, seed) == {"same": [True] * 4}


def test_a_capsule_names_the_gpu_and_keeps_the_slot(path):
    body = """
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("kind", ctypes.c_int32), ("number", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
reader = cache.reader(batch_size=8, device="cuda:0", prefetch=3)
batch = next(reader)
array = batch.mel
capsule = array.__dlpack__(stream=1)
tensor = ctypes.cast(pointer(capsule, b"dltensor"), ctypes.POINTER(Tensor)).contents
shape = list(array.shape)
result["shape"] = [tensor.shape[i] for i in range(3)] == shape
result["strides"] = [tensor.strides[i] for i in range(3)] == [shape[1] * shape[2], shape[2], 1]
result["tensor"] = [tensor.kind, tensor.number, tensor.code, tensor.bits, tensor.data == array._memory.address]
for wrong in ({"stream": 0}, {"copy": True}, {"dl_device": (1, 0)}):
    try:
        array.__dlpack__(**wrong)
    except BufferError as error:
        result[str(*wrong)] = str(error)
for use in (np.asarray, lambda it: it[0], list):
    try:
        use(array)
    except TypeError as error:
        assert "cuda:0" in str(error) or "iter" in str(error), error
address = array._memory.address
del array, batch
held = [next(reader).mel for _ in range(2)]
assert address not in [one._memory.address for one in held]
del held, capsule, tensor
reader.close()
del reader
"""
    result = run(path, body)
    assert result.pop("shape") and result.pop("strides") and result.pop("tensor") == [2, 0, 2, 32, True]
    assert "legacy default stream" in result["stream"] and "copy it with" in result["copy"]
    assert "not on (1, 0)" in result["dl_device"]


def test_pinned_slots_are_the_cpus(path):
    body = """
reader = cache.reader(batch_size=8, seed=3, device="pinned")
for batch, expected in zip(reader, cache.reader(batch_size=8, seed=3)):
    assert isinstance(batch.mel, xp.Array) and batch.device == "cpu" and np.array_equal(batch.mel, expected.mel)
driver.fake_cuda_call_count.restype = ctypes.c_uint64
result["locked"] = driver.fake_cuda_call_count(b"cuMemHostRegister") >= 4
result["notice"] = reader.stats().notice
del batch, expected
reader.close()
del reader
"""
    assert run(path, body) == {"locked": True, "notice": ""}


def test_the_limit_on_memory_is_kept(path):
    body = """
try:
    cache.reader(batch_size=8, device="cuda", device_memory=1000)
except xp.ResourceError as error:
    result["error"] = str(error)
"""
    assert "raise device_memory" in run(path, body)["error"]


def test_a_forked_child_is_told(path):
    body = """
import os
reader = cache.reader(batch_size=8, device="cuda")
next(reader)
child = os.fork()
if child == 0:
    try:
        cache.reader(batch_size=8, device="cuda")
    except xp.UnsupportedError as error:
        os._exit(3 if "spawn" in str(error) else 4)
    os._exit(5)
result["status"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
reader.close()
del reader
"""
    assert run(path, body) == {"status": 3}


def test_auto_takes_the_gpu(path):
    body = """
reader = cache.reader(batch_size=8, device="auto")
result["device"] = next(reader).device
reader.close()
del reader
"""
    assert run(path, body) == {"device": "cuda:0"}


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is a GPU here")
def test_without_a_driver_the_reason_is_told(cache):
    with pytest.raises(xp.UnsupportedError, match="no NVIDIA driver.*take the device 'cpu'"):
        cache.reader(device="cuda")
    for device in ("auto", "pinned"):
        with cache.reader(batch_size=8, device=device) as reader:
            assert next(reader).device == "cpu"
            assert "no NVIDIA driver" in reader.stats().notice


def test_an_unknown_device_is_told(cache):
    with pytest.raises(xp.UnsupportedError, match="there is: cpu, pinned, cuda, cuda:N, auto"):
        cache.reader(device="cuda:x")
