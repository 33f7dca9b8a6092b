"""One generation of a cache, opened in this process: its facts and its clips' ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from .. import _core
from .._base.errors import InvalidArgumentError, MismatchError, NotFoundError
from .ids import Ids, is_unicode
from .normalization import Normalization, of_parts
from .options import Statistics

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Column(NamedTuple):
    """A named array that a cache holds for every clip."""

    name: str
    dtype: str
    """The stored type: "float32", "float16", "bfloat16", "int32" ..."""
    shape: tuple[int, ...]
    """The shape of a padded record. Axis 0 is the one with a true length."""
    axis: str = "frames"
    """What its rows go along: "frames", "tokens", "own" (as many as the clip has) or "fixed"."""
    rows_per_frame: int = 1
    """Rows for each frame, for axis "frames"; 0 for other axes."""
    version: str | None = None
    """The version given to add_column(); None if the recipe makes the column."""
    missing: int = 0
    """Clips that came or changed since add_column() and have no record yet; the same call makes those."""


class Stored:
    """What a Cache knows of itself. Clips, batches and readers take it; Cache adds them to it."""

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
    def recipe(self) -> str:
        """The name of the recipe."""
        return self._core.recipe

    @property
    def features_fingerprint(self) -> str:
        """32 hexadecimal digits, equal for two caches whose features have the same definition."""
        return self._core.features_fingerprint

    @property
    def text_fingerprint(self) -> str:
        """32 hexadecimal digits, equal for two caches whose tokens are made in the same way."""
        return self._core.text_fingerprint

    @property
    def generation(self) -> int:
        """How often the cache, or the first of several, has been published."""
        return self._core.generation

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that identify this generation of these caches."""
        return self._digest

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers' names; `batch.speaker` has places in this tuple."""
        return tuple(self._core.speakers)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages' names; `batch.language` has places in this tuple."""
        return tuple(self._core.languages)

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

    def __len__(self) -> int:
        return len(self._core)

    @property
    def _shown(self) -> str:
        return " + ".join(repr(path) for path in self._paths)

    @property
    def ids(self) -> Ids:
        """The clips' ids: a sequence that looks each one up when it is asked for."""
        return Ids(self)

    def __contains__(self, clip_id: object) -> bool:
        if not isinstance(clip_id, str) or not is_unicode(clip_id):
            return False
        try:
            return self._core.find(clip_id) is not None
        except InvalidArgumentError:  # several of the caches have it
            return True

    def _find(self, clip_id: str) -> int:
        position = self._core.find(clip_id) if is_unicode(clip_id) else None
        if position is None:
            raise NotFoundError(f"the cache has no clip {str(clip_id)!r}")
        return position

    def _id(self, position: int) -> str:
        return self._core.id(position)

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
