"""Serves rows of Parquet files and Arrow streams to the builder: their fields, and their sound.

The builder has this file compiled in (src/corpus/files/row_server.hpp). It runs it in a Python that
has pyarrow, so foreign bytes are parsed in another process. Nothing but pyarrow and the standard
library is needed. `xp.build(dataset=...)` imports it to serve rows that have no file.

A request is a length (uint32), then words with NUL between them:

    rows  KIND PATH FACTS FIRST COUNT FIELDS SOUND     JSON: {"left_out", "is_stream", "rows"}
    sound KIND PATH FACTS ROW                          the encoded sound; no bytes at all: none

An answer is a letter (o: it follows; b: bad input; s: reading failed; u: unsupported), a length
(uint64), and the bytes or a message, which continues a sentence that begins with the file. An empty
list of rows is the end. FACTS are device, inode, bytes and time of the file that is meant.
"""

from __future__ import annotations

import bisect
import contextlib
import importlib
import json
import math
import os
import resource
import socket
import struct
import sys
from collections import Counter, OrderedDict
from typing import Any

PIECE_BYTES = 8 << 20  # of a row group, read at once
RECENT_BYTES = 256 << 20  # pieces that are kept, for threads that ask in another order
RECENT_PIECES = 256
MEMORY_BYTES = 4 << 30  # of this process, whatever a file says of itself
ROW_TEXT_BYTES = 65536
SOUND_BYTES_MAX = 1 << 30  # as row_server.cpp takes
IDLE_S = 60.0  # this process then ends, and gives its memory back; the builder starts another
OPEN_FILES = 32
ROWS_AT_ONCE = 1024
ROWS_MAX = 50_000_000  # a few bytes can say that a value repeats endlessly
DEPTH_MAX = 16
NAMES_OF_SOUND = ("audio", "sound", "bytes", "wav", "flac", "mp3")
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"

pa: Any = None  # pyarrow and two of its modules, which load() loads
pc: Any = None
pq: Any = None


class Refused(Exception):
    """The file is at fault; the message continues a sentence that begins with the file."""


def load() -> None:
    global pa, pc, pq
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # gives memory back
    pa, pc, pq = map(importlib.import_module, ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))


def damaged(reason: object) -> Refused:
    text = str(reason).strip() or type(reason).__name__
    return Refused(f"is damaged, or not what its name says: {text.splitlines()[0][:200]}")


# Columns and their values


def is_bytes(kind: Any) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def mapped(kind: Any, leaf: Any, depth: int = 0) -> Any:
    """Returns a type with `leaf` applied to the plain types in it; None: JSON cannot express it."""
    t = pa.types
    if t.is_struct(kind):
        parts = [(kind.field(i).name, mapped(kind.field(i).type, leaf, depth + 1)) for i in range(kind.num_fields)]
        return None if depth == DEPTH_MAX or any(part is None for _, part in parts) else pa.struct(parts)
    if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind):
        values = mapped(kind.value_type, leaf, depth + 1)
        if depth == DEPTH_MAX or values is None:
            return None
        if t.is_fixed_size_list(kind):
            return pa.list_(values, kind.list_size)
        return pa.large_list(values) if t.is_large_list(kind) else pa.list_(values)
    return leaf(kind)


def in_utc(kind: Any) -> Any:
    return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz is not None else kind


def in_json(kind: Any) -> Any:
    """Times and decimals are texts."""
    t = pa.types
    if t.is_temporal(kind) or t.is_decimal(kind) or t.is_float16(kind):
        return pa.string()
    is_plain = t.is_boolean(kind) or t.is_integer(kind) or t.is_floating(kind) or t.is_null(kind)
    return kind if is_plain or t.is_string(kind) or t.is_large_string(kind) else None


