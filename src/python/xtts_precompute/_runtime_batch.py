"""Batches of computed clips, and how threads fill them: a row a task."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._array import numpy_dtype
from ._choices import no_such
from ._errors import InvalidArgumentError, NotFoundError, UnsupportedError
from ._options import ColumnOptions, _columns

if TYPE_CHECKING:
    from concurrent.futures import Future

    from . import _builder
    from ._cache import Column
    from ._runtime import RuntimeClips

RuntimeColumns = Union[Iterable[Union[str, ColumnOptions]], Mapping[str, Union[npt.DTypeLike, ColumnOptions, None]], None]

_DEVIATION_MIN = 1e-5


class RuntimeBatch:
    """Some clips' columns as ordinary NumPy arrays of fixed shape, its own: they may be written, and kept.

    As the Batch of a cache's reader: `batch.mel`, `batch["mel"]`, `batch.mel_len`, `batch.text_len`, `speaker` and `language` (-1:
    unknown, or no clip), `ids` and `positions` of the valid rows, which come first.
    """

    __slots__ = ("__weakref__", "_arrays", "_clips", "_ids", "_lengths", "language", "positions", "speaker", "valid_count")

    bucket = 0

    def __init__(
        self,
        clips: RuntimeClips,
        arrays: dict[str, npt.NDArray[Any]],
        lengths: dict[str, npt.NDArray[np.int32]],
        speaker: npt.NDArray[np.int32],
        language: npt.NDArray[np.int32],
        positions: npt.NDArray[np.uint64],
    ) -> None:
        self._clips = clips
        self._arrays = arrays
        self._lengths = lengths
        self._ids: list[str] | None = None
        self.speaker = speaker
        """Numbers of the speakers, int32 [batch size]; -1: unknown, or no clip."""
        self.language = language
        """Numbers of the languages, int32 [batch size]; -1: unknown, or no clip."""
        self.positions = positions
        """Of the valid rows' clips, uint64 [valid_count]."""
        self.valid_count = len(positions)
        """Rows that hold a clip."""

    def __len__(self) -> int:
        return len(self.speaker)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._arrays)

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    __iter__ = None  # by numbers, which Python would try, there is nothing

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if not isinstance(name, str):
            raise InvalidArgumentError(f"a batch's columns are asked for by name, not by {name!r}: batch.mel[row] is a row")
        if name not in self._arrays:
            raise NotFoundError(no_such("column", name, self.columns))
        return self._arrays[name]

    def __getattr__(self, name: str) -> npt.NDArray[Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._arrays:
            return self._arrays[name]
        if name.endswith("_len"):
            return self.lengths("tokens" if name == "text_len" else name[:-4])
        raise AttributeError(no_such("column", name, self.columns))

    def lengths(self, column: str) -> npt.NDArray[np.int32]:
        """The column's true lengths by row, int32; the same as `batch.<column>_len`, and `text_len` for tokens."""
        if column not in self._lengths:
            raise AttributeError(no_such("column", column, self.columns))
        return self._lengths[column]

    @property
    def ids(self) -> list[str]:
        """Ids of the valid rows, looked up at the first use."""
        if self._ids is None:
            self._ids = self._clips._core.ids(self.positions.tolist())
        return self._ids

    def release(self) -> None:
        """For loops written for a cache's reader: there is no slot to give back."""

    def __enter__(self) -> RuntimeBatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __dir__(self) -> list[str]:
        lengths = [name + "_len" for name in self.columns] + ["text_len"] * ("tokens" in self)
        return [*super().__dir__(), *self.columns, *lengths]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {list(array.shape)} {array.dtype}" for name, array in self._arrays.items())
        return f"<RuntimeBatch of {self.valid_count} clips: {shown}>"


class Wish(NamedTuple):
    """A column as the batch shall have it."""

    place: int
    """Among the record's columns."""
    name: str
    shape: tuple[int, ...]
    stored: np.dtype[Any]
    dtype: np.dtype[Any]
    is_float: bool
    pad_value: float | None
    mean: npt.NDArray[np.float32] | None
    divisor: npt.NDArray[np.float32] | None
    empty_fill: float
    """In rows without a clip."""


class Job:
    """A batch that threads fill, a row a task."""

    def __init__(self, core: _builder.Runtime, wishes: Sequence[Wish], rows: int, positions: npt.NDArray[np.uint64]) -> None:
        self.core = core
        self.wishes = wishes
        self.positions = positions
        self.arrays = {wish.name: np.empty((rows, *wish.shape), wish.dtype) for wish in wishes}
        self.lengths = {wish.name: np.zeros(rows, np.int32) for wish in wishes}
        self.speaker = np.full(rows, -1, np.int32)
        self.language = np.full(rows, -1, np.int32)
        self.tasks: list[Future[tuple[str, str, str, str, str] | None]] = []

    def fill_row(self, row: int) -> tuple[str, str, str, str, str] | None:
        """Computes the row's clip; why not, where it is rejected."""
        position = int(self.positions[row])
        reject, parts, _ = self.core.record(position)
        if reject is not None:
            return reject
        for wish in self.wishes:
            self._put(wish, row, *parts[wish.place])
        info = self.core.clip(position)
        self.speaker[row] = info.speaker_number
        self.language[row] = info.language_number
        return None

    def _put(self, wish: Wish, row: int, memory: _core.Memory, length: int, fill_bits: int) -> None:
        buffer: Any = memory
        rows = np.frombuffer(buffer, wish.stored, count=length * int(np.prod(wish.shape[1:], dtype=np.int64)))
        rows = rows.reshape(length, *wish.shape[1:])
        out = self.arrays[wish.name][row]
        # A number too large for a smaller type becomes infinite, as in a cache's reader, which says nothing.
        with np.errstate(over="ignore"):
            if wish.mean is not None and wish.divisor is not None:
                out[:length] = (rows.astype(np.float32) - wish.mean) / wish.divisor
            else:
                out[:length] = rows
            if wish.pad_value is not None:
                out[length:] = wish.pad_value
            else:
                bits = np.array([fill_bits], np.uint32)
                out[length:] = bits.view(np.float32 if wish.is_float else np.int32)[0]
        self.lengths[wish.name][row] = length

    def finish(self, clips: RuntimeClips) -> tuple[RuntimeBatch, list[tuple[str, str, str, str, str]]]:
        """Waits for all rows; the first failure is raised when nobody works on the batch any more."""
        failure: BaseException | None = None
        rejects, kept = [], []
        for row, task in enumerate(self.tasks):
            try:
                reject = task.result()
            except Exception as error:
                failure = failure or error
                continue
            if reject is None:
                kept.append(row)
            else:
                rejects.append(reject)
        if failure is not None:
            raise failure
        whole = self._without(kept) if rejects else self
        whole._fill_empty(len(kept))
        return RuntimeBatch(clips, whole.arrays, whole.lengths, whole.speaker, whole.language, whole.positions), rejects

    def _without(self, kept: list[int]) -> Job:
        """A copy in which these rows come first: should somebody interrupt, the batch can be finished once more."""
        rows = kept + [0] * (len(self.speaker) - len(kept))
        job = copy.copy(self)
        job.arrays = {name: array[rows] for name, array in self.arrays.items()}
        job.lengths = {name: array[rows] for name, array in self.lengths.items()}
        job.speaker, job.language, job.positions = self.speaker[rows], self.language[rows], self.positions[kept]
        return job

    def _fill_empty(self, first: int) -> None:
        for wish in self.wishes:
            with np.errstate(over="ignore"):
                self.arrays[wish.name][first:] = wish.empty_fill
            self.lengths[wish.name][first:] = 0
        self.speaker[first:] = -1
        self.language[first:] = -1


def wishes_of(clips: RuntimeClips, columns: Any) -> tuple[Wish, ...]:
    known = clips.columns
    places = {name: place for place, name in enumerate(known)}
    if columns is None:
        columns = list(known)
    return tuple(
        _wish(known[name], places[name], clips.fill_values[name], dtype, pad_value, normalize, means, deviations)
        for name, dtype, pad_value, normalize, means, deviations in _columns(columns, tuple(known))
    )


def _wish(
    column: Column, place: int, fill: float, dtype: str | None, pad_value: float | None, normalize: str, means: list[float], deviations: list[float]
) -> Wish:
    what = f"column '{column.name}'"
    is_float = "float" in column.dtype
    target = column.dtype if dtype is None else dtype
    if target != column.dtype and not (is_float and "float" in target):
        raise InvalidArgumentError(f"{what} is {column.dtype}, which is not converted to {target}")
    if normalize == "corpus":
        raise UnsupportedError(f"{what}: the statistics of a corpus are known when its cache is built: give a pair (mean, std), or cache.stats['mel']")
    mean = divisor = None
    if normalize == "given":
        if not is_float or len(column.shape) != 2 or not len(means) == len(deviations) == column.shape[1]:
            raise InvalidArgumentError(f"normalize of {what}: {len(means)} means and {len(deviations)} deviations for records {list(column.shape)}")
        if not np.isfinite([*means, *deviations]).all() or min(deviations) < 0:
            raise InvalidArgumentError(f"normalize of {what}: means and deviations must be finite, deviations from 0 up")
        mean = np.array(means, np.float32)
        divisor = np.maximum(np.array(deviations), _DEVIATION_MIN).astype(np.float32)
    return Wish(
        place=place,
        name=column.name,
        shape=column.shape,
        stored=numpy_dtype(column.dtype, what),
        dtype=numpy_dtype(target, what),
        is_float=is_float,
        pad_value=pad_value,
        mean=mean,
        divisor=divisor,
        empty_fill=fill if pad_value is None else pad_value,
    )
