"""One generation of a cache, open in this process: its facts and its clips' ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from .. import _core
from .._base.errors import InvalidArgumentError, MismatchError, NotFoundError
from .ids import Ids, is_unicode
from .options import Statistics

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Column(NamedTuple):
    """What a cache holds of every clip."""

    name: str
    dtype: str
    """As it is stored: "float32", "float16", "bfloat16", "int32" ..."""
    shape: tuple[int, ...]
    """Of a padded record; axis 0 is the one with a true length."""
    axis: str = "frames"
    """What its rows go along: "frames", "tokens", "own" (each clip has as many as it has) or "fixed"."""
    rows_per_frame: int = 1
    """Of axis "frames"; 0: of another."""
    version: str | None = None
    """Of what made it, where add_column() did."""
    missing: int = 0
    """Clips that came or changed since then: they have no record in it, until add_column() makes those."""


class Stored:
    """What a Cache knows of itself. Clips, batches and readers take it, and Cache is made of it and them."""

    def __init__(self, paths: Sequence[str], digest: str | None = None) -> None:
        self._paths = tuple(paths)
        self._handle = _open_same(self._paths, digest)
        # For children and pickles, who come later: the process may have gone to another folder by then.
        self._absolute = tuple(map(os.path.abspath, self._paths))
        self._forks = _core.fork_count()
        self._digest = self._handle.digest

    def _reader_source(self) -> _core.Cache:
        return self._core

    @property
    def _core(self) -> _core.Cache:
        """The handle of this process."""
        if self._forks != _core.fork_count():
            self._handle = _open_same(self._absolute, self._digest)
            self._forks = _core.fork_count()
        return self._handle

    # ---- what it is

    @property
    def path(self) -> str:
        """The folder, as it was given; of the first, where several are one."""
        return self._paths[0]

    @property
    def paths(self) -> tuple[str, ...]:
        """All folders."""
        return self._paths

    @property
    def recipe(self) -> str:
        """The name of the recipe."""
        return self._core.recipe

    @property
    def features_fingerprint(self) -> str:
        """32 hexadecimal digits; equal where two caches hold features of the same definition."""
        return self._core.features_fingerprint

    @property
    def text_fingerprint(self) -> str:
        """32 hexadecimal digits; equal where two caches' tokens are made in the same way."""
        return self._core.text_fingerprint

    @property
    def generation(self) -> int:
        """How often the (first) cache has been published."""
        return self._core.generation

    @property
    def digest(self) -> str:
        """32 hexadecimal digits: which generation of which caches."""
        return self._digest

    @property
    def speakers(self) -> tuple[str, ...]:
        """Names by the numbers that `batch.speaker` carries."""
        return tuple(self._core.speakers)

    @property
    def languages(self) -> tuple[str, ...]:
        """Names by the numbers that `batch.language` carries."""
        return tuple(self._core.languages)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the corpora in it, sorted; empty where one corpus was built by itself."""
        return tuple(self._core.datasets)

    @property
    def columns(self) -> dict[str, Column]:
        """What is stored of every clip, by name."""
        return {
            name: Column(name, dtype, tuple(shape), axis, rows, version, missing)
            for name, dtype, shape, axis, rows, version, missing in self._core.columns
        }

    @property
    def stats(self) -> dict[str, Statistics]:
        """Mean and deviation of each channel, by column; today of "mel" alone. Raises MismatchError where several caches have each
        their own."""
        try:
            mean, std, frames, is_baked = self._core.statistics("mel")
        except NotFoundError:
            return {}
        return {"mel": Statistics(np.array(mean), np.array(std), frames, is_baked)}

    # ---- its clips' ids

    def __len__(self) -> int:
        return len(self._core)

    @property
    def _shown(self) -> str:
        return " + ".join(repr(path) for path in self._paths)

    @property
    def ids(self) -> Ids:
        """The clips' ids, a sequence that looks each up when it is asked for."""
        return Ids(self)

    def __contains__(self, clip_id: object) -> bool:
        return isinstance(clip_id, str) and is_unicode(clip_id) and self._core.find(clip_id) is not None

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
    """The generation with this digest, or whatever is there."""
    for path in paths:
        if "\0" in path:
            raise InvalidArgumentError(f"the path of a cache holds a zero byte: {path!r}")
    handle = _core.open([os.fsencode(path) for path in paths])
    if digest is not None and handle.digest != digest:
        raise MismatchError(
            f"{' + '.join(paths)} has been built anew since it was opened: open it again with xtts_precompute.open()"
        )
    return handle