def casts_of(kind: Any) -> list[Any]:
    """Returns the types that values of a column are cast to, one after the other; empty: JSON cannot express them."""
    steps = [mapped(kind, in_utc), mapped(kind, in_json)]
    with contextlib.suppress(pa.ArrowException):
        if None not in steps:
            cast(pa.nulls(0, kind), steps)
            return steps
    return []


def cast(column: Any, steps: list[Any]) -> Any:
    for step in steps:
        column = column.cast(step)
    return column


def without_infinities(value: Any) -> Any:
    """Returns `value` with None for the numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: without_infinities(one) for name, one in value.items()}
    return [without_infinities(one) for one in value] if isinstance(value, list) else value


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Columns:
    """What the columns of a schema mean: the sound, its path, the fields, and those that are left out."""

    def __init__(self, schema: Any) -> None:
        counts = Counter(schema.names)
        self.sound, self.is_struct, self.has_path = self._sound_of(schema, counts)
        self.fields: dict[str, list[Any]] = {}
        left_out = []
        for field in schema:
            if field.name == self.sound:
                continue
            casts = casts_of(field.type)
            if field.name and counts[field.name] == 1 and casts:
                self.fields[field.name] = casts
            else:
                left_out.append(field.name)
        self.left_out = ", ".join(left_out)

    @staticmethod
    def _sound_of(schema: Any, counts: Counter[str]) -> tuple[str, bool, bool]:
        """Returns name, whether it is a struct with `bytes`, and whether that has a path. audio goes first."""
        structs = []
        for field in schema:
            if not pa.types.is_struct(field.type) or counts[field.name] > 1:
                continue
            parts = {part.name: part.type for part in (field.type.field(i) for i in range(field.type.num_fields))}
            if is_bytes(parts.get("bytes", pa.null())):
                structs.append((field.name, True, pa.types.is_string(parts.get("path", pa.null()))))
        plain = [
            (name, False, False) for name in NAMES_OF_SOUND if counts[name] == 1 and is_bytes(schema.field(name).type)
        ]
        found = [one for one in structs if one[0] == "audio"] + structs + plain
        if not found:
            raise Refused("has no column of encoded sound (audio, with the fields bytes and path)")
        return found[0]

    def sounds(self, batch: Any) -> Any:
        column = batch.column(self.sound)
        return pc.struct_field(column, "bytes") if self.is_struct else column

    def read(self, batch: Any) -> list[Any]:
        """Returns for each row the JSON text of its fields, the path of its sound, and a fault or None."""
        there = set(batch.schema.names)
        present = [name for name in self.fields if name in there]
        columns = [cast(batch.column(name), self.fields[name]) for name in present]
        paths = [None] * len(batch)
        if self.has_path and self.sound in there:
            paths = pc.struct_field(batch.column(self.sound), "path")
        try:
            values = zip(*[column.to_pylist() for column in columns]) if columns else [()] * len(batch)
            rows = [self._row(present, one) for one in values]
            return list(zip(rows, paths if isinstance(paths, list) else paths.to_pylist()))
        except ValueError:  # a text that is not UTF-8: which one?
            return [self._one(present, columns, paths, i) for i in range(len(batch))]

    @staticmethod
    def _row(names: Any, values: Any) -> tuple[str | None, str | None]:
        row = dict(zip(names, values))
        try:
            text = dump(row)
        except ValueError:
            text = dump(without_infinities(row))
        if len(text) > ROW_TEXT_BYTES or len(text.encode()) > ROW_TEXT_BYTES:
            return None, f"has fields of more than {ROW_TEXT_BYTES:,} bytes"
        return text, None

    def _one(self, names: Any, columns: Any, paths: Any, i: int) -> Any:
        try:
            path = paths[i] if isinstance(paths, list) else paths[i].as_py()
        except ValueError:
            path = None
        try:
            return self._row(names, [column[i].as_py() for column in columns]), path
        except UnicodeDecodeError:
            return (None, "has a text that is not UTF-8"), path
        except ValueError as error:
            return (None, f"has a field that cannot be read: {str(error)[:200]}"), path


def joined(read: Any, places: Any) -> list[str]:
    """Returns the rows as JSON texts.

    `read`: what Columns.read() gave, or None. `places`: offset and size of each sound, or None.
    """
    rows = []
    for i in range(len(read if read is not None else places)):
        (text, fault), path = read[i] if read is not None else (("{}", None), None)
        row = f'{{"fields":{text or "{}"}'
        if path:
            row += f',"path":{dump(path)}'
        if fault:
            row += f',"fault":{dump(fault)}'
        if places is not None and places[i] is not None:
            row += f',"offset":{places[i][0]},"size":{places[i][1]}'
        rows.append(row + "}")
    return rows


# Sources of rows: rows(first, count, fields, sound) and sound(row)


class StreamRows:
    """An Arrow stream, mapped. A sound is a range of the file, where the builder reads it."""

    def __init__(self, path: str, recent: Recent) -> None:
        self.whole = pa.memory_map(path).read_buffer()
        self.input = pa.BufferReader(self.whole)
        self.reader = pa.ipc.open_stream(self.input)
        self.columns = Columns(self.reader.schema)
        self.left_out = self.columns.left_out
        self.batches: list[Any] = []
        self.starts = [0]

    def _read_to(self, row: int) -> bool:
        while self.starts[-1] <= row:
            try:
                batch = self.reader.read_next_batch()
            except StopIteration:
                end = self.input.tell()
                if bytes(self.whole[max(end - 8, 0) : end]) != END_OF_STREAM:
                    raise Refused("has no end mark: it was cut short") from None
                return False
            batch.validate(full=True)
            self.batches.append(batch)
            self.starts.append(self.starts[-1] + len(batch))
        return True

    def rows(self, first: int, count: int, fields: bool, sound: bool) -> list[str]:
        if not self._read_to(first):
            return []
        place = bisect.bisect_right(self.starts, first) - 1
        batch = self.batches[place].slice(first - self.starts[place], count)
        return joined(
            self.columns.read(batch) if fields else None, self._places(batch) if sound or not fields else None
        )

    def _places(self, batch: Any) -> list[Any]:
        sounds = self.columns.sounds(batch)
        lengths = pc.binary_length(sounds).to_pylist()
        _, offsets, data = sounds.buffers()
        if data is None or data.size == 0:
            return [None if length is None else (0, 0) for length in lengths]
        base = data.address - self.whole.address
        if base < 0 or base + data.size > self.whole.size:
            raise Refused("is compressed, so its sound does not lie in one piece: write it again without compression")
        begins = memoryview(offsets).cast("q" if pa.types.is_large_binary(sounds.type) else "i")
        return [
            None if length is None else (base + begins[sounds.offset + i], length) for i, length in enumerate(lengths)
        ]

    def sound(self, row: int) -> Any:
        raise Refused("has its sound in places, which are not asked for")


class Recent:
    """The pieces that were used last, of all files."""

    def __init__(self) -> None:
        self.pieces: Any = OrderedDict()  # (owner, first row): (end row, batch)
        self.bytes = 0

    def find(self, owner: Any, row: int) -> Any:
        for key, (end, batch) in reversed(self.pieces.items()):
            if key[0] is owner and key[1] <= row < end:
                self.pieces.move_to_end(key)
                return key[1], batch
        return None

    def keep(self, owner: Any, first: int, batch: Any) -> None:
        if (owner, first) in self.pieces:
            return
        self.pieces[owner, first] = (first + len(batch), batch)
        self.bytes += batch.nbytes
        while (self.bytes > RECENT_BYTES and len(self.pieces) > 1) or len(self.pieces) > RECENT_PIECES:
            self.bytes -= self.pieces.popitem(last=False)[1][1].nbytes

    def forget(self, owner: Any) -> None:
        for key in [key for key in self.pieces if key[0] is owner]:
            self.bytes -= self.pieces.pop(key)[1].nbytes


class Pieces:
    """Some columns of a Parquet file, piece by piece. A row group is read once if rows are asked for in order."""

    def __init__(self, file: Any, starts: list[int], leaves: list[int], recent: Recent) -> None:
        self.file, self.starts, self.recent = file, starts, recent
        self.leaves = leaves
        self.group: int | None = None
        self.batches: Any = None
        self.next_row = 0

    def at(self, row: int) -> Any:
        """Returns the first row of the piece with `row`, and the piece."""
        found = self.recent.find(self, row)
        if found:
            return found
        group = bisect.bisect_right(self.starts, row) - 1
        if group != self.group or row < self.next_row:
            self._begin(group)
        while True:
            batch = next(self.batches, None)
            if batch is None:
                raise damaged("it has fewer rows than it says")
            first, self.next_row = self.next_row, self.next_row + len(batch)
            self.recent.keep(self, first, batch)
            if row < self.next_row:
                return first, batch

    def _begin(self, group: int) -> None:
        facts = self.file.metadata.row_group(group)
        size = sum(facts.column(leaf).total_uncompressed_size for leaf in self.leaves)
        rows = max(1, min(ROWS_AT_ONCE, PIECE_BYTES * facts.num_rows // max(size, 1)))
        names = [facts.column(leaf).path_in_schema for leaf in self.leaves]
        self.batches = self.file.iter_batches(rows, row_groups=[group], columns=names, use_threads=False)
        self.group, self.next_row = group, self.starts[group]


class ParquetRows:
    """A Parquet file. A sound is the value of its row; the range says about where in the file that is."""

    def __init__(self, path: str, recent: Recent) -> None:
        self.file = pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
        self.recent = recent
        self.columns = Columns(self.file.schema_arrow)
        self.left_out = self.columns.left_out
        facts = self.file.metadata
        if not 0 <= facts.num_rows <= ROWS_MAX:
            raise damaged(f"it has {facts.num_rows} rows")
        self.groups = [facts.row_group(i) for i in range(facts.num_row_groups)]
        self.starts = [0]
        for group in self.groups:
            self.starts.append(self.starts[-1] + group.num_rows)
        leaves = [self.file.schema.column(i).path for i in range(len(self.file.schema))]
        path_of_sound = self.columns.sound + (".bytes" if self.columns.is_struct else "")
        if leaves.count(path_of_sound) != 1:
            raise damaged("its column of sound has no bytes")
        self.leaf = leaves.index(path_of_sound)
        names = set(self.columns.fields)
        fields = [i for i, leaf in enumerate(leaves) if leaf.split(".")[0] in names or leaf in names]
        if self.columns.has_path:
            fields.append(leaves.index(self.columns.sound + ".path"))
        self.fields = Pieces(self.file, self.starts, fields, recent)
        self.sounds = Pieces(self.file, self.starts, [self.leaf], recent)

    def rows(self, first: int, count: int, fields: bool, sound: bool) -> list[str]:
        if first >= self.starts[-1]:
            return []
        group = bisect.bisect_right(self.starts, first) - 1
        count = min(count, self.starts[group + 1] - first)
        read = places = None
        if fields and self.fields.leaves:
            base, piece = self.fields.at(first)
            read = self.columns.read(piece.slice(first - base, count))
            count = len(read)
        if sound or read is None:
            places = self._places(group, first, count)
        return joined(read and read[: len(places)] if places is not None else read, places)

    def _places(self, group: int, first: int, count: int) -> list[Any]:
        chunk = self.groups[group].column(self.leaf)
        place = chunk.data_page_offset
        if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < place:
            place = chunk.dictionary_page_offset
        known = chunk.statistics if chunk.is_stats_set else None
        if known is not None and known.has_null_count and known.null_count == 0:
            # All rows have sound. Only its mean size is known without reading it.
            return [(place, chunk.total_uncompressed_size // self.groups[group].num_rows)] * count
        base, piece = self.sounds.at(first)
        lengths = pc.binary_length(self.columns.sounds(piece.slice(first - base, count))).to_pylist()
        return [None if length is None else (place, length) for length in lengths]

    def sound(self, row: int) -> Any:
        if row >= self.starts[-1]:
            return None
        base, piece = self.sounds.at(row)
        return self.columns.sounds(piece.slice(row - base, 1))[0].as_buffer()

    def close(self) -> None:
        self.recent.forget(self.fields)
        self.recent.forget(self.sounds)
        self.file.close()


class Files:
    """The files that were asked for last, open."""

    def __init__(self) -> None:
        self.open: Any = OrderedDict()
        self.recent = Recent()

    def of(self, kind: bytes, path: bytes, facts: bytes) -> Any:
        key = (kind, path, facts)
        if key not in self.open:
            self.open[key] = self._open(kind, path, facts)
            if len(self.open) > OPEN_FILES:
                _, oldest = self.open.popitem(last=False)
                getattr(oldest, "close", lambda: None)()
        self.open.move_to_end(key)
        return self.open[key]

    def _open(self, kind: bytes, path: bytes, facts: bytes) -> Any:
        with open(path, "rb") as file:
            seen = os.fstat(file.fileno())
            if facts != b"%d %d %d %d" % (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns):
                raise OSError(0, "has changed since it was listed")
            opened = f"/proc/self/fd/{file.fileno()}"  # this file, whatever its path names by now
            return (ParquetRows if kind == b"parquet" else StreamRows)(opened, self.recent)


# The talk


def receive(talk: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        part = talk.recv(size - len(data))
        if not part:
            return None
        data += part
    return data


def send(talk: socket.socket, letter: bytes, data: Any) -> None:
    talk.sendall(letter + struct.pack("<Q", len(data)))
    talk.sendall(data)


def answer(files: Any, words: list[bytes]) -> Any:
    source = files.of(*words[1:4])
    if words[0] == b"sound":
        sound = memoryview(source.sound(int(words[4])) or b"")
        if len(sound) > SOUND_BYTES_MAX:
            raise Refused(f"has a sound of {len(sound):,} bytes in row {int(words[4])}, which is too much")
        return sound
    rows = source.rows(int(words[4]), int(words[5]), words[6] == b"1", words[7] == b"1")
    is_stream = "true" if getattr(source, "is_stream", False) else "false"
    return f'{{"left_out":{dump(source.left_out)},"is_stream":{is_stream},"rows":[{",".join(rows)}]}}'.encode()


def serve(talk: socket.socket, files: Any) -> None:
    """Answers until the other side hangs up."""
    while True:
        head = receive(talk, 4)
        request = head and receive(talk, *struct.unpack("<I", head))
        if not request:
            return
        try:
            letter, data = b"o", answer(files, request.split(b"\0"))
        except Refused as error:
            letter, data = b"b", str(error).encode(errors="replace")
        except MemoryError:
            letter, data = b"b", b"asks for more memory than there is"
        except Exception as error:  # pyarrow raises many kinds, and an OSError without a number for damage
            is_of_system = isinstance(error, OSError) and error.errno is not None
            failure = getattr(error, "strerror", None) or str(error) if is_of_system else str(damaged(error))
            letter, data = b"s" if is_of_system else b"b", failure.encode(errors="replace")[:4000]
        send(talk, letter, data)


def main() -> None:
    talk = socket.socket(fileno=os.dup(0))
    sys.path[:] = [folder for folder in sys.path if folder]  # nothing is imported from where the user happens to be
    try:
        load()
    except Exception as error:  # a broken library, too
        return send(talk, b"u", str(error).encode(errors="replace"))
    pa.set_cpu_count(1)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    talk.settimeout(IDLE_S)
    send(talk, b"o", pa.__version__.encode())
    with contextlib.suppress(OSError):  # no request came, or the builder has gone
        serve(talk, Files())


if __name__ == "__main__":
    main()
