"""What `build(dataset=...)` takes: files of a data set, a Dataset, or rows in memory.

A build wants a folder. Where rows lie in files, it gets their folder, and can read each row again.
Other rows are served while the build runs (row_server.py): the folder then has nothing but a file
for each split and a socket, and goes with the build.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import itertools
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .._base.errors import InvalidArgumentError, MissingPackageError
from . import row_server

_ROWS = 64  # asked for at once; a row may have a megabyte of sound
_SUFFIXES = (".parquet", ".arrow")
_FILES_MAX = 10_000  # beside those that are meant
_NO_PLACES = (
    "these rows have no file to be read from again: verify(level='deep'), repair of lost records, "
    "`xtts-precompute show --wav` and clip.pcm cannot; dataset.save_to_disk(FOLDER), then build(dataset=FOLDER), "
    "keeps all of them"
)


class Found(NamedTuple):
    """Where a build finds a data set."""

    folder: str
    files: str | None = None
    """A pattern that chooses files below the folder; None: all of them."""
    warning: str | None = None


@contextlib.contextmanager
def found(dataset: Any) -> Iterator[Found]:
    """Gives the place of a data set, while the block lasts."""
    if isinstance(dataset, (str, os.PathLike)) and os.path.isdir(dataset):
        yield Found(os.fspath(dataset))
        return
    splits = _splits_of(dataset)
    files = _files_of(dataset, splits)
    place = None if files is None else _place_of(files)
    if place is not None:
        yield place
    elif _is_paths(dataset):
        raise InvalidArgumentError(
            "dataset names files among many others, or among some that no pattern tells from them: move them to a "
            "folder of their own, and give that"
        )
    else:
        _load_pyarrow()
        with _serving({name: _source_of(rows) for name, rows in splits.items()}) as folder:
            yield Found(folder, warning=_NO_PLACES)


# Rows that lie in files


def _is_paths(dataset: Any) -> bool:
    if isinstance(dataset, (str, os.PathLike)):
        return True
    return isinstance(dataset, (list, tuple)) and bool(dataset) and isinstance(dataset[0], (str, os.PathLike))


def _files_of(dataset: Any, splits: Mapping[str, Any]) -> list[Path] | None:
    """Returns the files that hold just these rows; None: there are none."""
    if _is_paths(dataset):
        paths = [dataset] if isinstance(dataset, (str, os.PathLike)) else dataset
        files = [Path(path).absolute() for path in paths]
        for file in files:
            if file.suffix not in _SUFFIXES or not file.is_file():
                raise InvalidArgumentError(
                    f"dataset must name folders, *.parquet or *.arrow that are there, not {file}"
                )
        return files
    files = []
    for rows in splits.values():
        if not _is_dataset(rows) or not _is_all_of_its_files(rows):
            return None
        files += [Path(one["filename"]).absolute() for one in rows.cache_files]
    return files


def _is_dataset(rows: Any) -> bool:
    datasets: Any = sys.modules.get("datasets")  # not loaded: it is none of them
    return datasets is not None and isinstance(rows, datasets.Dataset)


def _is_all_of_its_files(rows: Any) -> bool:
    """Returns whether a Dataset is what its files hold: nothing chosen, renamed or computed since."""
    names = [one["filename"] for one in rows.cache_files]
    if not names or len(set(names)) != len(names) or rows._indices is not None or rows.format["type"] == "custom":
        return False
    _load_pyarrow()
    pa: Any = row_server.pa
    count = 0
    for name in names:
        with pa.memory_map(name) as file, pa.ipc.open_stream(file) as stream:
            if stream.schema.names != rows.data.schema.names:
                return False
            batches = list(stream)
        count += sum(len(batch) for batch in batches)
        try:
            if any(_has_no_bytes(batch) for batch in batches[:1]):
                return False  # only paths, which lead out of that folder
        except row_server.Refused as error:
            raise InvalidArgumentError(f"dataset {error}") from None
    return count == len(rows)


def _has_no_bytes(batch: Any) -> bool:
    sounds = row_server.Columns(batch.schema).sounds(batch)
    return len(sounds) > 0 and sounds.null_count == len(sounds)


def _place_of(files: Sequence[Path]) -> Found | None:
    """Returns the common folder of files, and the pattern that chooses them there; None: there is no such pattern."""
    folder = os.path.commonpath([file.parent for file in files])
    names = {os.path.relpath(file, folder) for file in files}
    there = set()
    count = 0
    for inside, _, others in os.walk(folder):
        count += len(others)
        if count > _FILES_MAX:
            return None  # a build would walk through all of them
        there |= {os.path.relpath(os.path.join(inside, name), folder) for name in others if name.endswith(_SUFFIXES)}
    if names == there:
        return Found(folder)
    begin = _common_begin(names)
    end = _common_begin([name[len(begin) :][::-1] for name in names])[::-1]
    pattern = glob.escape(begin) + ("" if len(names) == 1 else "*" + glob.escape(end))
    chosen = {name for name in there if fnmatch.fnmatchcase(name, pattern)}
    return Found(folder, pattern) if chosen == names else None


def _common_begin(texts: Iterable[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), len(first))]


# Rows in memory


def _splits_of(dataset: Any) -> dict[str, Any]:
    """Returns the rows of each split, by the name of the file that a build sees."""
    if isinstance(dataset, Mapping):
        for name in dataset:
            if not isinstance(name, str) or os.path.basename(name) != name or name.startswith("."):
                raise InvalidArgumentError(f"dataset has a split called {name!r}, which cannot name a file")
        return dict(dataset)
    return {str(getattr(dataset, "split", None) or "rows"): dataset}


def _source_of(rows: Any) -> Any:
    if hasattr(rows, "with_format") and hasattr(rows, "features"):
        rows = _encoded(rows)
        if _is_dataset(rows):
            rows = rows.with_format("arrow")
            return Rows(lambda first: _batch(rows[first : first + _ROWS]) if first < len(rows) else None)
    elif isinstance(rows, Sequence) and not isinstance(rows, (str, bytes)):
        return Rows(lambda first: _batch_of(rows[first : first + _ROWS]))
    elif not isinstance(rows, Iterable) or isinstance(rows, (str, bytes)):
        raise InvalidArgumentError(
            f"dataset must be a folder, files, a datasets.Dataset or rows (dicts with audio), not {rows!r}"
        )
    elif iter(rows) is rows:
        raise InvalidArgumentError(
            "dataset is an iterator, which ends after one pass, and a build reads rows more than once: give a list, "
            "or an object whose __iter__ begins anew"
        )
    return Stream(rows)


def _encoded(rows: Any) -> Any:
    """Returns a data set whose Audio columns give the encoded bytes."""
    audio: Any = sys.modules["datasets"].Audio
    if rows.features is None:
        return rows.decode(False)
    for name, feature in rows.features.items():
        if isinstance(feature, audio):
            rows = rows.cast_column(name, audio(decode=False))
    return rows


def _load_pyarrow() -> None:
    try:
        row_server.load()
    except ImportError as error:
        raise MissingPackageError(f"dataset= needs pyarrow ({error}): pip install pyarrow", name="pyarrow") from None


def _batch(table: Any) -> Any:
    pa: Any = row_server.pa
    return pa.RecordBatch.from_struct_array(table.to_struct_array().combine_chunks())


def _batch_of(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Returns rows as an Arrow batch; None: there are none."""
    pa: Any = row_server.pa
    rows = list(rows)
    if not rows:
        return None
    sound = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        known = [value for value in values if value is not None]
        if known and all(isinstance(value, Mapping) and {"bytes", "path"} & value.keys() for value in known):
            values = [value and {"bytes": value.get("bytes"), "path": value.get("path")} for value in values]
            columns[name] = pa.array(values, sound)
        else:
            columns[name] = pa.array(values)
    return pa.RecordBatch.from_pydict(columns)


