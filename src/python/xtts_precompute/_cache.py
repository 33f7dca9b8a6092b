"""Caches and their clips."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Union, overload

from . import _core
from ._array import Array, to_array
from ._choices import no_such, one_of
from ._errors import InvalidArgumentError, MismatchError, NotFoundError
from ._options import Columns, OnDamage, Shuffle, WeightOptions
from ._reader import Reader

PathLike = Union[str, "os.PathLike[str]"]


class Column(NamedTuple):
    """What a cache holds of every clip."""

    name: str
    dtype: str
    """As it is stored: "float32", "float16", "bfloat16", "int32" ..."""
    shape: tuple[int, ...]
    """Of a padded record; axis 0 is the one with a true length."""


def open(path: PathLike) -> Cache:
    """Opens the newest published generation of a cache.

    It stays readable as long as the Cache, a reader of it or an array out of it lives, whatever is built meanwhile.
    Raises NotFoundError (no cache there), CorruptError, UnsupportedError (a newer format), ResourceError.
    """
    return Cache._open(os.fspath(path))


class Cache:
    """A cache's clips, in canonical order: data set, split, id. Made by `xtts_precompute.open()`.

    `cache["LJ001-0001"]` and `cache[0]` are clips, `"LJ001-0001" in cache` asks for an id, `len(cache)` counts. Any number of threads may
    use it. In a forked child it opens the same generation anew at its first use there, or raises MismatchError where that has
    been built anew. It can be pickled, for processes that see the same path.
    """

    def __init__(self) -> NoReturn:
        raise TypeError("caches are opened with xtts_precompute.open(path)")

    @classmethod
    def _open(cls, path: str) -> Cache:
        self = cls.__new__(cls)
        self._path = path
        self._handle = _core.open(path)
        self._forks = _core.fork_count()
        self._identity = _identity(self._handle)
        return self

    @property
    def _core(self) -> _core.Cache:
        """The handle of this process."""
        if self._forks != _core.fork_count():
            self._handle = _reopen(self._path, self._identity)
            self._forks = _core.fork_count()
        return self._handle

    # ---- what it is

    @property
    def path(self) -> str:
        """The folder, as it was given."""
        return self._path

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
        """How often the cache has been published."""
        return self._core.generation

    @property
    def columns(self) -> dict[str, Column]:
        """What is stored of every clip, by name."""
        return {name: Column(name, dtype, tuple(shape)) for name, dtype, shape in self._core.columns}

    def __repr__(self) -> str:
        shown = ", ".join(f"{c.name} {list(c.shape)} {c.dtype}" for c in self.columns.values())
        return f"<Cache {self.path!r}: {len(self)} clips, {shown}, recipe {self.recipe}, generation {self.generation}>"

    # ---- its clips

    def __len__(self) -> int:
        return len(self._core)

    @property
    def ids(self) -> Ids:
        """The clips' ids, a sequence that looks each up when it is asked for."""
        return Ids(self)

    def __contains__(self, clip_id: object) -> bool:
        return isinstance(clip_id, str) and self._core.find(clip_id) is not None

    def __getitem__(self, key: str | int) -> Clip:
        if isinstance(key, str):
            return Clip(self, self._find(key))
        return Clip(self, _position(key, len(self)))

    def __iter__(self) -> Iterator[Clip]:
        return (Clip(self, position) for position in range(len(self)))

    def _find(self, clip_id: str) -> int:
        position = self._core.find(clip_id)
        if position is None:
            raise NotFoundError(f"the cache has no clip '{clip_id}'")
        return position

    def _id(self, position: int) -> str:
        return self._core.id(position)

    # ---- batches

    def reader(
        self,
        *,
        batch_size: int = 32,
        split: str | None = None,
        shuffle: Shuffle = "global",
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = True,
        device: str = "cpu",
        prefetch: int = 4,
        threads: int | None = None,
        columns: Columns = None,
        where: str | None = None,
        ids: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        weights: WeightOptions | None = None,
        verify: bool = True,
        on_damage: OnDamage = "raise",
        lock_memory: bool = False,
        stretch_samples: int | None = None,
        stretches_per_window: int | None = None,
        **unknown: NoReturn,
    ) -> Reader:
        """Batches of fixed shape out of this cache, in an order that the seed fixes on every machine.

        Args:
            batch_size: Rows of a batch, of one rank.
            split: "train", "validation", "test"; None: all clips.
            shuffle: "global": every sample anywhere, for memory and SSDs. "window": long sequential reads, mixed in a
                bounded pool, for rotating disks and networks. "none" or None: canonical order, as views of the cache
                where they can be.
            seed: Of the order. The same cache, seed, epoch and selection give the same order.
            rank, world_size: This reader's share: ranks never overlap, and have the same number of batches.
            drop_last: The samples at the end that do not fill a batch on every rank are left out; False: they come in a last
                batch with fewer valid rows (`batch.valid_count`), on some ranks perhaps none.
            device: "cpu".
            prefetch: Batches in memory, at least 3. The one in use and any that are kept are among them.
            threads: That fill batches; None: as many as suit the machine. They never change a byte.
            columns: Names, `["mel", "tokens"]`; or with types, `{"mel": "float16"}`; or with more,
                `{"mel": {"dtype": "float16", "pad_value": -11.5}}` or `[{"name": "mel", "pad_value": -11.5}, "tokens"]`. None: all, as stored.
            where: Only clips for which this holds, as for `xtts-precompute ls --where`: `'seconds > 2 and language == "fa"'`.
            ids: Only these clips. An empty list is an error.
            exclude: Not these clips.
            weights: `{"by": "language" | "speaker" | "dataset", "temperature": 0.5, "draws": N}`. Needs shuffle="global".
            verify: Check each record once, when it is first read.
            on_damage: "raise": CorruptError names the clip, and the call after it goes on with the next batch. "skip": the batch
                comes without the clip. "ignore": it comes as it is.
            lock_memory: Keep batches from being swapped out, where the limits allow it (`stats().notice` says where not).
            stretch_samples, stretches_per_window: For shuffle="window": samples read in one run, and runs mixed with each
                other. None: runs of 32 MiB, and 16 of them.

        Raises:
            InvalidArgumentError, NotFoundError (a column or clip), UnsupportedError (a device), ResourceError.
        """
        options = {name: value for name, value in locals().items() if name not in ("self", "unknown")}
        for name in unknown:
            one_of("argument of reader()", name, options)
        # What can be gone through only once is kept for pickling.
        for name in ("ids", "exclude"):
            if options[name] is not None and not isinstance(options[name], str):
                options[name] = list(options[name])
        if columns is not None and not isinstance(columns, (str, Mapping)):
            options["columns"] = list(columns)
        return Reader(self, options)

    # ---- other processes

    def __reduce__(self) -> Any:
        return _unpickle, (os.path.abspath(self._path), self._identity)


