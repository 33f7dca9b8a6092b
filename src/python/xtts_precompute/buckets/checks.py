"""Proves every byte of an index or a shard, as formats/cache-v1.md says (§5 to §8).

A file from a store is checked here before it gets its name on this machine, so that a reader never
meets what a proxy has damaged. Failures: CorruptError, which names the file.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np

from .._base.errors import CorruptError
from .layout import Index, Shard
from .packages import package

_CHUNK_BYTES = 65_536
_FOOTER_BYTES = 4_096
_HEADER_BYTES = 4_080
_SECTION_OF_BLOCKS = 5
_ROW = np.dtype([("places", "<u8", 7), ("shard", "<u4"), ("records", "<u2"), ("reserved", "<u2")])


class Blocks:
    """The blocks of a cache's shards, as its checked index says."""

    def __init__(self, path: str | os.PathLike[str], index: Index) -> None:
        data = _bytes_of(path, index.key, index.size_bytes)
        footer = _checked_footer(data, index)
        self._of_columns: dict[int, Any] = {}
        (section_count,) = struct.unpack_from("<I", footer, 80)
        for number in range(section_count):
            kind, column_id, offset, size, _ = struct.unpack_from("<IIQQQ", footer, 128 + 40 * number)
            if kind == _SECTION_OF_BLOCKS:
                self._of_columns[column_id] = np.frombuffer(data[offset : offset + size].tobytes(), _ROW)

    def of(self, shard: Shard) -> Any:
        """Returns seven numbers for each block of the shard: §7 names them."""
        rows = self._of_columns.get(shard.column_id)
        if rows is None:
            raise CorruptError(f"{shard.key}: the index does not know its column")
        return rows["places"][rows["shard"] == shard.ordinal]


def check_shard(path: str | os.PathLike[str], shard: Shard, blocks: Blocks) -> None:
    """Compares the whole file with the digest that the manifest has of it."""
    xxhash = package("xxhash")
    check = xxhash.xxh3_64_intdigest
    data = _bytes_of(path, shard.key, shard.size_bytes)
    places = blocks.of(shard)
    table = b"XTTSSHD1" + struct.pack("<QQII", shard.size_bytes, shard.structure, len(places), 0) + places.tobytes()
    if xxhash.xxh3_128_hexdigest(table) != shard.digest:
        raise CorruptError(f"{shard.key}: the index has other blocks than the manifest")
    regions = []
    for header_at, payload_at, payload_bytes, facts_at, facts_bytes, header_check, facts_check in places.tolist():
        header = data[header_at : header_at + _HEADER_BYTES]
        facts = data[facts_at : facts_at + facts_bytes]
        for region, expected in ((header, header_check), (facts, facts_check)):
            if check(region[:-8]) != expected or region[-8:].tobytes() != struct.pack("<Q", expected):
                raise CorruptError(f"{shard.key}: a block is damaged")
        _check_records(header.tobytes(), data[payload_at : payload_at + payload_bytes], shard.key, check)
        regions += [(header_at, _HEADER_BYTES), (payload_at, payload_bytes), (facts_at, facts_bytes)]
    structure = xxhash.xxh3_64()
    end = 0
    for begin, size in sorted(regions):
        structure.update(data[end:begin])
        end = begin + size
    structure.update(data[end:])
    if structure.intdigest() != shard.structure:
        raise CorruptError(f"{shard.key}: the bytes between the blocks are damaged")


def _check_records(header: bytes, payload: Any, key: str, check: Any) -> None:
    (record_count,) = struct.unpack_from("<H", header, 38)
    name, block = header[128:160], header[80:84]
    records = [struct.unpack_from("<QIIQ", header, 240 + 24 * slot) for slot in range(record_count)]
    ends = [record[0] for record in records[1:]] + [len(payload)]
    for slot, (begin, _, _, expected) in enumerate(records):
        place = header[1776 + 16 * slot : 1792 + 16 * slot] + name + block + struct.pack("<I", slot)
        if check(payload[begin : ends[slot]], check(place)) != expected:
            raise CorruptError(f"{key}: a record is damaged")


def _checked_footer(data: Any, index: Index) -> bytes:
    """Proves the footer by the file's name, and all other bytes by the footer."""
    xxhash = package("xxhash")
    check = xxhash.xxh3_64_intdigest
    footer: bytes = data[-_FOOTER_BYTES:].tobytes()
    if xxhash.xxh3_128_hexdigest(footer) != index.digest:
        raise CorruptError(f"{index.key}: the footer is damaged")
    data_bytes, chunk_count, check_of_checks = struct.unpack_from("<QQQ", footer, 48)
    checks = data[data_bytes : data_bytes + 8 * chunk_count].tobytes()
    is_sound = check(checks) == check_of_checks and all(
        check(data[_CHUNK_BYTES * number : min(_CHUNK_BYTES * (number + 1), data_bytes)], number) == expected
        for number, (expected,) in enumerate(struct.iter_unpack("<Q", checks))
    )
    if not is_sound:
        raise CorruptError(f"{index.key}: a chunk is damaged")
    return footer


def _bytes_of(path: str | os.PathLike[str], key: str, size_bytes: int) -> Any:
    """Maps the file."""
    try:
        found = os.path.getsize(path)
    except FileNotFoundError:
        raise CorruptError(f"{key} is missing") from None
    if found != size_bytes or found == 0:
        raise CorruptError(f"{key}: the file has {found} bytes, the manifest says {size_bytes}")
    return np.memmap(path, np.uint8, "r")