class Rows:
    """Rows that can be asked for in any order. `fetch`: gives the batch that begins with a row; None at the end."""

    is_stream = False

    def __init__(self, fetch: Callable[[int], Any]) -> None:
        self._fetch = fetch
        self._recent: Any = row_server.Recent()
        self.left_out = ""

    def _at(self, row: int) -> Any:
        found = self._recent.find(self, row)
        if found:
            return found
        batch = self._fetch(row)
        if batch is None:
            return None
        self._recent.keep(self, row, batch)
        return row, batch

    def rows(self, first: int, count: int, fields: bool, sound: bool) -> list[str]:
        found = self._at(first)
        if found is None:
            return []
        batch = found[1].slice(first - found[0], count)
        columns = row_server.Columns(batch.schema)
        self.left_out = columns.left_out
        read = columns.read(batch)
        lengths = row_server.pc.binary_length(columns.sounds(batch)).to_pylist()
        places = []
        for i, length in enumerate(lengths):
            path = read[i][1]
            if length is None and path and os.path.isfile(path):
                length = os.path.getsize(path)
            places.append(None if length is None else (first + i, length))
        return row_server.joined(read, places)

    def sound(self, row: int) -> Any:
        found = self._at(row)
        if found is None:
            return None
        batch = found[1].slice(row - found[0], 1)
        columns = row_server.Columns(batch.schema)
        value = columns.sounds(batch)[0]
        if value.is_valid:
            return value.as_buffer()
        path = columns.read(batch)[0][1]
        return Path(path).read_bytes() if path and os.path.isfile(path) else None


