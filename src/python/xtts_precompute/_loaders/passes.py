"""Passes over a reader, as training loops expect them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from .. import _core
from .._base.choices import whole
from .._base.errors import InvalidArgumentError
from .._base.words import counted
from .._cache.epochs import Epoch, begin_next_epoch, warn_of_no_batch
from .._cache.readable import DEFAULTS

Share = Callable[[], tuple[int, int]]
T = TypeVar("T")


class Passes(Generic[T]):
    """Passes over a reader, which is opened at its first use, when the ranks are known.

    Each `for` is a pass over one epoch, from its beginning. The next `for` is another epoch, also
    after an early `break`. Only after `load_state_dict()` a pass begins within an epoch, where the
    state says.
    """

    _ahead = 0
    """Batches that are made before they are asked for."""

    def __init__(self, options: Mapping[str, Any], *, rank: int | None, world_size: int | None, share: Share) -> None:
        self._options = dict(options)
        self._share = given_share(rank, world_size) or share
        self._world_size = 1
        self._reader: Any = None
        self._forks = 0
        # The epoch of the running pass, else of the last one, or of the next one if that is placed.
        self._epoch = 0
        self._is_placed = True  # the next pass begins where the reader stands
        self._pass_number = 0  # of the running pass: a pass with another number is over
        self._is_over = False  # the pass has come to the epoch's end
        self._is_told = False  # somebody has said which epoch it is, or a pass has been made
        self._is_loaded = False  # the next pass begins within its epoch
        # The state, where it is not the reader's: some batches are made ahead, or the reader is not
        # open yet.
        self._state: dict[str, Any] | None = None

    # ---- what it goes over, and what is made of it

    def _open_reader(self, **options: Any) -> Any:
        raise NotImplementedError

    def _convert(self, batch: Any) -> Any:
        raise NotImplementedError

    def _finish(self, made: Any) -> T:
        """Returns a batch that was made ahead, when it is handed out."""
        result: T = made
        return result

    # ---- the reader

    def _opened(self) -> Any:
        """Returns the reader of this process; opens it at the first call."""
        if self._reader is not None and self._forks != _core.fork_count():
            self._reader = None  # the parent's
            self._place()
        if self._reader is None:
            rank, self._world_size = self._share()
            reader = self._open_reader(**self._options, rank=rank, world_size=self._world_size)
            if self._state is not None:
                reader.load_state_dict(self._state)
                self._epoch = reader.epoch
            elif self._epoch:
                reader.set_epoch(self._epoch)
            self._state = None
            self._reader, self._forks = reader, _core.fork_count()
            _warn_of_empty_ranks(self._epoch_of(reader))
        return self._reader

    def _epoch_of(self, reader: Any) -> Epoch | None:
        return Epoch.of(reader, {**DEFAULTS, **self._options}, self._world_size)

    def _opened_by_rank(self) -> Any:
        """Returns the reader; opens it anew for its rank if there are several by now.

        A loader that was asked for something (its length, say) before the ranks had met was opened
        for one process.
        """
        is_between_passes = self._is_placed or self._is_over
        if (
            self._reader is not None
            and self._forks == _core.fork_count()
            and is_between_passes
            and self._world_size == 1
            and self._share()[1] > 1
        ):
            self._state = self._reader.state_dict() if self._is_loaded else None
            self._reader.close()
            self._reader = None
        return self._opened()

    def __len__(self) -> int:
        """Returns the number of batches of an epoch, the same on every rank."""
        count: int = len(self._opened_by_rank())
        return count

    def __iter__(self) -> Iterator[T]:
        reader = self._opened_by_rank()
        if not self._is_placed:
            self.set_epoch(self._epoch + 1)
        if not len(reader):
            warn_of_no_batch(reader.sample_count, {**DEFAULTS, **self._options, "world_size": self._world_size})
        self._pass_number += 1
        return _Pass(self, reader)

    @property
    def epoch(self) -> int:
        """The epoch of the running pass; before a pass and after its end, that of the next one."""
        return self._epoch + self._is_over

    def set_epoch(self, epoch: int) -> None:
        """Makes the next pass one of this epoch.

        It begins at the epoch's beginning, or where a loaded state of the same epoch says.
        """
        epoch = whole("epoch", epoch, 0, 2**64 - 1)
        self._is_told = True
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
        """Returns where the loader stands, after the last batch that was handed out.

        The state is plain numbers and texts, for `load_state_dict()`.
        """
        reader = self._opened()
        state = dict(self._state) if self._state is not None else reader.state_dict()
        return behind_last_batch(state, self._epoch_of(reader))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next pass go on after the batches that the state's loader had handed out.

        Batch size and number of ranks may differ.
        """
        reader = self._opened()
        reader.load_state_dict(state)
        self._place()
        self._is_loaded = self._is_told = True
        self._epoch = reader.epoch

    def _from_batch(self, number: int) -> Iterator[T]:
        """Begins a pass behind this many batches of the next pass's epoch."""
        reader = self._opened_by_rank()
        epoch = self._epoch_of(reader)
        if epoch is None:  # batches of buckets have several sizes: they are read
            return itertools.islice(self, number, None)
        next_epoch = self._epoch + (not self._is_placed)
        consumed = min(number * epoch.batch_size * epoch.world_size, epoch.samples)
        self.load_state_dict({**reader.state_dict(), "epoch": next_epoch, "samples_consumed": consumed})
        return iter(self)

    def stats(self) -> Any:
        """Returns what the reader has done, and how evenly."""
        return self._opened().stats()

    def close(self) -> None:
        """Ends the reader's threads. Tensors that you hold stay valid."""
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


