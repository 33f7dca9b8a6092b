"""Readers: batches of fixed shape, filled ahead by threads."""

from __future__ import annotations

import atexit
import gc
import reprlib
import shlex
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from .. import _core
from .._base.choices import no_others, whole
from .._base.errors import BusyError, CorruptError, Error, InvalidArgumentError, SlotsHeldError
from .._base.warn import warn
from .batch import Batch
from .epochs import begin_next_epoch, warn_of_no_batch
from .options import core_options

_STATE_KEYS = ("order_version", "seed", "epoch", "samples_consumed", "bucket_samples_consumed", "cache", "selection")
_WAIT_AT_EXIT_S = 10.0  # for threads that wait for a batch, and for clips in hand
_WAIT_FOR_SLOT_S = 10.0  # for others to let go of batches

_short = reprlib.Repr()  # of options: a list of ids may have a million
_short.maxstring = 200


@dataclass(frozen=True)
class ReaderStats:
    """What a reader has done, since it was opened."""

    batch_count: int
    sample_count: int
    bytes: int
    """Of true rows."""
    batches_in_place: int
    """That were views of the cache."""
    cache_hits: int
    """Samples that were in memory when they were needed."""
    ms_mean: float
    """From one batch to the next, with the deviation over all, and the quantiles over the last 8,192."""
    ms_std: float
    ms_p50: float
    ms_p95: float
    ms_p99: float
    consumer_wait_s: float
    """For batches."""
    filler_wait_s: float
    """For free slots, all threads together."""
    check_failures: int
    first_failures: tuple[str, ...]
    left_out_count: int
    """Clips that `on_damage="skip"` left out of batches."""
    epoch_left_out_count: int
    """Of them, in the running epoch."""
    epoch_sample_count: int
    """This rank's samples of an epoch."""
    notice: str
    """What the system did not grant, and what would suit the storage better."""
    storage: str
    """What the cache lies on, and how much of it was in memory at the start."""
    reading: str
    """How it is read, and why."""


