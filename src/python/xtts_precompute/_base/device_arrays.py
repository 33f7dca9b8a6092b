"""Arrays in a GPU's memory, for frameworks that take them by DLPack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import _core

_KINDS = {"float32": (2, 32), "float16": (2, 16), "bfloat16": (4, 16), "int32": (0, 32), "int16": (0, 16)}
_KINDS.update({"int64": (0, 64), "uint8": (1, 8)})
_DEVICES = {2: "cuda"}
_LEGACY_STREAM = 1  # the default stream, in the numbers of DLPack's protocol
_NO_ORDER = -1  # the consumer takes care of the order by itself


class DeviceArray:
    """A column of a batch in a GPU's memory, which DLPack hands over without a copy.

        mel = torch.from_dlpack(batch.mel)

    `torch.from_dlpack()` and its like make their current stream wait until the numbers are there;
    the host does not wait. The tensor keeps the batch's slot. The slot is not filled again before
    the work is done that this stream had been given when the batch and its tensors were dropped.
    For work on other streams, call `batch.let_wait(stream)`, too.
    """

    __slots__ = ("_let_wait", "_memory", "dtype", "shape")

    def __init__(
        self, memory: _core.Memory, dtype: str, shape: tuple[int, ...], let_wait: Callable[[int], None]
    ) -> None:
        self._memory = memory
        self._let_wait = let_wait
        self.shape = shape
        """As of a NumPy array."""
        self.dtype = dtype
        """The name of the numbers' type: "float32"."""

    @property
    def device(self) -> str:
        """Where the numbers lie: "cuda:0"."""
        kind, number = self._memory.device
        return f"{_DEVICES.get(kind, f'device {kind}')}:{number}"

    def __len__(self) -> int:
        return self.shape[0]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._memory.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Returns a DLPack capsule, for work on `stream`, which waits until the numbers are there.

        `stream` is a handle. None and 1 are the legacy default stream; with -1 nothing waits. Raises
        BufferError for a copy and for another device.
        """
        if copy:
            raise BufferError(f"the batch on {self.device} is handed over as it is: copy it with your framework")
        if dl_device is not None and tuple(dl_device) != self._memory.device:
            raise BufferError(f"the array is on {self.device}, not on {tuple(dl_device)}")
        if stream == 0:
            raise BufferError("stream 0 means two things in CUDA: give 1 for the legacy default stream")
        if stream != _NO_ORDER:
            self._let_wait(_LEGACY_STREAM if stream is None else int(stream))
        return self._capsule(is_versioned=max_version is not None and max_version[0] >= 1)

    def _capsule(self, *, is_versioned: bool = False) -> Any:
        """Returns a capsule, and lets nobody wait."""
        kind, bits = _KINDS[self.dtype]
        strides = [1] * len(self.shape)
        for axis in range(len(self.shape) - 1, 0, -1):
            strides[axis - 1] = strides[axis] * self.shape[axis]
        return _core.dlpack_of_memory(
            is_versioned, self._memory, self._memory.address, list(self.shape), strides, kind, bits
        )

    def __array__(self, *arguments: Any, **named: Any) -> NoReturn:
        raise TypeError(
            f"this array lies on {self.device}, where NumPy cannot read it: torch.from_dlpack(array).cpu().numpy(), "
            'or open the reader with device="cpu"'
        )

    def __getitem__(self, index: Any) -> NoReturn:
        raise TypeError(f"this array lies on {self.device}: torch.from_dlpack(array) makes a tensor that has rows")

    __iter__ = None  # Python would try array[0], array[1], ...

    def __repr__(self) -> str:
        return f"<DeviceArray {list(self.shape)} {self.dtype} on {self.device}>"
