"""publish(): a cache or a set as objects that `xp.open(URL, local=DIR)` reads.

Shards and indexes come first. Their names are digests, so one that is there need not go again. The
manifest.json or set.json comes last, in one conditional write: readers see the old one or the new
one, and of two publishers one wins.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .._base.errors import BusyError, InvalidArgumentError, MismatchError, NotFoundError
from .at_once import Progress, Tally, at_once
from .bucket import Bucket
from .checks import Blocks, check_shard
from .layout import MANIFEST, SET, document_of, files_of, parts_of
from .locks import kept


class Published(NamedTuple):
    """What `publish()` did."""

    files: int
    """Shards and indexes of the cache or set."""
    bytes: int
    """Their bytes."""
    uploaded_files: int
    """How many of them were not there yet."""
    uploaded_bytes: int
    """The bytes of those."""


class _Write(NamedTuple):
    """A manifest or a set to be written, in place of the version that was there; None: of none."""

    key: str
    text: bytes
    version: dict[str, Any] | None


def publish(
    path: str | os.PathLike[str], url: str, *, replace: bool = False, progress: Progress | None = None
) -> Published:
    """Copies a cache or a set to an object store.

        xp.buckets.publish("./cache", "s3://bucket/cache")

    Each file is checked before it goes. What is there already does not go again, so a second call
    goes on where the first was stopped, and a new generation costs its new shards.

    Args:
        path: A cache, or a set whose caches lie below its folder.
        url: The folder of the bucket. docs/buckets.md says which stores can be written.
        replace: Let it take the place of something else than an earlier generation of it.
        progress: Is called with the bytes that are done, and with all bytes.

    Raises:
        MismatchError: Something else is published there, and `replace` is False.
        BusyError: Another publisher was faster. What it has published stands.
        CorruptError: A file of the cache is damaged. Nothing of it is published.
        InvalidArgumentError: The set names caches that lie elsewhere.
        SourceIoError: The store does not answer, or refuses the credentials.
        UnsupportedError: The store has no conditional writes.
        MissingPackageError: obstore or xxhash is not installed.
    """
    folder, bucket = Path(path), Bucket(url)
    with contextlib.ExitStack() as held:
        texts = _texts_of(folder)
        caches = [files_of(text, key) for key, text in texts if key != SET]
        for cache in caches:
            held.enter_context(kept(folder / cache.index.key))
        if _texts_of(folder) != texts:
            raise BusyError(f"{folder} has been built anew meanwhile: publish it again")
        writes = _planned(bucket, texts, replace)
        work = _Work(bucket, folder, Tally(sum(cache.size_bytes for cache in caches), progress))
        for cache in caches:
            blocks = Blocks(folder / cache.index.key, cache.index)
            at_once(
                [
                    partial(
                        work.upload, cache.index.key, cache.index.size_bytes, lambda: None
                    ),  # Blocks has checked it
                    *(
                        partial(
                            work.upload, one.key, one.size_bytes, partial(check_shard, folder / one.key, one, blocks)
                        )
                        for one in cache.shards
                    ),
                ]
            )
        for write in writes:
            try:
                bucket.replace(*write)
            except MismatchError:
                raise BusyError(
                    f"another publisher has written {bucket}/{write.key} meanwhile, and that stands: look at what it "
                    f"has published, then publish again"
                ) from None
    file_count = sum(len(cache.files) for cache in caches)
    return Published(file_count, sum(cache.size_bytes for cache in caches), len(work.uploaded), sum(work.uploaded))


class _Work:
    """Uploads from one folder to one bucket. Any number of threads."""

    def __init__(self, bucket: Bucket, folder: Path, tally: Tally) -> None:
        self._bucket = bucket
        self._folder = folder
        self._tally = tally
        self.uploaded: list[int] = []  # bytes of each file

    def upload(self, key: str, size_bytes: int, check: Callable[[], None]) -> None:
        if self._bucket.size_bytes(key) != size_bytes:
            check()
            self._bucket.upload(key, self._folder / key)
            self.uploaded.append(size_bytes)
        self._tally.add(size_bytes)


def _texts_of(folder: Path) -> list[tuple[str, bytes]]:
    """Returns the manifests with their keys, and behind them the set, if it is one."""
    with contextlib.suppress(FileNotFoundError):
        return [(MANIFEST, (folder / MANIFEST).read_bytes())]
    try:
        text = (folder / SET).read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"there is no cache and no set at {folder}") from None
    for one in document_of(text, SET)["caches"]:
        if os.path.isabs(one["path"]):
            raise InvalidArgumentError(
                f"the set names {one['path']}, which lies outside of {folder}: make a set of caches in its folder"
            )
    keys = [f"{part.path}/{MANIFEST}" for part in parts_of(text)]
    return [*((key, (folder / key).read_bytes()) for key in keys), (SET, text)]


def _planned(bucket: Bucket, texts: list[tuple[str, bytes]], replace: bool) -> list[_Write]:
    """Returns what is to be written, in this order, before anything goes."""
    root = texts[-1][0]
    other = SET if root == MANIFEST else MANIFEST
    if bucket.size_bytes(other) is not None:
        raise MismatchError(f"{bucket} has a {other}, which would hide a {root}, or be hidden: take another folder")
    writes = []
    for key, text in texts:
        try:
            before, version = bucket.read(key)
        except NotFoundError:
            writes.append(_Write(key, text, None))
            continue
        if before == text:
            continue
        if not replace and not _is_earlier(before, text, key):
            raise MismatchError(
                f"{bucket}/{key} is of something else, or not of an earlier generation: `replace` takes its place"
            )
        writes.append(_Write(key, text, version))
    return writes


def _is_earlier(before: bytes, text: bytes, key: str) -> bool:
    old, new = document_of(before, key), document_of(text, key)
    return bool(old["generation"] < new["generation"] and old["fingerprints"] == new["fingerprints"])
