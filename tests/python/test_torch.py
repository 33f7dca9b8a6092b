"""xp.torch.Loader: the same bytes, slots that come back, passes and states."""

import os
import pickle
import re
import signal
import subprocess
import sys

import pytest
import xtts_precompute as xp
from cuda_support import needs_driver, run
from support import ALL_FIELDS, SOME_FORMS, framework, grown_kib

torch = framework("torch")

from torch_support import ids_of, same_bytes  # noqa: E402

WAITS_FOR_SLOTS = True  # PyTorch lets go of batches, not the test


# ---- Loader: what batches are


@pytest.mark.parametrize("form", SOME_FORMS)
@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_batches_are_those_of_the_reader(form, shuffle, caches):
    cache = xp.open(caches(form))
    loader = xp.torch.Loader(cache, batch_size=8, shuffle=shuffle, seed=3, drop_last=False, fields=ALL_FIELDS)
    reader = cache.reader(batch_size=8, shuffle=shuffle, seed=3, drop_last=False)
    assert len(loader) == len(reader) == 5
    for batch, expected in zip(loader, reader):
        assert tuple(batch) == ALL_FIELDS and batch.mel is batch["mel"]
        for name in ("mel", "tokens"):
            assert str(batch[name].dtype) == f"torch.{expected[name].dtype}"
            assert same_bytes(batch[name], expected[name])
            assert same_bytes(batch[name.replace("tokens", "text") + "_len"], expected.lengths(name))
        assert same_bytes(batch.speaker, expected.speaker) and same_bytes(batch.language, expected.language)
        assert batch.ids == expected.ids + [""] * (8 - expected.valid_count)


def test_only_what_fields_need_is_read(cache):
    loader = xp.torch.Loader(cache, batch_size=8, fields=("text_len", "speaker"), seed=1)
    assert loader._options["columns"] == ["tokens"]
    assert tuple(next(iter(loader))) == ("text_len", "speaker")
    assert tuple(next(iter(xp.torch.Loader(cache, columns={"mel": "float16"}, batch_size=8)))) == (
        "mel",
        "mel_len",
        "speaker",
        "language",
    )


def test_a_batch_says_briefly_what_it_is(cache):
    batch = next(iter(xp.torch.Loader(cache, batch_size=2, fields=("mel", "mel_len", "ids"))))
    assert re.fullmatch(r"<TensorBatch: mel \[2, \d+, \d+\] float32, mel_len \[2\] int32, ids of 2>", repr(batch))
    batch = next(iter(xp.torch.Loader(cache, batch_size=2, fields=("mel", "mel_len"))))
    with pytest.raises(AttributeError, match=r"fields=\('mel', 'mel_len', 'ids'\) gives them"):
        batch.ids


def test_tensors_can_be_written_and_change_nothing_else(cache):
    for shuffle in ("global", "none"):
        loader = xp.torch.Loader(cache, batch_size=8, shuffle=shuffle, seed=5)
        for _ in range(3):
            for batch in loader:
                for tensor in batch.values():
                    tensor.mul_(0).add_(77)
        reader = cache.reader(batch_size=8, shuffle=shuffle, seed=5)
        loader.set_epoch(0)
        for batch, expected in zip(loader, reader):
            assert same_bytes(batch.mel, expected.mel) and same_bytes(batch.mel_len, expected.mel_len)


def test_in_place_shows_the_cache_itself(cache, path):
    # Both see the file through this process's mappings: the address tells whether there was a copy.
    def addresses(**options):
        loader = xp.torch.Loader(cache, batch_size=8, shuffle="none", **options)
        return [batch.mel.data_ptr() for batch in loader]

    expected = [batch.mel.ctypes.data for batch in cache.reader(batch_size=8, shuffle="none")]
    assert addresses(in_place=True) == expected and not set(addresses()) & set(expected)
    code = """
import sys, xtts_precompute as xp
loader = xp.torch.Loader(sys.argv[1], batch_size=8, shuffle="none", in_place=True)
next(iter(loader)).mel.add_(1)
"""
    died = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False)
    assert died.returncode == -signal.SIGSEGV, died.stderr


def test_a_tensor_keeps_its_slot_and_gives_it_back(cache, monkeypatch):
    monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 0)
    loader = xp.torch.Loader(cache, batch_size=4, prefetch=3, seed=2)
    batches = iter(loader)
    kept = [next(batches).mel[1:, ::2] for _ in range(3)]
    copies = [tensor.clone() for tensor in kept]
    with pytest.raises(xp.BusyError, match="prefetch="):
        next(batches)
    del kept[0]
    assert next(batches).mel.shape == (4, 64, 80)
    loader.close()
    del loader, batches
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(kept, copies[1:]))


