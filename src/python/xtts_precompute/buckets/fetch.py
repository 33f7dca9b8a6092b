"""fetch(): a cache or a set of an object store as a folder of this machine, proven byte by byte.

The folder has the files under the names that they have in the bucket. Shards and indexes come
first, each checked before it gets its name; the manifest.json or set.json comes last. So the folder
is a cache, or a set, at each moment after the first. Of the processes of a machine, one transfers
and the others wait for it; if it dies, the next one goes on.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .._base.errors import CorruptError, Error, InvalidArgumentError, MismatchError, ResourceError
from .at_once import Progress, Tally, at_once
from .bucket import Bucket
from .checks import Blocks, check_shard
from .layout import MANIFEST, SET, CacheFiles, Part, files_of, parts_of
from .locks import is_kept, turn

_DOWNLOADS = 4  # of a file whose check is wrong
_UNITS = {"": 1, **{f"{unit}B": 1000**power for power, unit in enumerate("KMGT", 1)}}
_UNITS |= {f"{unit}iB": 1024**power for power, unit in enumerate("KMGT", 1)}


def fetch(
    url: str, local: str | os.PathLike[str], *, size: int | str | None = None, progress: Progress | None = None
) -> str:
    """Copies the newest generation at the URL to a folder in `local`; returns its path.

    What is there already does not come again. `xp.open(url, local=...)` is this, and opens the path.

    Args:
        url: The folder of the bucket, as `publish()` has it.
        local: A folder on a disk of this machine, for any number of URLs.
        size: The bytes that `local` may hold, such as "200GB". None: what the disk has.
        progress: Is called with the bytes that are done, and with all bytes that are missing.

    Raises:
        NotFoundError: There is no cache and no set at the URL.
        CorruptError: What came is not what the manifest says, four times.
        MismatchError: It was published anew meanwhile.
        ResourceError: `local` may not hold that much, or its disk is full.
        SourceIoError: The store does not answer, or refuses the credentials.
        MissingPackageError: obstore or xxhash is not installed.
    """
    bucket = Bucket(url)
    size_max = None if size is None else _bytes_of(size)
    folder = Path(local) / _name_of(bucket.url)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with turn(folder.with_name(folder.name + ".lock")):
            _update(bucket, folder, size_max, progress)
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise ResourceError(f"{error.filename or folder}: {error.strerror}") from None
    return str(folder)


def _update(bucket: Bucket, folder: Path, size_max: int | None, progress: Progress | None) -> None:
    root, text, _ = bucket.read_root()
    caches = [files_of(text, MANIFEST)] if root == MANIFEST else _caches_of(bucket, folder, parts_of(text))
    files = [file for cache in caches for file in cache.files]
    missing = {file.key for file in files if not _is_there(folder / file.key, file.size_bytes)}
    if missing:
        missing_bytes = sum(file.size_bytes for file in files if file.key in missing)
        _check_room(folder, bucket, size_max, missing_bytes)
        tally = Tally(missing_bytes, progress)
        at_once(
            partial(_get, bucket, folder, one.index.key, one.index.size_bytes, partial(Blocks, index=one.index), tally)
            for one in caches
            if one.index.key in missing
        )
        for cache in caches:
            shards = [shard for shard in cache.shards if shard.key in missing]
            if shards:
                blocks = Blocks(folder / cache.index.key, cache.index)
                at_once(
                    partial(
                        _get,
                        bucket,
                        folder,
                        one.key,
                        one.size_bytes,
                        partial(check_shard, shard=one, blocks=blocks),
                        tally,
                    )
                    for one in shards
                )
    texts = [*((cache.key, cache.text) for cache in caches if cache.key != root), (root, text)]
    for key, new in texts:
        if not _is_there(folder / key, len(new)) or (folder / key).read_bytes() != new:
            _write(folder / key, new)
    for cache in caches:
        _collect(folder, cache)


def _caches_of(bucket: Bucket, folder: Path, parts: list[Part]) -> list[CacheFiles]:
    """Returns the caches of a set, whose manifests come from the folder where they are the same there."""
    found: dict[int, CacheFiles] = {}

    def read(number: int, part: Part) -> None:
        key = f"{part.path}/{MANIFEST}"
        try:
            cache = files_of((folder / key).read_bytes(), key)
        except (FileNotFoundError, CorruptError):
            cache = None
        if cache is None or cache.index.digest != part.index:
            cache = files_of(bucket.read(key)[0], key)
        if cache.index.digest != part.index:
            raise MismatchError(f"{bucket}/{key} is not the cache that {SET} names: it is being published anew")
        found[number] = cache

    at_once(partial(read, number, part) for number, part in enumerate(parts))
    return [found[number] for number in range(len(parts))]


def _get(
    bucket: Bucket, folder: Path, key: str, size_bytes: int, check: Callable[[Path], object], tally: Tally
) -> None:
    path = folder / key
    path.parent.mkdir(parents=True, exist_ok=True)
    incomplete = path.with_name(path.name + ".part")
    for left in reversed(range(_DOWNLOADS)):
        try:
            bucket.download(key, incomplete, size_bytes)
            check(incomplete)
            break
        except (CorruptError, MismatchError) as error:
            if left == 0:
                raise type(error)(f"{error} ({bucket}, {_DOWNLOADS} downloads)") from None
    incomplete.rename(path)
    tally.add(size_bytes)


def _write(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    incomplete = path.with_name(path.name + ".part")
    with open(incomplete, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    incomplete.rename(path)


def _is_there(path: Path, size_bytes: int) -> bool:
    try:
        return path.stat().st_size == size_bytes
    except FileNotFoundError:
        return False


def _check_room(folder: Path, bucket: Bucket, size_max: int | None, missing_bytes: int) -> None:
    if size_max is None:
        return
    local = folder.parent
    held_bytes = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(local) for name in names)
    if held_bytes + missing_bytes > size_max:
        raise ResourceError(
            f"{bucket} needs {missing_bytes:,} bytes more in {local}, which holds {held_bytes:,} of {size_max:,}: "
            f"give it a larger size, or delete what is not needed there"
        )


def _collect(folder: Path, cache: CacheFiles) -> None:
    """Removes the files of earlier generations, unless one of them is still read."""
    home = (folder / cache.key).parent
    earlier = [index for index in home.glob("index-*") if index.name != Path(cache.index.key).name]
    if any(index.suffix == ".bin" and is_kept(index) for index in earlier):
        return
    named = {folder / shard.key for shard in cache.shards}
    for old in [*(shard for shard in home.glob("shards/*/*") if shard not in named), *earlier]:
        old.unlink()


def _name_of(url: str) -> str:
    """Returns a folder's name for a URL, which people recognize and no other URL has."""
    last = re.sub(r"[^A-Za-z0-9._-]", "-", url.rpartition("/")[2]).lstrip(".-")[:40] or "cache"
    return f"{last}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def _bytes_of(size: int | str) -> int:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)?\s*", str(size))
    if match is None:
        raise InvalidArgumentError(f"size is a number of bytes, or a text such as '200GB' or '64GiB', not {size!r}")
    return int(float(match[1]) * _UNITS[match[2] or ""])
