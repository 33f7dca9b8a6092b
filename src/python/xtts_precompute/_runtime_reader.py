"""Batches of clips that are computed by threads, ahead of who uses them."""

from __future__ import annotations

import copy
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._array import numpy_dtype
from ._choices import no_such, one_of, switch, whole
from ._errors import BusyError, InvalidArgumentError, NotFoundError, TooManyRejectsError, UnsupportedError
from ._options import SPLITS, ColumnOptions, _columns, _ids, _texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from . import _builder
    from ._cache import Column
    from ._runtime import Reject, RuntimeClips

RuntimeColumns = Union["Iterable[Union[str, ColumnOptions]]", "Mapping[str, Union[npt.DTypeLike, ColumnOptions, None]]", None]

SHUFFLES = ("global", "none")
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


class _Wish(NamedTuple):
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


class _Order(NamedTuple):
    """Of the reader's batches; as `_core.samples_of_batch` takes them."""

    sample_count: int
    is_shuffled: bool
    seed: int
    batch_size: int
    rank: int
    world_size: int
    drop_last: bool


class _Job:
    """A batch that threads fill, a row a task."""

    def __init__(self, core: _builder.Runtime, wishes: Sequence[_Wish], rows: int, positions: npt.NDArray[np.uint64]) -> None:
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

    def _put(self, wish: _Wish, row: int, memory: _core.Memory, length: int, fill_bits: int) -> None:
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

    def _without(self, kept: list[int]) -> _Job:
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


