"""create_torch_loader(): the trainer's tuple as PyTorch tensors."""

import pickle
import warnings

import myxtts_support
import numpy as np
import pytest
import xtts_precompute as xp
from support import framework

torch = framework("torch")


def opened(path, keys=None, **options):
    return myxtts_support.opened(path, {"batch_size": 5, **(keys or {})}, **options)


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("pads", [True, False])
def test_batches_are_those_of_the_reader(path, drop_last, pads):
    dataset = opened(path, {"pad_to_fixed_length": pads})
    loader, reader = (
        dataset.create_torch_loader(drop_last=drop_last, ids=True),
        dataset.reader(drop_last=drop_last, ids=True),
    )
    assert len(loader) == len(reader)
    for _ in range(2):
        count = 0
        for batch, expected in zip(loader, reader, strict=True):
            assert [part.dtype for part in batch] == [torch.int32, torch.float32, torch.int32, torch.int32]
            assert batch.ids == expected.ids and batch.mel is batch[1]
            for tensor, array in zip(batch, expected, strict=True):
                assert tuple(tensor.shape) == array.shape and np.array_equal(tensor.numpy(), array)
            count += 1
        assert count == len(loader) > 1


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("pads", [True, False])
def test_batches_at_runtime_are_those_of_the_cache(corpus, path, drop_last, pads):
    stored = opened(path, {"pad_to_fixed_length": pads}).create_torch_loader(drop_last=drop_last, ids=True)
    keys = {"pad_to_fixed_length": pads, "preprocessing_mode": "runtime"}
    made = opened(path, keys, data=corpus).create_torch_loader(drop_last=drop_last, ids=True)
    count = 0
    for batch, expected in zip(made, stored, strict=True):
        assert batch.ids == expected.ids
        for tensor, other in zip(batch, expected, strict=True):
            assert tensor.dtype == other.dtype and torch.equal(tensor, other)
        count += 1
    assert count == len(stored) > 1


def test_the_state_goes_on(path):
    loader = opened(path).create_torch_loader(ids=True)
    ids = [batch.ids for batch in loader]
    loader.set_epoch(0)
    next(iter(loader))
    other = opened(path).create_torch_loader(ids=True)
    other.load_state_dict(loader.state_dict())
    assert [batch.ids for batch in other] == ids[1:]


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_pickled_loader_goes_on(corpus, path, mode):
    loader = opened(path, {"preprocessing_mode": mode}, data=corpus).create_torch_loader(ids=True)
    ids = [batch.ids for batch in loader]
    loader.set_epoch(0)
    next(iter(loader))
    assert [batch.ids for batch in pickle.loads(pickle.dumps(loader))] == ids[1:]


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_wrong_device_is_told_at_once(corpus, path, mode):
    dataset = opened(path, {"preprocessing_mode": mode}, data=corpus)
    with pytest.raises(xp.InvalidArgumentError, match="device is 'banana'"):
        dataset.create_torch_loader(device="banana")
    if not torch.cuda.is_available():
        with pytest.raises(xp.UnsupportedError, match="use device='cpu'"):
            dataset.create_torch_loader(device="cuda")


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_pin_memory_makes_page_locked_batches(corpus, path, mode):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA GPU here")
    loader = opened(path, {"preprocessing_mode": mode, "pin_memory": True}, data=corpus).create_torch_loader()
    assert all(part.is_pinned() for part in next(iter(loader)))


def test_prefetch_to_gpu_without_one_says_so(path):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.warns(
        UserWarning, match="PyTorch finds 0 GPUs, so there is no GPU 0: batches stay in the CPU's memory"
    ):
        loader = opened(path, {"prefetch_to_gpu": True, "pin_memory": True}).create_torch_loader()
    assert next(iter(loader)).mel.device.type == "cpu"


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"model_gpu": 1}, "model_gpu: PyTorch finds 0 GPUs, so there is no GPU 1"),
        ({"data_gpu": 0}, "data_gpu: PyTorch finds 0 GPUs, so there is no GPU 0"),
        ({"data_gpu": 0, "model_gpu": 1}, "model_gpu: PyTorch finds 0 GPUs, so there is no GPU 1"),
        ({"data_gpu": None, "model_gpu": None}, None),
        ({}, None),
        ({"model_gpu": 1, "prefetch_to_gpu": False}, None),
    ],
)
def test_a_gpu_that_the_configuration_names_and_is_not_there_is_told(path, keys, told):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        opened(path, keys).create_torch_loader()
    assert [told in str(one.message) for one in found] == ([] if told is None else [True])


def test_two_gpus_prepare_batches_and_train(path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)

    def places(**keys):
        loader = opened(path, keys).create_torch_loader()
        return str(loader._device), loader._options.get("data_device")

    assert places(data_gpu=0, model_gpu=1) == ("cuda:1", "cuda:0")
    assert places(data_gpu=1, model_gpu=1) == places(model_gpu=1) == places(data_gpu=1) == ("cuda:1", None)
    assert places() == ("cuda:0", None)
    with pytest.warns(UserWarning, match="data_gpu: PyTorch finds 2 GPUs, so there is no GPU 5: cuda:1 receives"):
        assert places(data_gpu=5, model_gpu=1) == ("cuda:1", None)


def test_batches_go_to_the_models_gpu(path):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA GPU here")
    dataset = opened(path, {"prefetch_to_gpu": True, "model_gpu": 0})
    for batch, expected in zip(dataset.create_torch_loader(), dataset.reader(), strict=True):
        assert batch.mel.device == torch.device("cuda:0") and np.array_equal(batch.mel.cpu().numpy(), expected.mel)