def test_no_slot_is_lost_to_exceptions(cache, monkeypatch):
    monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 0)
    loader = xp.torch.Loader(cache, batch_size=4, prefetch=3)

    def step(batch):
        loss = (batch.mel * 2).sum()
        raise RuntimeError(f"not today: {loss}")

    for _ in range(30):
        with pytest.raises(RuntimeError):
            for batch in loader:
                step(batch)
        del batch


def test_a_batch_moves_and_turns_into_what_it_is(cache):
    batch = next(iter(xp.torch.Loader(cache, batch_size=4, fields=ALL_FIELDS)))
    there = batch.to("meta")
    assert type(there) is xp.torch.TensorBatch and there.mel.device.type == "meta" and there.ids == batch.ids
    again = pickle.loads(pickle.dumps(batch))
    assert torch.equal(again.mel, batch.mel)
    with pytest.raises(AttributeError, match="did you mean 'mel'"):
        batch.mell


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_cuda_batches_are_the_same(cache):
    reader = cache.reader(batch_size=8, seed=3)
    for batch, expected in zip(xp.torch.Loader(cache, batch_size=8, seed=3, device="cuda"), reader):
        assert (
            batch.mel.is_cuda
            and same_bytes(batch.mel.cpu(), expected.mel)
            and same_bytes(batch.mel_len.cpu(), expected.mel_len)
        )
    assert next(iter(xp.torch.Loader(cache, batch_size=8, pin_memory=True))).mel.is_pinned()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_without_cuda_it_says_so(cache):
    with pytest.raises(xp.UnsupportedError, match="finds no CUDA"):
        xp.torch.Loader(cache, device="cuda:0")
    assert not next(iter(xp.torch.Loader(cache, batch_size=8, pin_memory=True))).mel.is_pinned()


@pytest.mark.parametrize("device", ["mps", "xpu", "xla"])
def test_a_device_that_pytorch_cannot_use_is_told_at_once(device, cache):
    try:
        torch.empty(0, device=device)
    except Exception:
        with pytest.raises(xp.UnsupportedError, match=f"device is '{device}', which PyTorch cannot use here: ."):
            xp.torch.Loader(cache, device=device)
    else:
        pytest.skip(f"there is a device {device}")


def test_auto_is_cuda_or_else_the_cpu(cache):
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    assert next(iter(xp.torch.Loader(cache, batch_size=8, device="auto"))).mel.device.type == kind


@pytest.fixture
def two_gpus(monkeypatch):
    """PyTorch says that there are two GPUs, of which the reader does not know."""
    if torch.cuda.is_available():
        pytest.skip("there is CUDA here")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_a_gpu_that_is_not_there_is_told_at_once(two_gpus, cache):
    xp.torch.Loader(cache, device="cuda:1")
    with pytest.raises(xp.UnsupportedError, match="'cuda:7', but PyTorch finds 2 GPUs, and the first is cuda:0"):
        xp.torch.Loader(cache, device="cuda:7")


def test_without_the_readers_gpus_pytorch_copies(two_gpus, cache):
    loader = xp.torch.Loader(cache, batch_size=8, device="cuda:1", data_device="cuda:0", data_device_memory=2**30)
    told = "PyTorch copies the batches to cuda:1, not the reader, and data_device and data_device_memory without effect"
    with pytest.warns(UserWarning, match=f"{told}: "):
        assert len(loader) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shufle": "none"}, "did you mean 'shuffle'"),
        ({"batch_size": 0}, "batch_size"),
        ({"fields": ("mell",)}, "did you mean 'mel'"),
        ({"fields": "mel"}, "list of names"),
        ({"rank": 1}, "go together"),
        ({"device": "gpu"}, "device is 'gpu', but must be cpu, cuda, cuda:N, auto, or another device of PyTorch's$"),
        ({"device": "pinned"}, "device is 'pinned', .*; pin_memory=True makes page-locked batches"),
        ({"device": 1.5}, "device is 1.5, but must be cpu"),
        ({"in_place": "no"}, "True or False"),
    ],
)
def test_wrong_arguments_are_told_at_once(options, message, cache):
    with pytest.raises(xp.Error, match=message):
        xp.torch.Loader(cache, **options)


# ---- Loader: passes and states


def test_each_pass_is_an_epoch(cache):
    loader = xp.torch.Loader(cache, batch_size=8, seed=9, fields=("ids",))
    reader = cache.reader(batch_size=8, seed=9)
    for epoch in range(3):
        assert loader.epoch == epoch
        reader.set_epoch(epoch)
        assert ids_of(loader) == ids_of(reader)
    assert loader.epoch == 3
    for _ in loader:
        break
    assert loader.epoch == 3
    reader.set_epoch(4)
    assert ids_of(loader) == ids_of(reader)


