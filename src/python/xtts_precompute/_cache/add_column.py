"""Cache.add_column(): computes a new column with the user's function, here or in worker processes."""

from __future__ import annotations

import os
import pickle
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._base.choices import one_of, switch, text, whole
from .._base.errors import Error, InvalidArgumentError
from .._base.words import counted
from .._build import tools
from .._build.progress import ColumnProgress, listener
from .clips import Clip
from .readable import Column
from .stored import Stored

AXES = ("frames", "tokens", "own", "fixed")
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "int16", "uint8")
_CLIPS_A_TASK = 8  # that a worker gets when the function takes one clip at a time
_SEGMENTS_A_TASK = 128  # the same, where they are parts of one source, which a worker decodes once
_TASKS_AHEAD = 2  # that each worker has at most


class _Sound:
    """The sound of the cache's clips: opened when a function first asks for it, and in each process anew."""

    def __init__(self, path: str, data: bytes) -> None:
        self._given = (path, data)
        self._expected: tuple[Sequence[int], int, int] | None = None
        self._last: tuple[int, npt.NDArray[np.float32]] | None = None  # a function asks more than once
        self._reader: Any = None
        self._process = 0

    def expect(self, positions: Sequence[int], clips_together: int, processes: int) -> None:
        """Says which clips follow, so that their sources are decoded ahead."""
        self._expected = (positions, clips_together, processes)
        if self._reader is not None:
            self._reader.expect(*self._expected)

    @property
    def reader(self) -> Any:
        if self._reader is None or self._process != os.getpid():
            path, data = self._given
            self._reader = tools.core().open_sound(cache=os.fsencode(path), data=data, program=b"")
            self._process = os.getpid()
            if self._expected is not None:
                self._reader.expect(*self._expected)
        return self._reader

    def source_of(self, position: int) -> bytes:
        """The source that the clip is a part of. Empty: it is a whole one, or no function has asked for sound."""
        return b"" if self._reader is None else bytes(self._reader.source_of(position))

    def read(self, position: int) -> npt.NDArray[np.float32]:
        last = self._last
        if last is None or last[0] != position:
            self._last = last = (position, np.frombuffer(self.reader.read(position), np.float32))
        return last[1]

    def close(self) -> None:
        if self._reader is not None and self._process == os.getpid():
            self._reader.close()
        self._reader = self._last = None


class ColumnClip:
    """The clip that add_column() passes to the function: its columns (`clip.mel`), facts and sound."""

    def __init__(self, clip: Clip, sound: _Sound) -> None:
        self._clip = clip
        self._sound = sound

    @property
    def pcm(self) -> npt.NDArray[np.float32]:
        """The conditioned samples that the features were made of; full scale is 1.

        They come from the column "wave", or the source is decoded again: on all processors, before
        the function asks, as long as it asks for each clip. A source that has changed since the
        build raises MismatchError.
        """
        return self._sound.read(self._clip.position)

    @property
    def sample_rate(self) -> int:
        """The sample rate of `pcm`, in Hz."""
        return int(self._sound.reader.sample_rate_hz)

    @property
    def frames(self) -> int:
        """The clip's feature frames. With axis="frames" a record has one row, or k rows, for each."""
        return int(self._clip._facts.frame_count)

    @property
    def text_len(self) -> int:
        """The clip's tokens. With axis="tokens" a record has one row for each."""
        return int(self._clip._facts.token_count)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._clip, name)

    def __getitem__(self, name: str) -> Any:
        return self._clip[name]

    def __repr__(self) -> str:
        return f"<ColumnClip '{self._clip.id}'>"