class RuntimeReader:
    """Batches of clips that threads compute ahead, made by `clips.reader()`.

    As a cache's Reader: `for batch in reader` goes on from where the reader stands to the end of its epoch; the next `for`
    begins the epoch after it; `set_epoch(e)` begins epoch e anew. What fails in a thread is raised where its batch would
    come, and the call after it goes on with the next batch.

    One thread at a time: a second gets BusyError. A forked child opens its own. It has no state to save: `set_epoch()` and
    the number of batches to leave out say where a run was.
    """

    def __init__(self, clips: RuntimeClips, options: Mapping[str, Any]) -> None:
        self._clips = clips
        self._options = dict(options)
        self._handle = clips._core
        self._wishes = _wishes(clips, options["columns"])
        self._positions = _selected(clips, options)
        shuffle = options["shuffle"]
        self._order = _Order(
            sample_count=len(self._positions),
            is_shuffled=one_of("shuffle", "none" if shuffle is None else shuffle, SHUFFLES) == "global",
            seed=whole("seed", options["seed"], 0, 2**64 - 1),
            batch_size=whole("batch_size", options["batch_size"], 1, 2**20),
            rank=whole("rank", options["rank"], 0, 2**32 - 1),
            world_size=whole("world_size", options["world_size"], 1, 2**32 - 1),
            drop_last=switch("drop_last", options["drop_last"]),
        )
        self._prefetch = whole("prefetch", options["prefetch"], 1, 1024)
        workers = options["workers"]
        self._workers = clips._arguments["threads"] if workers is None else whole("workers", workers, 1, 1024)
        self._batch_count = _core.count_batches(
            sample_count=self._order.sample_count,
            batch_size=self._order.batch_size,
            rank=self._order.rank,
            world_size=self._order.world_size,
            drop_last=self._order.drop_last,
        )
        self._epoch = 0
        self._next = 0  # the batch that the consumer gets next
        self._ended = False  # the end of the epoch has been reached: the next `for` begins another
        self._jobs: deque[_Job] = deque()  # batches _next, _next + 1, ...
        self._rejects: dict[str, Reject] = {}
        self._turn = threading.Lock()
        self._made_at = _core.fork_count()
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(self._workers, "xtts-runtime")
        self._finalizer = weakref.finalize(self, _end, self._pool, self._jobs, self._made_at)

    # ---- iteration

    def __iter__(self) -> Iterator[RuntimeBatch]:
        if self._ended:
            self.set_epoch(self.epoch)
        return self

    def __next__(self) -> RuntimeBatch:
        with _Turn(self):
            if self._ended:
                raise StopIteration
            pool = self._pool_or_why_not()
            self._compute_ahead(pool)
            if not self._jobs:
                self._ended = True
                raise StopIteration
            try:
                # Taken out only then: Ctrl-C while waiting loses no batch.
                batch, rejects = self._jobs[0].finish(self._clips)
            except Exception:
                self._go_on(pool)
                raise
            self._go_on(pool)
        self._note(rejects)
        return batch

    def _go_on(self, pool: ThreadPoolExecutor) -> None:
        self._jobs.popleft()
        self._next += 1
        self._compute_ahead(pool)

    def _compute_ahead(self, pool: ThreadPoolExecutor) -> None:
        while len(self._jobs) < self._prefetch and self._next + len(self._jobs) < self._batch_count:
            samples = _core.samples_of_batch(self._next + len(self._jobs), epoch=self._epoch, **self._order._asdict())
            job = _Job(self._handle, self._wishes, self._order.batch_size, self._positions[np.array(samples, np.intp)])
            job.tasks = [pool.submit(job.fill_row, row) for row in range(len(samples))]
            self._jobs.append(job)

    def _note(self, rejects: list[tuple[str, str, str, str, str]]) -> None:
        from ._runtime import Reject

        if not rejects:
            return
        is_first = not self._rejects
        for parts in rejects:
            reject = Reject(*parts)
            self._rejects[reject.id] = reject
        first = next(iter(self._rejects.values()))
        allowed = self._handle.faults_allowed
        if self._handle.fault_count > allowed:
            raise TooManyRejectsError(
                f"{self._handle.fault_count} clips could not be used, more than the {allowed} allowed (max_rejects of runtime()); "
                f"one of them: {first.error()}"
            )
        if is_first:
            warnings.warn(f"{first.error()}. It is left out, as others will be: reader.rejects names them", stacklevel=3)

    def __len__(self) -> int:
        """Batches of an epoch, the same number on every rank."""
        return self._batch_count

    @property
    def sample_count(self) -> int:
        """Clips that are chosen from, over all ranks."""
        return self._order.sample_count

    @property
    def rejects(self) -> tuple[Reject, ...]:
        """Clips that were left out so far, because a build would not store them."""
        return tuple(self._rejects.values())

    @property
    def epoch(self) -> int:
        """The epoch that the next batch is of: in a loop the running one, behind its end the one after it."""
        return self._epoch + self._ended

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of this epoch."""
        wanted = whole("epoch", epoch, 0, 2**64 - 1)
        with _Turn(self):
            self._pool_or_why_not()
            if wanted != self._epoch or self._next > 0:
                _drop(self._jobs)
            self._epoch, self._next, self._ended = wanted, 0, False

    # ---- the rest

    def _pool_or_why_not(self) -> ThreadPoolExecutor:
        if self._made_at != _core.fork_count():
            raise UnsupportedError(
                "this reader was opened before the process forked, and its threads are the parent's: open a reader in the child"
            )
        if self._pool is None:
            raise InvalidArgumentError("the reader is closed: open another, clips.reader()")
        return self._pool

    def close(self) -> None:
        """Ends its threads, which finish the clips in hand. Batches stay. May be called twice."""
        pool, self._pool = self._pool, None
        self._finalizer.detach()
        if pool is None or self._made_at != _core.fork_count():
            return
        _drop(self._jobs)
        pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> RuntimeReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a reader of runtime clips has threads of this process and cannot be pickled: pickle the clips, and open a reader there")

    def __repr__(self) -> str:
        if self._pool is None:
            return f"<RuntimeReader of {self._clips._shown}, closed>"
        return f"<RuntimeReader of {self._clips._shown}: epoch {self.epoch}, {len(self)} batches of {self.sample_count} clips>"


class _Turn:
    """One thread at a time, checked."""

    def __init__(self, reader: RuntimeReader) -> None:
        self._lock = reader._turn
        self._is_parents = reader._made_at != _core.fork_count()

    def __enter__(self) -> None:
        # In a child somebody of the parent's may hold it for ever; what follows says that it is the parent's.
        if not self._is_parents and not self._lock.acquire(blocking=False):
            raise BusyError("another thread is using this reader: one at a time, or a reader for each")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_parents:
            self._lock.release()


def _drop(jobs: deque[_Job]) -> None:
    """Batches that nobody wants any more: what has not begun will not."""
    for job in jobs:
        for task in job.tasks:
            task.cancel()
    jobs.clear()


def _end(pool: ThreadPoolExecutor, jobs: deque[_Job], made_at: int) -> None:
    """For readers that are dropped without close(). The threads end by themselves."""
    if made_at != _core.fork_count():
        return
    _drop(jobs)
    pool.shutdown(wait=False, cancel_futures=True)


def _selected(clips: RuntimeClips, options: Mapping[str, Any]) -> npt.NDArray[np.uint64]:
    """Positions, ascending."""
    split = options["split"]
    positions = np.array(clips._core.positions("" if split is None else one_of("split", split, SPLITS)), np.uint64)
    if options["ids"] is not None:
        positions = np.intersect1d(positions, np.array([clips._find(one) for one in _ids(options["ids"])], np.uint64))
    if options["exclude"] is not None:
        ruled_out = {reject.id for reject in clips.rejects}
        excluded = [clips._find(one) for one in _texts("exclude", options["exclude"]) if one not in ruled_out]
        positions = np.setdiff1d(positions, np.array(excluded, np.uint64))
    return positions


def _wishes(clips: RuntimeClips, columns: Any) -> tuple[_Wish, ...]:
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
) -> _Wish:
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
    return _Wish(
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
