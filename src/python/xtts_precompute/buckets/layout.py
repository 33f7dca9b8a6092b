"""Which files a cache or a set has, from manifest.json and set.json (formats/cache-v1.md, set-v1.md).

The texts come from a store that others write, so nothing in them is believed before the check of
the text, and no name in them leads out of the folder.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, NamedTuple

from .._base.errors import CorruptError, UnsupportedError
from .packages import package

MANIFEST = "manifest.json"
SET = "set.json"
_FORMATS = {MANIFEST: "xtts-cache", SET: "xtts-set"}
_DIGEST = re.compile("[0-9a-f]{32}")


class Index(NamedTuple):
    """The index of a cache: its file, and what proves it."""

    key: str
    size_bytes: int
    digest: str


class Shard(NamedTuple):
    """A shard of a cache: its file, and what proves it together with the cache's index."""

    key: str
    size_bytes: int
    digest: str
    structure: int
    column_id: int
    ordinal: int


@dataclasses.dataclass(frozen=True)
class CacheFiles:
    """The files of a cache that a reader needs. Keys are relative to the cache or set."""

    key: str
    """Of its manifest."""
    text: bytes
    generation: int
    index: Index
    shards: list[Shard]

    @property
    def files(self) -> list[Index | Shard]:
        """All of them but the manifest."""
        return [self.index, *self.shards]

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


@dataclasses.dataclass(frozen=True)
class Part:
    """A cache of a set: where it lies, and the digest of its index."""

    path: str
    index: str


def document_of(text: bytes, name: str) -> dict[str, Any]:
    """Returns what a manifest.json or set.json says.

    Raises CorruptError if it is damaged, and UnsupportedError if it is of a newer version.
    """
    body, comma, trailer = text.rpartition(b',"xxh3_128":"')
    digest = package("xxhash").xxh3_128_hexdigest(body)
    if not comma or trailer != digest.encode() + b'"}\n':
        raise CorruptError(f"{name}: the check is wrong")
    document: dict[str, Any] = json.loads(text)
    if document["format"] != _FORMATS[name.rpartition("/")[2]]:
        raise CorruptError(f"{name}: the format is {document['format']!r}")
    if document["version"] != 1 or document["flags"]["incompat"] != 0:
        raise UnsupportedError(f"{name} is of a newer version")
    return document


def files_of(text: bytes, key: str) -> CacheFiles:
    """Returns the files that the manifest with this key names."""
    manifest = document_of(text, key)
    folder = key.removesuffix(MANIFEST)
    ending = {"lmdb": "lmdb", "hdf5": "h5"}.get(manifest["recipe"]["storage"].get("store", "lmdb"))
    if ending is None:
        raise UnsupportedError(f"{key} is of a newer version: its shards are of another kind")
    digest = _digest(manifest["index"]["digest"], key)
    index = Index(f"{folder}index-{digest}.bin", manifest["index"]["bytes"], digest)
    shards = []
    for column_id, column in enumerate(manifest["columns"]):
        name = _name(column["name"], key)
        for ordinal, shard in enumerate(column["shards"]):
            digest = _digest(shard["digest"], key)
            shards.append(
                Shard(
                    f"{folder}shards/{name}/{ordinal:05}-{digest}.{ending}",
                    shard["bytes"],
                    digest,
                    int(shard["structure"], 16),
                    column_id,
                    ordinal,
                )
            )
    return CacheFiles(key, text, manifest["generation"], index, shards)


def parts_of(text: bytes) -> list[Part]:
    """Returns the caches that a set.json names, all of which lie below its folder."""
    return [Part(_below(one["path"]), _digest(one["index"], SET)) for one in document_of(text, SET)["caches"]]


def _below(path: str) -> str:
    if any(step in ("", ".", "..") for step in path.split("/")) or re.search(r"[\x00-\x1f\\]", path):
        raise CorruptError(f"{SET}: the cache {path!r} does not lie below the set's folder")
    return path


def _name(column: str, key: str) -> str:
    if re.fullmatch(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*", column) is None:
        raise CorruptError(f"{key}: {column!r} is no name of a column")
    return column


def _digest(digest: str, key: str) -> str:
    if _DIGEST.fullmatch(digest) is None:
        raise CorruptError(f"{key}: {digest!r} is no digest")
    return digest
