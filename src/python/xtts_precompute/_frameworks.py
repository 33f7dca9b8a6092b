"""What the integrations share: finding the framework, which fields a batch has, and passes over a reader as training loops expect them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar, Union

from . import _core
from ._batch import Batch
from ._cache import Cache, PathLike, open
from ._choices import listed, no_such, one_of, whole
from ._errors import InvalidArgumentError, MissingPackageError, NotFoundError
from ._options import core_options
from ._reader import Reader, ReaderStats

CacheOrPath = Union[Cache, PathLike, Iterable[PathLike]]
Share = Callable[[], tuple[int, int]]
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
            raise AttributeError(no_such("field", name, self)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


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


class BatchLoader(Generic[T]):
    """Passes over a reader: what `xp.torch.Loader` and its like have in common.

    Each `for` is a pass over one epoch, from its beginning; the next one is another epoch, also after an early `break`. Only
    after `load_state_dict()` it begins where the state says.
    """

    _ahead = 0
    """Batches that are made before they are asked for."""

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
        self._options = {**options, "columns": self._fields.narrowed(options.get("columns"))}
        self._share = given_share(rank, world_size) or share
        self._world_size = 1
        self._reader: Reader | None = None
        self._forks = 0
        self._epoch = 0  # of the pass that runs, of the last one, or of the next one if that is placed
        self._is_placed = True  # the next pass begins where the reader stands
        self._pass_number = 0  # of the one that runs: who has another number is over
        self._is_over = False  # it has come to the epoch's end
        self._is_loaded = False  # the next pass begins within its epoch
        # Where it stands, if not where the reader does: some batches ahead, or not open yet.
        self._state: dict[str, Any] | None = None

    # ---- what a framework makes of it

    def _convert(self, batch: Batch) -> Any:
        raise NotImplementedError

    def _finish(self, made: Any) -> T:
        """What was made ahead is handed out now."""
        result: T = made
        return result

    # ---- the reader

    def _opened(self) -> Reader:
        """The reader of this process."""
        if self._reader is not None and self._forks != _core.fork_count():
            self._reader = None  # the parent's
            self._place()
        if self._reader is None:
            rank, self._world_size = self._share()
            reader = self._cache.reader(**self._options, rank=rank, world_size=self._world_size)
            if self._state is not None:
                reader.load_state_dict(self._state)
                self._epoch = reader.epoch
            elif self._epoch:
                reader.set_epoch(self._epoch)
            self._state = None
            self._reader, self._forks = reader, _core.fork_count()
        return self._reader

    @property
    def cache(self) -> Cache:
        """What it reads from."""
        return self._cache

    def __len__(self) -> int:
        """Batches of an epoch, the same number on every rank."""
        return len(self._opened())

    def __iter__(self) -> Iterator[T]:
        reader = self._opened()
        if not self._is_placed:
            self.set_epoch(self._epoch + 1)
        self._pass_number += 1
        return _Pass(self, reader)

    @property
    def epoch(self) -> int:
        """The epoch of the pass that runs; before it and behind its end that of the next one."""
        return self._epoch + self._is_over

    def set_epoch(self, epoch: int) -> None:
        """The next pass is of this epoch, from its beginning, or from where a state has been loaded that is of it."""
        epoch = whole("epoch", epoch, 0, 2**64 - 1)
        if self._is_loaded and epoch == self._epoch:
            return
        self._epoch = epoch
        if self._reader is not None:
            self._opened().set_epoch(self._epoch)
        self._place()

    def _place(self) -> None:
        self._state = None
        self._is_placed, self._is_loaded, self._is_over = True, False, False
        self._pass_number += 1

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, as plain numbers and texts: behind the last batch that was handed out."""
        reader = self._opened()
        state = dict(self._state) if self._state is not None else reader.state_dict()
        # Who counts batches, as trainers do, never asks for the one behind the last: the epoch is at its end all the same.
        step = self._options.get("batch_size", 32) * self._world_size
        if not self._options.get("buckets") and 0 < len(reader) * step <= state["samples_consumed"]:
            state["epoch"] += 1
            state["samples_consumed"] = 0
            state["bucket_samples_consumed"] = [0] * len(state["bucket_samples_consumed"])
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next pass goes on behind what the state's loader had handed out, also with another batch size or number of ranks."""
        reader = self._opened()
        reader.load_state_dict(state)
        self._place()
        self._is_loaded = True
        self._epoch = reader.epoch

    def stats(self) -> ReaderStats:
        """What the reader has done, and how evenly."""
        return self._opened().stats()

    def close(self) -> None:
        """Ends the reader's threads. Tensors that are held stay valid."""
        if self._reader is not None:
            self._opened().close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._reader is not None:
            state["_state"] = self.state_dict()
            state["_epoch"] = state["_state"]["epoch"]
        state.update(_reader=None, _is_placed=True, _is_over=False, _is_loaded=state["_state"] is not None)
        return state

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._options.items() if name not in ("ids", "exclude"))
        return f"<{type(self).__module__}.{type(self).__name__} of {self._cache._shown}: {shown}>"


Self = TypeVar("Self", bound=BatchLoader[Any])


class _Pass(Generic[T]):
    """One pass over a loader's epoch."""

    def __init__(self, loader: BatchLoader[T], reader: Reader) -> None:
        self._loader = loader
        self._reader = reader
        self._number = loader._pass_number
        self._made: list[tuple[Any, dict[str, Any]]] = []
        self._is_over = False

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        loader = self._loader
        if self._is_over:
            raise StopIteration
        if loader._pass_number != self._number:
            raise InvalidArgumentError("another pass over this loader has begun: it has one at a time; make a second loader")
        loader._is_placed = loader._is_loaded = False  # only now: who asks for an iterator alone (Lightning) loses no epoch
        try:
            return loader._finish(self._next_made() if loader._ahead else loader._convert(next(self._reader)))
        except StopIteration:
            self._is_over = loader._is_over = True
            loader._state = None
            raise

    def _next_made(self) -> Any:
        """Batches are begun before they are asked for: the state is that behind the one that is handed out."""
        loader = self._loader
        while len(self._made) <= loader._ahead:
            batch = next(self._reader, None)
            if batch is None:
                break
            self._made.append((loader._convert(batch), self._reader.state_dict()))
        if not self._made:
            raise StopIteration
        made, loader._state = self._made.pop(0)
        return made


def given_share(rank: int | None, world_size: int | None) -> Share | None:
    """What the caller says of ranks, or None where a framework is to be asked."""
    if rank is None and world_size is None:
        return None
    if rank is None or world_size is None:
        raise InvalidArgumentError("rank and world_size go together: give both, or none to take them from the framework")
    return _Fixed(whole("rank", rank, 0, 2**32 - 1), whole("world_size", world_size, 1, 2**32 - 1))


class _Fixed:
    """A share that is known, and can be pickled."""

    def __init__(self, rank: int, world_size: int) -> None:
        self._share = rank, world_size

    def __call__(self) -> tuple[int, int]:
        return self._share