Self = TypeVar("Self", bound=Passes[Any])


class _Pass(Generic[T]):
    """One pass over a loader's epoch."""

    def __init__(self, loader: Passes[T], reader: Any) -> None:
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
            raise InvalidArgumentError(
                "another pass over this loader has begun: it has one at a time; make a second loader"
            )
        # Set only now: code that only asks for an iterator (Lightning) loses no epoch.
        loader._is_placed = loader._is_loaded = False
        try:
            return loader._finish(self._next_made() if loader._ahead else loader._convert(next(self._reader)))
        except StopIteration:
            self._is_over = loader._is_over = True
            loader._state = None
            raise

    def _next_made(self) -> Any:
        """Returns the next batch, made ahead; keeps the state after that batch."""
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


def behind_last_batch(state: dict[str, Any], epoch: Epoch | None) -> dict[str, Any]:
    """Returns the state at the epoch's end if the last batch has been handed out.

    Trainers count batches, and never ask for one after the last.
    """
    if epoch is not None and epoch.is_over(state["samples_consumed"]):
        begin_next_epoch(state)
    return state


def _warn_of_empty_ranks(epoch: Epoch | None) -> None:
    """Warns if some ranks have no clip in a last step that is kept: ranks have equally many batches."""
    if epoch is not None and epoch.ranks_without_clips():
        warnings.warn(
            f"{counted(epoch.clips_of_last_step(), 'clip is', 'clips are')} left for the last step of an "
            "epoch, which is a batch without clips on "
            f"{epoch.ranks_without_clips()} of {epoch.world_size} ranks: a mean over it is NaN. drop_last=True "
            "(drop_remainder=True) leaves that step out",
            stacklevel=4,
        )


def given_share(rank: int | None, world_size: int | None) -> Share | None:
    """Returns the ranks that the caller gave, or None where the framework is to be asked."""
    if rank is None and world_size is None:
        return None
    if rank is None or world_size is None:
        raise InvalidArgumentError(
            "rank and world_size go together: give both, or leave out both to take those of the framework"
        )
    return _Fixed(whole("rank", rank, 0, 2**32 - 1), whole("world_size", world_size, 1, 2**32 - 1))


class _Fixed:
    """A share that is known, and can be pickled."""

    def __init__(self, rank: int, world_size: int) -> None:
        self._share = rank, world_size

    def __call__(self) -> tuple[int, int]:
        return self._share
