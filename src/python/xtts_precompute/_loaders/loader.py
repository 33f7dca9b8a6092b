"""What the loaders of all frameworks share: how clips are opened, and options checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._base.choices import no_others
from .._base.errors import InvalidArgumentError
from .._cache.batch import Batch
from .._cache.cache import Cache, open
from .._cache.options import core_options, kept
from .._cache.readable import DEFAULTS, Readable
from .._cache.reader import Reader, ReaderStats
from .._cache.stored import PathLike
from .fields import Fields
from .former_recipes import tell_former_recipe
from .passes import Passes, Share
from .ranges import fitted

CacheOrPath = Cache | PathLike | Iterable[PathLike]
ReadableOrPath = Readable | PathLike | Iterable[PathLike]
T = TypeVar("T")


def opened(clips: ReadableOrPath) -> Readable:
    """Returns clips as they are, or the cache at a path."""
    found = clips if isinstance(clips, Readable) else open(clips)
    if isinstance(found, Cache):
        tell_former_recipe(found)
    return found


def opened_cache(cache: CacheOrPath, what: str) -> Cache:
    """Returns a cache, or the one at a path; other clips are an error that names `what`."""
    found = opened(cache)
    if not isinstance(found, Cache):
        raise InvalidArgumentError(
            f"{what} reads caches, and {found!r} is none: xp.torch.Loader takes it, without workers"
        )
    return found


def reader_options(cache: Readable, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments for cache.reader(), checked now.

    The reader itself is opened at its first use, when the ranks are known.
    """
    given = kept(options)
    no_others("argument of a reader", given, DEFAULTS)
    core_options(cache.columns, {**DEFAULTS, **given})
    return given


class BatchLoader(Passes[T]):
    """Passes over the batches of a cache or of `xp.runtime()`'s clips: the base of all Loaders."""

    def __init__(
        self,
        cache: ReadableOrPath,
        options: Mapping[str, Any],
        *,
        fields: Iterable[str] | None,
        rank: int | None,
        world_size: int | None,
        share: Share,
    ) -> None:
        self._cache = opened(cache)
        self._saturated_count = 0
        options = reader_options(self._cache, options)
        self._fields = Fields(self._cache, options.get("columns"), fields)
        options = {**options, "columns": self._fields.narrowed(options.get("columns"))}
        super().__init__(options, rank=rank, world_size=world_size, share=share)

    def _open_reader(self, **options: Any) -> Reader:
        return self._cache.reader(**options)

    @property
    def cache(self) -> Readable:
        """What the loader reads from: an `xp.Cache` or `xp.RuntimeClips`."""
        return self._cache

    def stats(self) -> ReaderStats:
        """Returns what the reader has done, and how evenly."""
        stats: ReaderStats = super().stats()
        return dataclasses.replace(stats, saturated_count=stats.saturated_count + self._saturated_count)

    def _fitted(self, batch: Batch, name: str, numbers: Any, dtype: npt.DTypeLike, remedy: str) -> npt.NDArray[Any]:
        """Returns a column's numbers as a smaller dtype of the framework's, as `on_range` says."""

        def place(row: int) -> str:
            return f"column '{name}' of clip {batch.ids[row]}"

        on_range = self._options.get("on_range", "raise")
        narrow, count = fitted(numbers, np.dtype(dtype), on_range, place, remedy)
        self._saturated_count += count
        return narrow

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in self._options.items() if name not in ("ids", "exclude")
        )
        return f"<{type(self).__module__}.{type(self).__name__} of {self._cache._shown}: {shown}>"
