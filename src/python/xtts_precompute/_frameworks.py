"""What the integrations share: finding the framework, which fields a batch has, and passes over a cache."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, Union

from ._batch import Batch
from ._cache import Cache, PathLike, open
from ._choices import listed, no_such, one_of
from ._errors import InvalidArgumentError, MissingPackageError, NotFoundError
from ._options import core_options
from ._passes import Passes, Share
from ._reader import Reader, ReaderStats

CacheOrPath = Union[Cache, PathLike, Iterable[PathLike]]
T = TypeVar("T")
_DEFAULTS = {name: one.default for name, one in inspect.signature(Cache.reader).parameters.items() if name not in ("self", "unknown")}


def framework(name: str, install: str) -> Any:
    """The module of this name, or an error that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").split(".")[0] != name:
            raise  # it is there, and something that it needs is not
        raise MissingPackageError(f"xtts_precompute.{name} needs {name}: pip install {install}", name=name) from None


class FieldDict(dict[str, Any]):
    """A batch (or sample) as frameworks pass it through: a dict whose entries are attributes, too: `batch["mel"] is batch.mel`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            chosen = ", ".join(map(repr, self))
            hint = f"; fields=({chosen}, 'ids') gives them" if name == "ids" else ""
            raise AttributeError(no_such("field", name, self) + hint) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(f'{name} {_shown(value)}' for name, value in self.items())}>"


def _shown(value: Any) -> str:
    """"[32, 800, 80] float32", for a batch's repr."""
    if isinstance(value, list):
        return f"of {len(value)}"
    if not hasattr(value, "shape"):
        return repr(value)
    return f"{list(value.shape)} {str(value.dtype).removeprefix('torch.')}"


def length_field(column: str) -> str:
    """`text_len` for tokens, else `<column>_len`."""
    return "text_len" if column == "tokens" else column + "_len"


def opened(cache: CacheOrPath) -> Cache:
    """A cache, or the one at a path."""
    return cache if isinstance(cache, Cache) else open(cache)


def parsed_columns(cache: Cache, columns: Any) -> list[Any]:
    """A reader's argument `columns` as _core.Reader has it: a tuple for each, of its name first."""
    return list(core_options(cache.columns, {**_DEFAULTS, "columns": columns})["columns"])


def reader_options(cache: Cache, options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for cache.reader(), checked now: readers are opened at their first use, when the ranks are known."""
    given = dict(options)
    for name in ("columns", "ids", "exclude", "buckets"):  # what can be gone through only once
        if given.get(name) is not None and not isinstance(given[name], (str, bytes, Mapping)):
            given[name] = listed(name, given[name])
    for name in given:
        one_of("argument of a reader", name, _DEFAULTS)
    core_options(cache.columns, {**_DEFAULTS, **given})
    return given


class Fields:
    """Which fields batches have, in which order: columns, their lengths, `speaker`, `language`, `ids`."""

    def __init__(self, cache: Cache, columns: Any, wanted: Iterable[str] | None) -> None:
        if columns is None:
            chosen = list(cache.columns)
        elif isinstance(columns, Mapping):
            chosen = list(columns)
        else:
            chosen = [wish["name"] if isinstance(wish, Mapping) else wish for wish in columns]
        lengths = {length_field(name): name for name in chosen}
        known = [*chosen, *lengths, "speaker", "language", "ids"]
        if isinstance(wanted, str):
            raise InvalidArgumentError(f"fields must be a list of names, not one text: fields=[{wanted!r}]")
        self.names: tuple[str, ...] = tuple(known[:-1] if wanted is None else listed("fields", wanted))
        if not self.names:
            raise InvalidArgumentError(f"fields is empty; None takes all but ids: {', '.join(known)}")
        for name in self.names:
            if name not in known:
                raise NotFoundError(no_such("field", name, known))
        self.column_of = lengths
        """Of a length."""
        needed = {lengths.get(name, name) for name in self.names}
        # Something has to be read, also for who wants ids and speakers only.
        self.columns = [name for name in chosen if name in needed] or chosen[:1]
        """That have to be read, of those that are offered."""

    def narrowed(self, columns: Any) -> Any:
        """The reader's argument `columns`, without what no field needs."""
        if columns is None:
            return list(self.columns)
        if isinstance(columns, Mapping):
            return {name: columns[name] for name in self.columns}
        return [wish for wish in columns if (wish["name"] if isinstance(wish, Mapping) else wish) in self.columns]

    def arrays(self, batch: Batch) -> dict[str, Any]:
        """Each field's array, over the batch's memory; `ids` is a list of as many texts as there are rows, the last ones empty."""
        return {name: self._array(batch, name) for name in self.names}

    def _array(self, batch: Batch, name: str) -> Any:
        if name in self.columns:
            return batch[name]
        if name in self.column_of:
            return batch.lengths(self.column_of[name])
        if name == "ids":
            return batch.ids + [""] * (len(batch) - batch.valid_count)
        return batch.speaker if name == "speaker" else batch.language


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
