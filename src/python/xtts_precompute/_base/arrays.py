"""Arrays over memory that the reader owns."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .errors import UnsupportedError

try:
    import ml_dtypes
except ImportError:
    _BFLOAT16: np.dtype[Any] | None = None
else:
    _BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

_CPU: tuple[Literal[1], Literal[0]] = (1, 0)  # DLPack's kDLCPU
_DLPACK_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_DLPACK_BFLOAT = 4
_NUMPY_KNOWS_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Array(np.ndarray[Any, np.dtype[Any]]):
    """A read-only NumPy array over the memory of a batch or record.

    The array keeps that memory, and with it the batch's slot, while the array or a view of it
    lives. Copy what you want to keep for long. The results of arithmetic, of `copy()` and of
    `astype()` are ordinary `numpy.ndarray`s.

    DLPack: a consumer that asks for version 1.0 or later, which can mark memory as read-only (NumPy
    from 2.1 on), gets this very memory. Any other consumer (JAX, as of 0.10) gets a copy, because
    it could write.

    PyTorch asks for 1.0 and writes all the same. An in-place operation on
    `torch.from_dlpack(array)` or `torch.from_numpy(array)` changes the batch, or ends the process
    where the memory is the cache's own file. `torch.from_dlpack(array, copy=True)` makes a tensor
    with its own memory.
    """

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # Every Array becomes a plain array. One that is left anywhere, as in where=, would make
        # NumPy call this function again until the stack is full.
        options = {name: _plain(value) for name, value in kwargs.items()}
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if "out" not in kwargs:
            return result
        # The caller gets the very arrays that it passed as out=.
        results = result if isinstance(result, tuple) else (result,)
        given = tuple(made if wanted is None else wanted for made, wanted in zip(results, kwargs["out"]))
        return given if isinstance(result, tuple) else given[0]

    def copy(self, order: Any = "C") -> Any:
        """Returns an ordinary, writable array with the same numbers."""
        return self.view(np.ndarray).copy(order)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns an ordinary array with these numbers converted to `dtype`."""
        return self.view(np.ndarray).astype(dtype, *args, **kwargs)

    def __dlpack_device__(self) -> tuple[Literal[1], Literal[0]]:
        return _CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Returns a DLPack capsule.

        Consumers of DLPack 1.0 and later get a capsule of this memory, marked read-only; others get
        one of a copy. Raises BufferError for a stream, a device other than the CPU, or `copy=False`
        with an older version.
        """
        if stream is not None:
            raise BufferError("the array is in the memory of the CPU, which has no streams")
        if dl_device is not None and tuple(dl_device) != _CPU:
            raise BufferError(f"the array is on the CPU, {_CPU}, not on {tuple(dl_device)}")
        knows_read_only = max_version is not None and max_version[0] >= 1
        memory = self._memory
        # An array with its own memory, such as a selection of rows: NumPy makes the capsule.
        if memory is None:
            if knows_read_only and _NUMPY_KNOWS_VERSIONS:
                return super().__dlpack__(max_version=max_version, copy=copy)
            return super().__dlpack__()
        if copy is False and not knows_read_only:
            raise BufferError(
                "the memory is read-only, which DLPack says from version 1.0 on: ask for max_version=(1, 0)"
            )
        if copy or not knows_read_only:
            plain = np.ascontiguousarray(self.view(np.ndarray))
            return _core.dlpack_of_copy(knows_read_only, plain.ctypes.data, plain.nbytes, *_layout(plain))
        return _core.dlpack_of_memory(True, memory, self.ctypes.data, *_layout(self))

    def _capsule(self) -> Any:
        """Returns a capsule of this memory in the form before DLPack 1.0, which has no read-only mark.

        It is for consumers that never write, and for memory that may be written: slots.
        """
        return _core.dlpack_of_memory(False, self._memory, self.ctypes.data, *_layout(self))  # type: ignore[arg-type]

    @property
    def _memory(self) -> _core.Memory | None:
        """The reader's memory that this array is a view of, or None."""
        base: Any = self
        while isinstance(base, np.ndarray):
            base = base.base
        return base if isinstance(base, _core.Memory) else None


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Array) else value


def _layout(array: npt.NDArray[Any]) -> tuple[list[int], list[int], int, int]:
    """Returns the shape, the strides in elements, DLPack's kind and the bits of a number."""
    size = array.dtype.itemsize
    if any(step % size for step in array.strides):
        raise BufferError(
            f"strides of {array.strides} bytes are no multiples of the {size} bytes of a number: copy the array"
        )
    if array.dtype == _BFLOAT16:
        kind = _DLPACK_BFLOAT
    elif array.dtype.kind in _DLPACK_KINDS and array.dtype.isnative:
        kind = _DLPACK_KINDS[array.dtype.kind]
    else:
        raise BufferError(f"DLPack has no {array.dtype}")
    return list(array.shape), [step // size for step in array.strides], kind, size * 8


_DTYPES: dict[str, np.dtype[Any] | None] = {
    name: np.dtype(name) for name in ("float32", "float16", "int32", "int16", "uint8", "int64", "uint64")
}
_DTYPES["bfloat16"] = _BFLOAT16


def numpy_dtype(dtype: str, what: str) -> np.dtype[Any]:
    """Returns NumPy's dtype of this name; the error message names `what` if NumPy has none."""
    known = _DTYPES[dtype]
    if known is None:
        raise UnsupportedError(
            f"{what} is bfloat16, which NumPy has not: pip install ml_dtypes, or ask for numbers that it has, "
            f'as in cache.reader(columns={{"mel": "float32"}})'
        )
    return known


def to_array(memory: _core.Memory, dtype: str, shape: tuple[int, ...], what: str) -> Array:
    """Returns an Array over all of `memory`; messages call it `what`."""
    # It has the buffer protocol, which type hints cannot express before Python 3.12.
    buffer: Any = memory
    array: Array = Array(shape, numpy_dtype(dtype, what), buffer)
    return array
