"""A copy of a published cache or set in a folder of this machine, proven byte by byte.

The folder has the files under the names that they have in the bucket. Each is checked before it gets
its name, so what is there is right, and a process that dies leaves nothing but `.part` files.

begin() brings what a reader needs to open the copy: manifests and indexes. Then get() brings shards,
in any order, and end() says that all are there. While shards are missing, the C++ reader asks the
filler for them (filler.py, src/reader/missing_file.hpp), whom begin() names in each cache's folder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .._base.errors import CorruptError, MismatchError, ResourceError
from .at_once import at_once
from .bucket import Bucket
from .checks import Blocks, check_shard
from .layout import MANIFEST, SET, CacheFiles, Index, Part, Shard, files_of, parts_of
from .locks import is_kept

_DOWNLOADS = 4  # of a file whose check is wrong
_FILLER = "filler"


class Copy:
    """One copy. The caller has its turn (locks.py). Any number of threads may call get()."""

    def __init__(self, bucket: Bucket, folder: Path, root: str, text: bytes) -> None:
        self._bucket = bucket
        self._folder = folder
        self._root = root
        self._text = text
        self._caches = [files_of(text, MANIFEST)] if root == MANIFEST else self._caches_of(parts_of(text))
        self._index_of = {shard.key: cache.index for cache in self._caches for shard in cache.shards}
        self._blocks: dict[str, Blocks] = {}

    @staticmethod
    def root_is(folder: Path, root: str, text: bytes) -> bool:
        """Tells whether begin() has been there for this manifest.json or set.json."""
        return _is_there(folder / root, len(text)) and (folder / root).read_bytes() == text

    def missing(self) -> list[Index | Shard]:
        """Returns the files that are not there, in canonical order."""
        files = [file for cache in self._caches for file in cache.files]
        return [file for file in files if not _is_there(self._folder / file.key, file.size_bytes)]

    def missing_shards(self) -> list[Shard]:
        return [file for file in self.missing() if isinstance(file, Shard)]

    def begin(self, size_max: int | None, socket: Path) -> None:
        """Makes the folder one that a reader opens. `socket` is the filler's."""
        missing = self.missing()
        self._check_room(size_max, sum(file.size_bytes for file in missing))
        at_once(
            partial(self._bring, index, partial(Blocks, index=index)) for index in missing if isinstance(index, Index)
        )
        for cache in self._caches:
            folder = cache.key.removesuffix(MANIFEST)
            _write(self._folder / folder / _FILLER, f"{socket}\n{folder}\n".encode())
        texts = [*((cache.key, cache.text) for cache in self._caches if cache.key != self._root)]
        for key, text in [*texts, (self._root, self._text)]:
            if not self.root_is(self._folder, key, text):
                _write(self._folder / key, text)

    def get(self, shard: Shard) -> None:
        """Brings a shard, or raises what kept it away."""
        if not _is_there(self._folder / shard.key, shard.size_bytes):
            self._bring(shard, partial(check_shard, shard=shard, blocks=self._blocks_of(shard)))

    def end(self) -> None:
        """Removes the files of earlier generations, unless one of them is still read."""
        for cache in self._caches:
            home = (self._folder / cache.key).parent
            (home / _FILLER).unlink(missing_ok=True)
            earlier = [index for index in home.glob("index-*") if index.name != Path(cache.index.key).name]
            if any(index.suffix == ".bin" and is_kept(index) for index in earlier):
                continue
            named = {self._folder / shard.key for shard in cache.shards}
            for old in [*(shard for shard in home.glob("shards/*/*") if shard not in named), *earlier]:
                old.unlink()

    def _caches_of(self, parts: list[Part]) -> list[CacheFiles]:
        """Returns the caches of a set. A manifest that is the same in the folder comes from there."""
        found: dict[int, CacheFiles] = {}

        def read(number: int, part: Part) -> None:
            key = f"{part.path}/{MANIFEST}"
            cache = None
            with contextlib.suppress(FileNotFoundError, CorruptError):
                cache = files_of((self._folder / key).read_bytes(), key)
            if cache is None or cache.index.digest != part.index:
                cache = files_of(self._bucket.read(key)[0], key)
            if cache.index.digest != part.index:
                raise MismatchError(f"{self._bucket}/{key} is not the cache that {SET} names: it is published anew")
            found[number] = cache

        at_once(partial(read, number, part) for number, part in enumerate(parts))
        return [found[number] for number in range(len(parts))]

    def _blocks_of(self, shard: Shard) -> Blocks:
        index = self._index_of[shard.key]
        if index.key not in self._blocks:  # two threads may both read it
            self._blocks[index.key] = Blocks(self._folder / index.key, index)
        return self._blocks[index.key]

    def _bring(self, file: Index | Shard, check: Callable[[Path], object]) -> None:
        path = self._folder / file.key
        path.parent.mkdir(parents=True, exist_ok=True)
        incomplete = path.with_name(path.name + ".part")
        for left in reversed(range(_DOWNLOADS)):
            try:
                self._bucket.download(file.key, incomplete, file.size_bytes)
                check(incomplete)
                break
            except (CorruptError, MismatchError) as error:
                if left == 0:
                    raise type(error)(f"{error} ({self._bucket}, {_DOWNLOADS} downloads)") from None
        incomplete.rename(path)

    def _check_room(self, size_max: int | None, missing_bytes: int) -> None:
        if size_max is None or missing_bytes == 0:
            return
        local = self._folder.parent
        held_bytes = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(local) for name in names)
        if held_bytes + missing_bytes > size_max:
            raise ResourceError(
                f"{self._bucket} needs {missing_bytes:,} bytes more in {local}, which holds {held_bytes:,} of "
                f"{size_max:,}: give it a larger size, or delete what is not needed there"
            )


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
