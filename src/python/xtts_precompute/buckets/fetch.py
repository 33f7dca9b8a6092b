"""fetch() and filled(): copies of what a URL names, whole, or whole in the end.

Of the processes of a machine one transfers, and the others wait for it or use what it brings.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from .._base.errors import Error, InvalidArgumentError, ResourceError
from . import filler
from .at_once import Progress, Tally, at_once
from .bucket import Bucket
from .copy import Copy
from .layout import Shard
from .locks import take_turn

_LOOK_S = 0.05
_UNITS = {"": 1, **{f"{unit}B": 1000**power for power, unit in enumerate("KMGT", 1)}}
_UNITS |= {f"{unit}iB": 1024**power for power, unit in enumerate("KMGT", 1)}


def fetch(
    url: str, local: str | os.PathLike[str], *, size: int | str | None = None, progress: Progress | None = None
) -> str:
    """Copies the newest generation at the URL to a folder in `local`; returns its path.

    What is there already does not come again. `xp.open(url, local=...)` opens the same folder, but
    does not wait until all shards are there.

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
    bucket, folder, size_max = Bucket(url), _folder_of(url, local), _bytes_of(size)
    with _disk_errors(folder):
        while (turn := take_turn(_lock_of(folder))) is None:
            time.sleep(_LOOK_S)
        with turn:
            copy = Copy(bucket, folder, *bucket.read_root()[:2])
            copy.begin(size_max, filler.socket_of(folder))
            missing = copy.missing_shards()
            tally = Tally(sum(shard.size_bytes for shard in missing), progress)

            def get(shard: Shard) -> None:
                copy.get(shard)
                tally.add(shard.size_bytes)

            at_once(partial(get, shard) for shard in missing)
            copy.end()
    return str(folder)


def filled(url: str, local: str | os.PathLike[str], size: int | str | None) -> str:
    """Returns the path of a copy that can be opened, and which the filler completes.

    The errors are those of fetch() for what is read at once: manifests and indexes. A reader that
    needs a shard which the filler cannot get raises ResourceError.
    """
    bucket, folder, size_max = Bucket(url), _folder_of(url, local), _bytes_of(size)
    with _disk_errors(folder):
        root, text, _ = bucket.read_root()
        while (turn := take_turn(_lock_of(folder))) is None:
            # Another process fills this copy, or begins to.
            if Copy.root_is(folder, root, text) and filler.join(folder):
                return str(folder)
            time.sleep(_LOOK_S)
        with turn:
            _begin(Copy(bucket, folder, root, text), bucket, folder, size_max, turn)
    return str(folder)


def _begin(copy: Copy, bucket: Bucket, folder: Path, size_max: int | None, turn: IO[bytes]) -> None:
    copy.begin(size_max, filler.socket_of(folder))
    if copy.missing_shards():
        filler.start(bucket.url, folder, turn)
    else:
        copy.end()


@contextlib.contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if isinstance(error, Error):
            raise
        raise ResourceError(f"{error.filename or folder}: {error.strerror}") from None


def _folder_of(url: str, local: str | os.PathLike[str]) -> Path:
    """Returns the folder of a URL: people recognize its name, and no other URL has it."""
    url = url.rstrip("/")
    last = re.sub(r"[^A-Za-z0-9._-]", "-", url.rpartition("/")[2]).lstrip(".-")[:40] or "cache"
    return Path(os.path.abspath(local)) / f"{last}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + ".lock")


def _bytes_of(size: int | str | None) -> int | None:
    if size is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)?\s*", str(size))
    if match is None:
        raise InvalidArgumentError(f"size is a number of bytes, or a text such as '200GB' or '64GiB', not {size!r}")
    return int(float(match[1]) * _UNITS[match[2] or ""])