class Ids(Sequence[str]):
    """A cache's ids, in canonical order."""

    __slots__ = ("_cache",)

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def __len__(self) -> int:
        return len(self._cache)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            return [self._cache._id(position) for position in range(*key.indices(len(self)))]
        return self._cache._id(_position(key, len(self)))

    def __contains__(self, clip_id: object) -> bool:
        return clip_id in self._cache

    def index(self, clip_id: str, start: int = 0, stop: int | None = None) -> int:
        """The clip's position; NotFoundError where it is not there."""
        position = self._cache._find(clip_id)
        if position not in range(*slice(start, stop).indices(len(self))):
            raise NotFoundError(f"'{clip_id}' is at {position}, outside of [{start}, {stop})")
        return position

    def count(self, clip_id: str) -> int:
        return int(clip_id in self._cache)

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:3])
        return f"<{len(self)} ids: {shown}{', ...' if len(self) > 3 else ''}>"


class Clip:
    """One clip: its columns as attributes or by `clip["mel"]`, read-only, without padding, checked when they are first read."""

    __slots__ = ("__weakref__", "_cache", "position")

    position: int
    """Its place in the cache's canonical order."""

    def __init__(self, cache: Cache, position: int) -> None:
        self._cache = cache
        self.position = position

    @property
    def id(self) -> str:
        """Its id, or "data set/id" where the corpus has data sets."""
        return self._cache._id(self.position)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self._cache.columns)

    def __getitem__(self, name: str) -> Array:
        memory, dtype, shape = self._cache._core.read(name, self.position)
        return to_array(memory, dtype, tuple(shape), f"column '{name}'")

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.columns:
            raise AttributeError(no_such("column", name, self.columns))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clip) and self._cache is other._cache and self.position == other.position

    def __hash__(self) -> int:
        return hash((id(self._cache), self.position))

    def __repr__(self) -> str:
        return f"<Clip '{self.id}' of {self._cache.path!r}>"


def _position(key: Any, size: int) -> int:
    try:
        position: int = key.__index__()
    except AttributeError:
        raise InvalidArgumentError(f"clips are asked for by id or position, not by {type(key).__name__}") from None
    if not -size <= position < size:
        raise NotFoundError(f"there is no clip {position}: the cache has {size}")
    return position % size if size else 0


def _identity(handle: _core.Cache) -> tuple[int, str, str, int]:
    return handle.generation, handle.features_fingerprint, handle.text_fingerprint, len(handle)


def _reopen(path: str, identity: tuple[int, str, str, int]) -> _core.Cache:
    handle = _core.open(path)
    found = _identity(handle)
    if found != identity:
        raise MismatchError(
            f"{path} was generation {identity[0]} and is generation {found[0]} by now: open it anew with xtts_precompute.open()"
        )
    return handle


def _unpickle(path: str, identity: tuple[int, str, str, int]) -> Cache:
    cache = Cache._open(path)
    if cache._identity != identity:
        raise MismatchError(
            f"{path} was generation {identity[0]} when it was pickled and is generation {cache.generation} here: open it anew "
            f"with xtts_precompute.open()"
        )
    return cache

