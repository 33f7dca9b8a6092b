"""What the integrations share: a cache by itself or by its path, a reader's options, and passes over its batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from .._base.choices import no_others
from .._cache.cache import Cache, open
from .._cache.options import DEFAULTS, core_options, kept
from .._cache.reader import Reader, ReaderStats
from .._cache.stored import PathLike
from .fields import Fields
from .passes import Passes, Share

CacheOrPath = Cache | PathLike | Iterable[PathLike]
T = TypeVar("T")


def opened(cache: CacheOrPath) -> Cache:
    """A cache, or the one at a path."""
    return cache if isinstance(cache, Cache) else open(cache)


def reader_options(cache: Cache, options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for cache.reader(), checked now: readers are opened at their first use, when the ranks are known."""
    given = kept(options)
    no_others("argument of a reader", given, DEFAULTS)
    core_options(cache.columns, given)
    return given


class BatchLoader(Passes[T]):
    """Passes over a cache's batches: what `xp.torch.Loader` and its like have in common."""

    def __init__(
        self,
        cache: CacheOrPath,
        options: Mapping[str, Any],
        *,
        fields: Iterable[str] | None,
        rank: int | None,
        world_size: int | None,
        share: Share,
    ) -> None:
        self._cache = opened(cache)
        options = reader_options(self._cache, options)
        self._fields = Fields(self._cache, options.get("columns"), fields)
        options = {**options, "columns": self._fields.narrowed(options.get("columns"))}
        super().__init__(options, rank=rank, world_size=world_size, share=share)

    def _open_reader(self, **options: Any) -> Reader:
        return self._cache.reader(**options)

    @property
    def cache(self) -> Cache:
        """What it reads from."""
        return self._cache

    def stats(self) -> ReaderStats:
        """What the reader has done, and how evenly."""
        stats: ReaderStats = super().stats()
        return stats

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._options.items() if name not in ("ids", "exclude"))
        return f"<{type(self).__module__}.{type(self).__name__} of {self._cache._shown}: {shown}>"