class Stream(Rows):
    """Rows that come in their own order alone. What was passed, and is no longer kept, begins another pass."""

    is_stream = True

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(self._next)
        self._rows = rows
        self._iterator: Iterator[Any] = iter(())
        self._next_row = sys.maxsize

    def _at(self, row: int) -> Any:
        found = self._recent.find(self, row)
        if found:
            return found
        if row < self._next_row:
            self._iterator, self._next_row = iter(self._rows), 0
        while True:
            first = self._next_row
            batch = self._next(first)
            if batch is None:
                return None
            self._next_row += len(batch)
            self._recent.keep(self, first, batch)
            if row < self._next_row:
                return first, batch

    def _next(self, first: int) -> Any:
        return _batch_of(itertools.islice(self._iterator, _ROWS))


class _Served:
    """The sources by the names of their files, in place of row_server.Files."""

    def __init__(self, sources: Mapping[str, Any]) -> None:
        self._sources = sources

    def of(self, kind: bytes, path: bytes, facts: bytes) -> Any:
        return self._sources[os.fsdecode(os.path.basename(path)).removesuffix(".rows")]


@contextlib.contextmanager
def _serving(sources: Mapping[str, Any]) -> Iterator[str]:
    # Nobody else may look into it. The path of a socket has at most 107 bytes.
    folder = tempfile.mkdtemp(prefix="xtts-", dir="/tmp" if len(os.fsencode(tempfile.gettempdir())) > 80 else None)
    talks: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            for name in sources:
                Path(folder, f"{name}.rows").write_text("rows\n")
            listener.bind(f"{folder}/.rows")
            listener.listen()
            threading.Thread(target=_accept, args=(listener, _Served(sources), talks), daemon=True).start()
            yield folder
        finally:
            for one in [listener, *talks]:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            shutil.rmtree(folder, ignore_errors=True)


def _accept(listener: socket.socket, served: _Served, talks: list[socket.socket]) -> None:
    with contextlib.suppress(OSError):  # it was shut down
        while True:
            talk, _ = listener.accept()
            talks.append(talk)
            with talk, contextlib.suppress(OSError):
                row_server.serve(talk, served)