class _Maker:
    """Makes records. Each process opens the cache and the sound for itself, at the first use."""

    def __init__(self, path: str, fn: Callable[..., Any], batch: int | None, data: bytes) -> None:
        self._given = (path, fn, batch, data)
        self._cache: Stored | None = None
        self.sound = _Sound(path, data)
        self.failed: list[str] = []
        """The clips of the function's last call, where it raised."""

    def __reduce__(self) -> Any:
        return _Maker, self._given

    @property
    def cache(self) -> Stored:
        if self._cache is None:
            self._cache = Stored([self._given[0]])
        return self._cache

    @property
    def takes_batches(self) -> bool:
        return self._given[2] is not None

    def expect(self, positions: Sequence[int], processes: int = 1) -> None:
        """Says which clips the calls that follow are for."""
        self.sound.expect(positions, self._given[2] or 1, processes)

    def close(self) -> None:
        """Ends the decoders; a later call opens cache and sound anew."""
        self._cache = None
        self.sound.close()

    def __call__(self, positions: Sequence[int]) -> list[npt.NDArray[Any]]:
        _, fn, batch, _ = self._given
        clips = [ColumnClip(Clip(self.cache, position), self.sound) for position in positions]
        if batch is None:
            return [self._made(fn, clip) for clip in clips]
        self.failed = [clip.id for clip in clips]
        made = list(fn(clips))
        if len(made) != len(clips):
            raise InvalidArgumentError(
                f"add_column: the function was given {counted(len(clips), 'clip', 'clips')} and made "
                f"{counted(len(made), 'record', 'records')}"
            )
        return [_stored(one, clip.id) for one, clip in zip(made, clips)]

    def _made(self, fn: Callable[..., Any], clip: ColumnClip) -> npt.NDArray[Any]:
        self.failed = [clip.id]
        return _stored(fn(clip), clip.id)


class _FromNpy:
    """The function that add_column() uses for from_npy: it loads ID.npy."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, clip: ColumnClip) -> npt.NDArray[Any]:
        path = FilePath(self.folder, f"{clip.id}.npy")
        if clip.id.startswith("/") or ".." in clip.id.split("/"):
            raise InvalidArgumentError(
                f"add_column: the id of clip '{clip.id}' leads out of {self.folder}: from_npy opens no file there; "
                "give a function that loads the records"
            )
        if path.exists() and not path.is_file():
            raise InvalidArgumentError(f"add_column: {path} is not a file: from_npy needs ID.npy for each clip")
        try:
            made: npt.NDArray[Any] = np.load(path, allow_pickle=False)
        except FileNotFoundError:
            raise InvalidArgumentError(
                f"add_column: there is no {path}: from_npy needs a file for each clip, named by its id"
            ) from None
        except ValueError as error:
            raise InvalidArgumentError(f"add_column: {path}: {error}") from None
        return made


def _stored(made: Any, clip_id: str) -> npt.NDArray[Any]:
    """Returns the record as the column stores it: this machine's byte order, row by row."""
    if isinstance(made, np.ma.MaskedArray) and np.ma.is_masked(made):
        raise InvalidArgumentError(
            f"add_column: the record of clip '{clip_id}' has masked values, which a column cannot hold: "
            "fill them with .filled()"
        )
    array = np.asarray(made)
    # Files of other machines may have another byte order (`>f4`); the dtype has the same name.
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype == np.float64:
        array = _as_float32(array, clip_id)
    if array.dtype.name not in DTYPES:
        raise InvalidArgumentError(
            f"add_column: the record of clip '{clip_id}' is of {array.dtype}; a column can hold "
            f"{', '.join(DTYPES)}: convert it with .astype()"
        )
    return np.ascontiguousarray(array.reshape(array.shape or (1,)))


def _as_float32(array: npt.NDArray[Any], clip_id: str) -> npt.NDArray[np.float32]:
    """Rounds to float32; raises InvalidArgumentError where a finite number would become infinite."""
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    lost = np.isinf(narrow) & np.isfinite(array)
    if lost.any():
        largest = float(np.abs(array[lost]).max())
        raise InvalidArgumentError(
            f"add_column: the record of clip '{clip_id}' reaches {largest:.4g}, and float64 is stored "
            "as float32, which ends at 3.4e38: scale it"
        )
    return narrow


class _Form(NamedTuple):
    """What all records of the column have in common."""

    dtype: str
    row_shape: tuple[int, ...]
    """The shape behind the first axis; for axis "fixed" and "own", all of the padded shape."""
    rows_per_frame: int

    @classmethod
    def of_column(cls, column: Column) -> _Form:
        has_whole_shape = column.axis in ("fixed", "own")
        return cls(column.dtype, column.shape if has_whole_shape else column.shape[1:], max(column.rows_per_frame, 1))

    @classmethod
    def of_record(cls, record: npt.NDArray[Any], axis: str, clip: ColumnClip, max_length: int | None) -> _Form:
        if axis == "fixed":
            return cls(record.dtype.name, record.shape, 1)
        if axis == "own":
            return cls(record.dtype.name, (max_length or 0, *record.shape[1:]), 1)
        times = len(record) // clip.frames if axis == "frames" and clip.frames else 1
        return cls(record.dtype.name, record.shape[1:], max(times, 1))

    def check(self, record: npt.NDArray[Any], axis: str, clip_id: str, rows: int) -> bytes:
        """Returns the record's bytes.

        `rows` is the number of rows that the clip needs or, for axis "own", may have at most.
        """
        whole_shape = (
            self.row_shape if axis == "fixed" else (rows, *(self.row_shape[1:] if axis == "own" else self.row_shape))
        )
        fits = record.dtype.name == self.dtype and record.shape[1:] == whole_shape[1:]
        if fits and (len(record) == whole_shape[0] or (axis == "own" and len(record) <= rows)):
            return record.tobytes()
        most = "at most " if axis == "own" else ""
        raise InvalidArgumentError(
            f"add_column: the record of clip '{clip_id}' is {record.dtype.name} {list(record.shape)}, "
            f"and must be {self.dtype} "
            f"{most}{list(whole_shape)}"
            + (f" for its {rows} rows along {axis}" if axis in ("frames", "tokens") else "")
        )