class Reader:
    """Batches out of a cache, made by `cache.reader()`.

    `for batch in reader` goes on from where the reader stands to the end of its epoch; the next `for` begins the epoch after
    it. After an early `break` the next `for` goes on behind the last batch. `set_epoch(e)` begins epoch e anew.

    Batches that are kept cost slots (`prefetch=`). When all are held, `next()` waits 10 s for one, in which arrays in
    reference cycles are collected, too, and raises BusyError then.

    One thread at a time: a second gets BusyError. Batches may be used and dropped in any thread. After a fork the
    child opens its own reader; this one says so there (UnsupportedError). A pickled reader goes on at the same place
    in another process of the machine. `stats()` may be called by any thread beside the others, and what a reader tells of
    itself (`stats()`, `state_dict()`, `len()`) it tells when it is closed, too.

    Ctrl-C is seen when the batch that is waited for has come; of clips that are computed at once, and no batch is lost.
    """

    def __init__(self, cache: Any, options: Mapping[str, Any]) -> None:
        self._cache = cache
        self._options = dict(options)
        self._ended = False  # the end of the epoch has been reached: the next `for` begins another
        self._told_left_out = 0  # of this epoch, by warnings
        self._core = _core.Reader(cache._reader_source(), core_options(cache.columns, options))
        _open_readers.add(self)

    # ---- iteration

    def __iter__(self) -> Iterator[Batch]:
        if self._ended:
            self.set_epoch(self.epoch)
        if not len(self):
            warn_of_no_batch(self.sample_count, self._options)
        return self

    def __next__(self) -> Batch:
        if self._ended:
            raise StopIteration
        try:
            core = self._next_of_core()
        except CorruptError as error:
            if self._options["on_damage"] == "skip":
                raise  # the epoch has lost more than max_damage; the message says what mends that
            raise CorruptError(
                f'{error}. {self._mends()} mends it, to be opened anew then; on_damage="skip" leaves such clips out'
            ) from None
        if core is None:
            self._ended = True
            self._warn_of_left_out()
            raise StopIteration
        if core.valid_count < len(core) and not self._told_left_out:
            self._warn_of_left_out(" so far")
        return Batch(core, self._cache)

    def _mends(self) -> str:
        return " and ".join(shlex.join(["xtts-precompute", "verify", path, "--repair"]) for path in self._cache.paths)

    def _warn_of_left_out(self, so_far: str = "") -> None:
        """Once when an epoch's first clip is left out, and once at its end where more have followed."""
        if self._options["on_damage"] != "skip":
            return
        stats = self._core.stats()
        count = stats["epoch_left_out_count"]
        if count == self._told_left_out:
            return
        self._told_left_out = count
        share = count / max(stats["epoch_sample_count"], 1)
        warn(
            f"epoch {self._core.epoch()} has left out {count} of {stats['epoch_sample_count']} "
            f"clips{so_far} ({share:.2%}), which are damaged: "
            f"{stats['first_failures'][0]}. {self._mends()} mends them"
        )

    def _next_of_core(self) -> _core.Batch | None:
        try:
            return self._core.next()
        except SlotsHeldError:
            return self._next_when_a_slot_is_back()

    def _next_when_a_slot_is_back(self) -> _core.Batch | None:
        """Who holds the slots may be about to let go of them: another thread, a reference cycle, or a library that goes on
        computing when its call has returned. JAX drops arrays that it is done with only when Python's collector runs."""
        until = time.monotonic() + _WAIT_FOR_SLOT_S
        gc.collect()
        while True:
            try:
                return self._core.next()
            except SlotsHeldError as error:
                if time.monotonic() >= until:
                    raise BusyError(str(error)) from None
            time.sleep(0.001)
            gc.collect(0)

    def __len__(self) -> int:
        """Batches of an epoch, the same number on every rank."""
        return self._core.batches_per_epoch()

    @property
    def sample_count(self) -> int:
        """Clips that are read from, over all ranks."""
        return self._core.sample_count()

    @property
    def samples_per_epoch(self) -> int:
        """Of an epoch, over all ranks: the draws of `weights`, or all clips."""
        return self._core.samples_per_epoch()

    @property
    def epoch(self) -> int:
        """The epoch that the next batch is of: in a loop the running one, behind its end the one after it."""
        return self._core.epoch() + self._ended

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of this epoch."""
        self._core.set_epoch(whole("epoch", epoch, 0, 2**64 - 1))
        self._ended = False
        self._told_left_out = 0

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Where the reader stands, as plain numbers and texts. Batches that were handed out count as consumed."""
        state = dict(self._core.state())
        if self._ended:
            begin_next_epoch(state)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on behind what the state's reader had consumed, also with another batch size or number of ranks.

        MismatchError: the state is of another generation, selection or kind of order.
        """
        given = checked_state(state)
        try:
            self._core.load_state(given)
        except (TypeError, ValueError, RuntimeError) as error:
            if isinstance(error, Error):
                raise
            raise InvalidArgumentError(f"the state holds what state_dict() never gives: {given!r}") from None
        self._ended = False
        self._told_left_out = 0

    # ---- the rest

    def stats(self) -> ReaderStats:
        """What it has done, and how evenly. Any thread may ask, also while another one waits for a batch."""
        return ReaderStats(**self._core.stats())

    def close(self) -> None:
        """Ends its threads. Batches and arrays that are held stay valid. May be called twice. Threads that compute finish the
        clips in hand; Ctrl-C ends the wait for them."""
        self._core.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _unpickle, (type(self), self._cache, self._options, self.state_dict())

    def __repr__(self) -> str:
        if self._core.is_closed:
            return f"<{type(self).__name__} of {self._cache._shown}, closed>"
        if self._core.is_busy:
            return f"<{type(self).__name__} of {self._cache._shown}, in use>"
        given = ", ".join(f"{name}={_short.repr(value)}" for name, value in self._options.items() if value is not None)
        return (
            f"<{type(self).__name__} of {self._cache._shown}: epoch {self.epoch}, {len(self)} "
            f"batches of {self.sample_count} clips, {given}>"
        )


def checked_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """What state_dict() gives has these keys and no others, in all kinds of readers."""
    if not isinstance(state, Mapping):
        raise InvalidArgumentError(f"the state must be one of state_dict(), not {state!r}")
    no_others("key of a reader's state", state, _STATE_KEYS)
    for key in _STATE_KEYS:
        if key not in state:
            raise InvalidArgumentError(f"the state has no '{key}': it is not one of state_dict()")
    return dict(state)


def _unpickle(kind: type[Reader], cache: Any, options: Mapping[str, Any], state: Mapping[str, Any]) -> Reader:
    reader = kind(cache, options)
    reader.load_state_dict(state)
    return reader


_open_readers: weakref.WeakSet[Reader] = weakref.WeakSet()


@atexit.register
def _close_readers() -> None:
    """Ends all threads while what they use is there; from then on readers are closed, also for daemon threads."""
    _core.stay_inside()
    until = time.monotonic() + _WAIT_AT_EXIT_S
    while _core.count_outside() > 0 and time.monotonic() < until:
        time.sleep(0.001)
    for reader in list(_open_readers):
        if not reader._core.is_busy:
            reader._core.close(max(until - time.monotonic(), 0.0))
