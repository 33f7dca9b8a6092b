"""One generation of a cache, opened in this process: its facts and its clips' ids."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from .. import _core
from .._base.errors import InvalidArgumentError, MismatchError, NotFoundError
from .ids import is_unicode
from .normalization import Normalization, of_parts
from .options import Statistics
from .readable import Column, Readable
from .reader import Reader

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Stored(Readable):
    """What a Cache knows of itself. Clips take it; Cache adds them to it."""

    def __init__(self, paths: Sequence[str], digest: str | None = None) -> None:
        self._paths = tuple(paths)
        self._handle = _open_same(self._paths, digest)
        # Children and pickles use absolute paths: the process may have changed its folder by then.
        self._absolute = tuple(map(os.path.abspath, self._paths))
        self._forks = _core.fork_count()
        self._digest = self._handle.digest

    def _reader_source(self) -> _core.Cache:
        return self._core

    @property
    def _core(self) -> _core.Cache:
        """The C++ handle of this process."""
        if self._forks != _core.fork_count():
            self._handle = _open_same(self._absolute, self._digest)
            self._forks = _core.fork_count()
        return self._handle

    # ---- what it is

    @property
    def path(self) -> str:
        """The cache's folder, as it was given; the first one's, if several caches are read as one."""
        return self._paths[0]

    @property
    def paths(self) -> tuple[str, ...]:
        """The folders of all caches, as they were given."""
        return self._paths

    @property
    def generation(self) -> int:
        """How often the cache, or the first of several, has been published."""
        return self._core.generation

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the corpora in the cache, sorted; empty if it was built from one corpus."""
        return tuple(self._core.datasets)

    @property
    def columns(self) -> dict[str, Column]:
        """The columns that are stored for every clip, by name."""
        return {
            name: Column(name, dtype, tuple(shape), axis, rows, version, missing)
            for name, dtype, shape, axis, rows, version, missing in self._core.columns
        }

    @property
    def stats(self) -> dict[str, Statistics]:
        """Mean and deviation of each channel, by column; only "mel" can have them.

        Raises MismatchError if several caches are read as one and their statistics differ.
        """
        try:
            mean, std, frames, is_baked = self._core.statistics("mel")
        except NotFoundError:
            return {}
        return {"mel": Statistics(np.array(mean), np.array(std), frames, is_baked)}

    @property
    def normalization(self) -> Normalization | None:
        """What the numbers of its frames are: which logarithm, and how they are normalized already.

        None: it has no mels. Raises UnsupportedError if its recipe is of a newer version.
        """
        return of_parts(self._core.normalization())

    # ---- its clips' ids

    @property
    def _shown(self) -> str:
        return " + ".join(repr(path) for path in self._paths)

    def _find(self, clip_id: str) -> int:
        position = self._core.find(clip_id) if is_unicode(clip_id) else None
        if position is None:
            raise NotFoundError(f"the cache has no clip {str(clip_id)!r}")
        return position

    def _id(self, position: int) -> str:
        return self._core.id(position)

    # ---- batches

    def _open_reader(self, options: Mapping[str, Any]) -> Reader:
        return Reader(self, options)

    # ---- other processes

    def __reduce__(self) -> Any:
        return type(self), (list(self._absolute), self._digest)


def _open_same(paths: tuple[str, ...], digest: str | None) -> _core.Cache:
    """Opens the generation with this digest; None: the newest one."""
    for path in paths:
        if "\0" in path:
            raise InvalidArgumentError(f"the path of a cache holds a zero byte: {path!r}")
    handle = _core.open([os.fsencode(path) for path in paths])
    if digest is not None and handle.digest != digest:
        raise MismatchError(
            f"{' + '.join(paths)} has been built anew since it was opened: open it again with xtts_precompute.open()"
        )
    return handle