def add_column(
    cache: Stored, name: str, fn: Callable[..., Any] | None, *, like: Column | None = None, **options: Any
) -> None:
    """Adds the column; Cache.add_column() describes the arguments.

    `like`: the column as another part has it, for a part without clips, whose form no record shows.
    """
    tools.core()  # fails first if it is not there
    if len(cache.paths) != 1:
        raise InvalidArgumentError("add_column takes one cache at a time, not several that are read as one")
    if (fn is None) == (options["from_npy"] is None):
        raise InvalidArgumentError("add_column needs a function, or from_npy=DIR")
    if fn is not None and not callable(fn):
        raise InvalidArgumentError(f"add_column: the function is {fn!r}, which cannot be called")
    axis = one_of("axis", options["axis"], AXES)
    max_length = None if options["max_length"] is None else whole("max_length", options["max_length"], 1, 2**32 - 1)
    if (axis == "own") != (max_length is not None):
        raise InvalidArgumentError(
            'add_column: axis="own" needs max_length=, the rows of the longest record, and no other axis takes it'
        )
    version, name = text("version", options["version"]), text("name", name)
    batch = None if options["batch"] is None else whole("batch", options["batch"], 1, 2**20)
    workers = whole("workers", options["workers"], 0, 1024)
    allow_nonfinite = switch("allow_nonfinite", options["allow_nonfinite"])
    made_by = fn if fn is not None else _FromNpy(os.fspath(options["from_npy"]))
    maker = _Maker(cache._absolute[0], made_by, None if fn is None else batch, os.fsencode(options["data"] or ""))
    try:
        _add(maker, name, version, axis, max_length, batch, workers, allow_nonfinite, options["progress"], like)
    finally:
        maker.close()


def _add(
    maker: _Maker,
    name: str,
    version: str,
    axis: str,
    max_length: int | None,
    batch: int | None,
    workers: int,
    allow_nonfinite: bool,
    progress: Any,
    like: Column | None,
) -> None:
    path = maker.cache._absolute[0]
    newest = maker.cache
    known = newest.columns.get(name)
    first: dict[int, npt.NDArray[Any]] = {}
    if known is not None and known.version == version and known.axis == axis:
        form = _Form.of_column(known)
    elif not len(newest) and like is not None:
        form = _Form.of_column(like)
    elif not len(newest):
        raise InvalidArgumentError(
            "add_column: the cache has no clips, so the column's dtype and shape are unknown: build clips first"
        )
    else:
        # The function's values for the first clips show the column's dtype and shape.
        positions = list(range(min(batch or 1, len(newest))))
        if not workers:
            maker.expect(range(len(newest)))
        first = dict(zip(positions, maker(positions)))
        form = _Form.of_record(first[0], axis, ColumnClip(Clip(newest, 0), maker.sound), max_length)

    if workers:
        _pickled(maker)  # fails before anything is begun if the function cannot be sent to workers
    writer = tools.core().open_writer(
        cache=os.fsencode(path),
        name=name,
        version=version,
        axis=axis,
        dtype=form.dtype,
        row_shape=form.row_shape,
        rows_per_frame=form.rows_per_frame,
        allow_nonfinite=allow_nonfinite,
    )
    if Stored([path]).digest != newest.digest:  # built anew before the writer had its lock
        first = {}
        maker.close()
    with listener(progress, f"add {name}") as hear:
        try:
            _write(writer, maker, form, axis, first, batch or (_CLIPS_A_TASK if workers else 1), workers, hear)
        except Exception:
            _tell_what_is_kept(name, version, writer.done_count)
            raise
        finally:
            writer.close()  # else code that keeps the exception would keep the lock, too


