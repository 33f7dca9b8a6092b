"""Ranks, and batches as tensors of PyTorch: over a slot's memory, in memory of their own, page-locked, or on a device."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from .._base.arrays import Array
from .._base.errors import InvalidArgumentError, UnsupportedError
from .._base.frameworks import framework
from .._cache.batch import Batch
from .._loaders.fields import FieldDict, Fields

torch: Any = framework("torch", "torch")


def share() -> tuple[int, int]:
    """(rank, world size) of `torch.distributed`; (0, 1) where there is one process.

    Where a launcher has started several and `torch.distributed` is not initialized, all would read the same: an error.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    launched = os.environ.get("WORLD_SIZE", "1")
    if launched not in ("", "1"):
        raise InvalidArgumentError(
            f"WORLD_SIZE is {launched}, but torch.distributed is not initialized: call "
            "init_process_group() before the first batch, "
            "or say rank= and world_size="
        )
    return 0, 1


def checked_device(device: Any) -> Any:
    """The argument `device`."""
    try:
        known = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InvalidArgumentError(f"device is {device!r}: {str(error).splitlines()[0]}") from None
    if known.type == "cuda" and not torch.cuda.is_available():
        raise UnsupportedError(
            f"device is {device!r}, and PyTorch finds no CUDA (torch.cuda.is_available() is False): use device='cpu'"
        )
    return known


class TensorBatch(FieldDict):
    """A batch of tensors, by name: `batch.mel` [B, 800, 80], `batch.mel_len` int32 [B]; a dict for whoever wants one.

    `ids` is a list of texts. Rows without a clip have length 0, and come last.
    """

    def to(self, device: Any, non_blocking: bool = False) -> TensorBatch:
        """The same on a device (or as a dtype)."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self, device: Any = None) -> TensorBatch:
        """The same in page-locked memory."""
        return self._each(lambda tensor: tensor.pin_memory())

    def _each(self, change: Any) -> TensorBatch:
        return type(self)(
            (name, change(value) if isinstance(value, torch.Tensor) else value) for name, value in self.items()
        )


class HostTensors:
    """Makes batches in the CPU's memory: "in place" or "slot" over the batch's own, which is copied for "slot" where it is the cache's
    file; "own" or "pinned" as copies."""

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
        # A slot may be written: it is filled anew, whole, when nobody holds it. The cache's file may not.
        shown = torch.utils.dlpack.from_dlpack(array._capsule())
        if self._kind == "pinned":
            return torch.empty(shown.shape, dtype=shown.dtype, pin_memory=True).copy_(shown)
        is_shared = self._kind == "in place" or (self._kind == "slot" and not is_file)
        return shown if is_shared else shown.clone()


class FromNumpy:
    """Arrays as tensors of their own, which may be written and kept: page-locked, or on a device. Can be pickled."""

    def __init__(self, device: Any, pins: bool) -> None:
        self._device = checked_device(device)
        self._pins = pins

    def __call__(self, array: Any) -> Any:
        tensor = torch.from_numpy(np.array(array))
        if self._pins and self._device.type == "cpu" and torch.cuda.is_available():
            return tensor.pin_memory()
        return tensor.to(self._device)


class DeviceTensors:
    """Begins the copy to a device, on a stream of its own; `finish()` makes the stream that computes wait for it."""

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
            # The page-locked memory of `host` is PyTorch's own, which gives it to nobody before this stream has read it.
            moved = host.to(self._device, non_blocking=True)
            return moved, self._stream.record_event()

    def finish(self, made: Any) -> TensorBatch:
        """What __call__() made, for the stream that is current now."""
        moved: TensorBatch
        moved, copied = made
        if copied is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(copied)
            for value in moved.values():
                if isinstance(value, torch.Tensor):
                    value.record_stream(stream)
        return moved