def test_one_pass_at_a_time(cache):
    loader = xp.torch.Loader(cache, batch_size=8)
    first = iter(loader)
    next(first)
    second = iter(loader)
    with pytest.raises(xp.InvalidArgumentError, match="make a second loader"):
        next(first)
    assert len([ids.mel_len for ids in second]) == 4


@pytest.mark.parametrize("device", ["cpu", "meta"])  # on the second, batches are made ahead
def test_a_state_goes_on_behind_the_last_batch(device, cache):
    options = {"batch_size": 4, "seed": 1, "fields": ("mel", "ids"), "device": device}
    whole = xp.torch.Loader(cache, **options)
    expected = [[batch.ids for batch in whole] for _ in range(3)]
    per_epoch = len(whole)
    for done in range(2 * per_epoch + 1):
        loader = xp.torch.Loader(cache, **options)
        count = 0
        while count < done:
            for _ in loader:
                count += 1
                if count == done:
                    break
        state = loader.state_dict()
        other = xp.torch.Loader(cache, **options)
        other.load_state_dict(state)
        epoch, place = divmod(done, per_epoch)
        assert other.epoch == epoch
        if done % 2:
            other.set_epoch(epoch)  # as trainers do before each epoch
        assert [batch.ids for batch in other] == expected[epoch][place:]
        if epoch < 2:
            assert [batch.ids for batch in other] == expected[epoch + 1]


def test_a_state_is_for_other_ranks_too(cache):
    one = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = ids_of(one)
    one.set_epoch(0)
    for _ in zip(range(2), one):
        pass
    found = []
    loaders = [
        xp.torch.Loader(cache, batch_size=2, seed=1, fields=("ids",), rank=rank, world_size=2) for rank in range(2)
    ]
    for loader in loaders:
        loader.load_state_dict(one.state_dict())
    for batches in zip(*loaders):
        found += ids_of(batches)
    assert found == expected[8:]


def test_a_pickled_loader_goes_on(cache):
    loader = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = [batch.ids for batch in loader]
    loader.set_epoch(0)
    batches = iter(loader)
    next(batches)
    assert [batch.ids for batch in pickle.loads(pickle.dumps(loader))] == expected[1:]
    assert [batch.ids for batch in batches] == expected[1:]


def test_a_forked_child_opens_its_own(cache):
    loader = xp.torch.Loader(cache, batch_size=4, seed=1, fields=("ids",))
    expected = ids_of(loader)
    loader.set_epoch(0)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, pickle.dumps(ids_of(loader)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pickle.loads(pipe.read()) == expected
    assert os.waitpid(child, 0)[1] == 0


def test_memory_stays_flat(path):
    code = """
import sys
import torch, xtts_precompute as xp

loader = xp.torch.Loader(sys.argv[1], batch_size=4)
layer = torch.nn.Linear(80, 8)
dataset = xp.torch.ClipDataset(loader.cache)

def epochs(count):
    for number in range(count):
        for batch in loader:
            layer(batch.mel).mean().backward()
            loader.state_dict()
        for batch in torch.utils.data.DataLoader(dataset, batch_size=16, collate_fn=dataset.collate):
            layer(batch.mel).mean().backward()
"""
    grown = grown_kib(code, 50, 100, path)
    assert grown < 4096, f"{grown} KiB more"


# PyTorch without CUDA makes no tensor over a GPU's memory. So this test takes its place, and looks
# at the capsules that the Loader gives it.
CAPSULES = """
import torch

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("kind", ctypes.c_int32), ("number", ctypes.c_int32)]

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
stream = driver.fake_cuda_make_stream(0, 0)

class Stream:
    cuda_stream = stream

torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 0
torch.cuda.current_stream = lambda device: Stream
torch.utils.dlpack.from_dlpack = lambda capsule: capsule
fields = ("mel", "tokens", "mel_len", "text_len", "speaker", "language", "ids")
loader = xp.torch.Loader(cache, batch_size=8, seed=3, device="cuda", fields=fields)
count = 0
for batch, expected in zip(loader, cache.reader(batch_size=8, seed=3)):
    assert tuple(batch) == fields and batch.ids == expected.ids
    for name in fields[:-1]:
        tensor = ctypes.cast(pointer(batch[name], b"dltensor"), ctypes.POINTER(Tensor)).contents
        assert (tensor.kind, tensor.number) == (2, 0)
        wanted = np.ascontiguousarray(getattr(expected, name))
        found = np.empty_like(wanted)
        driver.fake_cuda_launch_read(stream, tensor.data, found.nbytes, found.ctypes.data)
        driver.fake_cuda_finish(stream)
        assert found.tobytes() == wanted.tobytes(), name
        count += 1
result["count"] = count
del batch, expected, tensor
loader.close()
del loader
"""


@needs_driver
def test_a_gpus_batches_lie_in_the_slots(path):
    assert run(path, CAPSULES) == {"count": 24}