def _write(
    writer: Any,
    maker: _Maker,
    form: _Form,
    axis: str,
    first: dict[int, Any],
    size: int,
    workers: int,
    hear: Callable[[Any], object] | None,
) -> None:
    total, began, done_before = writer.clip_count, time.monotonic(), writer.done_count
    left = [writer.next(ahead)[0] for ahead in range(total - done_before)]
    done = done_before
    for position, record in _records(maker, left, first, size, workers):
        _, rows = writer.next(0)
        writer.put(form.check(record, axis, maker.cache.ids[position], rows))
        done += 1
        if hear is not None:
            rate = (done - done_before) / max(time.monotonic() - began, 1e-9)
            hear(ColumnProgress("add", done, total, rate, (total - done) / rate))
    writer.finish()


def _records(
    maker: _Maker, positions: list[int], first: dict[int, Any], size: int, workers: int
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yields (position, record), in the order of the positions."""
    while positions and positions[0] in first:
        position = positions.pop(0)
        yield position, first.pop(position)
    if workers and positions:
        yield from _records_of_workers(maker, _tasks(maker, positions, size), workers)
        return
    maker.expect(positions)
    for begin in range(0, len(positions), size):
        task = positions[begin : begin + size]
        yield from zip(task, maker(task))


def _tasks(maker: _Maker, positions: list[int], size: int) -> list[list[int]]:
    """Divides the clips among workers. Parts of one source stay together, so that few workers decode it."""
    tasks: list[list[int]] = []
    source = b""
    for position in positions:
        before, source = source, b"" if maker.takes_batches else maker.sound.source_of(position)
        most = _SEGMENTS_A_TASK if source and source == before else size
        if tasks and len(tasks[-1]) < most and source == before:
            tasks[-1].append(position)
        else:
            tasks.append([position])
    return tasks


def _tell_what_is_kept(name: str, version: str, count: int) -> None:
    """Warns that a call with the same version keeps the records of before.

    A user who corrects the function and calls again would get a column with two kinds of records.
    """
    if not count:
        return
    warnings.warn(
        f"add_column: '{name}' has the records of {counted(count, 'clip', 'clips')} already, which are "
        f"kept for version {version!r}: this call adds those that are missing. If the function makes "
        "other records from now on, give another version= to make all of them anew",
        stacklevel=5,
    )


def _pickled(maker: _Maker) -> bytes:
    try:
        return pickle.dumps(maker)
    except Exception as error:
        raise InvalidArgumentError(
            "add_column: workers are processes of their own, and the function cannot be sent there "
            f"({error}): define it at the top "
            "level of a module, or use workers=0"
        ) from None


def _records_of_workers(maker: _Maker, tasks: list[list[int]], workers: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    executor = ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker, (_pickled(maker),))
    running: deque[tuple[list[int], Future[Any]]] = deque()
    try:
        waiting = iter(tasks)
        while True:
            while len(running) < workers * _TASKS_AHEAD and (task := next(waiting, None)) is not None:
                running.append((task, executor.submit(_make_in_worker, task, workers)))
            if not running:
                return
            task, future = running.popleft()
            yield from zip(task, future.result())
    except BrokenProcessPool:
        raise Error(
            "add_column: a worker process died. Where it was out of memory, use fewer workers; a "
            "program that starts workers also has to "
            "guard its own main part: if __name__ == '__main__':. The same call continues where this one ended"
        ) from None
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


_maker_of_worker: _Maker | None = None


def _begin_worker(pickled: bytes) -> None:
    global _maker_of_worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _maker_of_worker = pickle.loads(pickled)


def _make_in_worker(positions: list[int], workers: int) -> list[npt.NDArray[Any]]:
    assert _maker_of_worker is not None
    _maker_of_worker.expect(positions, workers)
    try:
        return _maker_of_worker(positions)
    except Exception as error:
        if _can_be_sent(error):
            raise
        clips = ", ".join(f"'{clip_id}'" for clip_id in _maker_of_worker.failed)
        raise Error(f"add_column: the function failed at clip {clips}: {type(error).__name__}: {error}") from error


def _can_be_sent(error: Exception) -> bool:
    """Returns whether the error arrives as it is: one that does not ends all workers."""
    try:
        arrived = pickle.loads(pickle.dumps(error))
        return type(arrived) is type(error) and str(arrived) == str(error)
    except Exception:
        return False
