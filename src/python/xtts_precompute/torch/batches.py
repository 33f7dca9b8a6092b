"""Ranks, and batches as PyTorch tensors.

Tensors lie over a slot's memory, in memory of their own, in page-locked memory, or on a device.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from .._base.arrays import Array
from .._base.errors import InvalidArgumentError, UnsupportedError
from .._base.frameworks import framework
from .._base.words import counted
from .._cache.batch import Batch
from .._loaders.fields import FieldDict, Fields

torch: Any = framework("torch", "torch")


def share() -> tuple[int, int]:
    """Returns (rank, world size) of `torch.distributed`; (0, 1) if there is one process.

    Raises InvalidArgumentError if a launcher has started several processes and `torch.distributed`
    is not initialized: all of them would read the same.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    launched = os.environ.get("WORLD_SIZE", "1")
    if launched not in ("", "1"):
        raise InvalidArgumentError(
            f"WORLD_SIZE is {launched}, but torch.distributed is not initialized: call "
            "init_process_group() before the first batch, "
            "or give rank= and world_size="
        )
    return 0, 1


def checked_device(device: Any) -> Any:
    """Returns the argument `device` as a torch.device; raises if it does not exist.

    "auto" is CUDA if PyTorch finds it, else the CPU.
    """
    if isinstance(device, str) and device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        known = torch.device(device)
    except (RuntimeError, TypeError):
        hint = "; pin_memory=True makes page-locked batches on the CPU" if device == "pinned" else ""
        raise InvalidArgumentError(
            f"device is {device!r}, but must be cpu, cuda, cuda:N, auto, or another device of PyTorch's{hint}"
        ) from None
    if known.type == "cuda":
        _check_cuda(device, known)
    elif known.type != "cpu":
        try:
            torch.empty(0, device=known)
        except Exception as error:  # each kind of device has its own
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise UnsupportedError(f"device is {device!r}, which PyTorch cannot use here: {why}") from None
    return known


def _check_cuda(device: Any, known: Any) -> None:
    if not torch.cuda.is_available():
        raise UnsupportedError(
            f"device is {device!r}, and PyTorch finds no CUDA (torch.cuda.is_available() is False): use device='cpu'"
        )
    if known.index is not None and known.index >= torch.cuda.device_count():
        found = counted(torch.cuda.device_count(), "GPU, and the first is", "GPUs, and the first is")
        raise UnsupportedError(f"device is {device!r}, but PyTorch finds {found} cuda:0")


class TensorBatch(FieldDict):
    """A batch of PyTorch tensors, by name: `batch.mel` [B, 800, 80], `batch.mel_len` int32 [B].

    It is a dict. Rows without a clip come last, with length 0. `ids` is a list of texts.
    """

    def to(self, device: Any, non_blocking: bool = False) -> TensorBatch:
        """Returns the batch on a device, or as a dtype."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self, device: Any = None) -> TensorBatch:
        """Returns the batch in page-locked memory."""
        return self._each(lambda tensor: tensor.pin_memory())

    def _each(self, change: Any) -> TensorBatch:
        return type(self)(
            (name, change(value) if isinstance(value, torch.Tensor) else value) for name, value in self.items()
        )


class HostTensors:
    """Makes batches in the CPU's memory.

    "in place": over the batch's own memory. "slot": the same, but a copy where that memory is the
    cache's file. "own": copies. "pinned": page-locked copies.
    """

    def __init__(self, fields: Fields, kind: Literal["in place", "slot", "own", "pinned"]) -> None:
        self._fields = fields
        self._kind = kind

    def __call__(self, batch: Batch) -> TensorBatch:
        made = TensorBatch()
        for name, array in self._fields.arrays(batch).items():
            made[name] = (
                array if isinstance(array, list) else self._tensor(array, name in batch.columns and batch.is_view(name))
            )
        return made

    def _tensor(self, array: Array, is_file: bool) -> Any:
        # PyTorch may write to a slot, which is filled anew, whole, when nobody holds it. It may not
        # write to the cache's file.
        shown = torch.utils.dlpack.from_dlpack(array._capsule())
        if self._kind == "pinned":
            return torch.empty(shown.shape, dtype=shown.dtype, pin_memory=True).copy_(shown)
        is_shared = self._kind == "in place" or (self._kind == "slot" and not is_file)
        return shown if is_shared else shown.clone()


class GpuTensors:
    """Makes batches of tensors over a slot's memory on the reader's GPU, without a copy.

    The stream that is current waits until the numbers are there, and the host does not.
    """

    def __init__(self, fields: Fields, device: Any) -> None:
        self._fields = fields
        self._device = device

    def __call__(self, batch: Batch) -> TensorBatch:
        # PyTorch's 0 is the legacy default stream, which DLPack calls 1.
        batch.let_wait(torch.cuda.current_stream(self._device).cuda_stream or 1)
        made = TensorBatch()
        for name, array in self._fields.device_arrays(batch).items():
            made[name] = array if isinstance(array, list) else torch.utils.dlpack.from_dlpack(array._capsule())
        return made


class FromNumpy:
    """Makes tensors from arrays, with memory of their own: page-locked, or on a device.

    The tensors may be written and kept. A FromNumpy can be pickled.
    """

    def __init__(self, device: Any, pins: bool) -> None:
        self._device = checked_device(device)
        self._pins = pins

    def __call__(self, array: Any) -> Any:
        tensor = torch.from_numpy(np.array(array))
        if self._pins and self._device.type == "cpu" and torch.cuda.is_available():
            return tensor.pin_memory()
        return tensor.to(self._device)


class DeviceTensors:
    """Begins a batch's copy to a device that the reader does not know, or cannot open.

    A GPU gets a stream of its own for it.

    `finish()` makes the stream that computes wait for the copy.
    """

    def __init__(self, fields: Fields, device: Any) -> None:
        self._device = device
        is_cuda = device.type == "cuda"
        self._host = HostTensors(fields, "pinned" if is_cuda else "in place")
        self._stream = torch.cuda.Stream(device) if is_cuda else None

    def __call__(self, batch: Batch) -> Any:
        host = self._host(batch)
        if self._stream is None:
            return host.to(self._device), None
        with torch.cuda.stream(self._stream):
            # The page-locked memory of `host` is PyTorch's own. PyTorch does not reuse it before
            # this stream has read it.
            moved = host.to(self._device, non_blocking=True)
            return moved, self._stream.record_event()

    def finish(self, made: Any) -> TensorBatch:
        """Returns the batch that __call__() made, for the stream that is current now."""
        moved: TensorBatch
        moved, copied = made
        if copied is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(copied)
            for value in moved.values():
                if isinstance(value, torch.Tensor):
                    value.record_stream(stream)
        return moved
