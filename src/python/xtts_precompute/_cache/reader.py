"""Readers: batches of fixed shape, which threads fill ahead."""

from __future__ import annotations

import atexit
import gc
import reprlib
import shlex
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._base.choices import no_others, whole
from .._base.errors import BusyError, CorruptError, Error, InvalidArgumentError, SlotsHeldError, UnsupportedError
from .._base.warn import warn
from .batch import Batch
from .epochs import begin_next_epoch, warn_of_no_batch
from .options import core_options

_STATE_KEYS = ("order_version", "seed", "epoch", "samples_consumed", "bucket_samples_consumed", "cache", "selection")
_WAIT_AT_EXIT_S = 10.0  # for threads that wait for a batch, and for clips that are being computed
_WAIT_FOR_SLOT_S = 10.0  # for other holders of batches to let go of them

_short = reprlib.Repr()  # shortens options: a list of ids may have a million entries
_short.maxstring = 200


@dataclass(frozen=True)
class ReaderStats:
    """What a reader has done since it was opened."""

    batch_count: int
    sample_count: int
    bytes: int
    """Bytes of true rows."""
    batches_in_place: int
    """Batches that were views of the cache."""
    cache_hits: int
    """Samples that were in memory when they were needed."""
    ms_mean: float
    """Milliseconds from one batch to the next: mean and deviation of all, quantiles of the last 8,192."""
    ms_std: float
    ms_p50: float
    ms_p95: float
    ms_p99: float
    consumer_wait_s: float
    """Seconds that the caller waited for batches."""
    filler_wait_s: float
    """Seconds that threads waited for free slots, all threads together."""
    check_failures: int
    first_failures: tuple[str, ...]
    left_out_count: int
    """Clips that `on_damage="skip"` left out of batches."""
    epoch_left_out_count: int
    """Those of them that the running epoch has left out."""
    epoch_sample_count: int
    """This rank's samples of an epoch."""
    saturated_count: int
    """Values that `on_range="clip"` has changed."""
    notice: str
    """What the system did not grant, and what would suit the storage better."""
    storage: str
    """What the cache lies on, and how much of it was in memory at the start."""
    reading: str
    """How the cache is read, and why."""


class Reader:
    """Batches of a cache's clips. `cache.reader()` makes it.

        reader = cache.reader(batch_size=32, split="train")
        for _ in range(reader.epoch, 100):
            for batch in reader:                            # to the end of the epoch
                step(batch.mel, batch.mel_len)

    A `for` goes on from where the reader stands to the end of its epoch, also after an early
    `break`. The `for` after an epoch's end begins the next epoch. `set_epoch(e)` begins epoch e
    anew.

    Each batch that you keep occupies a slot (`prefetch=`). When all slots are held, `next()` waits
    up to 10 s for one, and collects arrays in reference cycles meanwhile; then it raises BusyError.

    One thread at a time may use a reader; a second one gets BusyError. `stats()` is the exception:
    any thread may call it at any time. Batches may be used and dropped in any thread. After
    `close()`, `stats()`, `state_dict()` and `len()` still answer.

    In a forked child the parent's reader raises UnsupportedError: open another one there. An
    unpickled reader goes on at the same place, in another process of the same machine.

    Ctrl-C takes effect when the batch that is waited for has come; where clips are computed, at
    once. No batch is lost by it.
    """

    def __init__(self, cache: Any, options: Mapping[str, Any]) -> None:
        self._cache = cache
        self._options = dict(options)
        self._ended = False  # the epoch's end has been reached: the next `for` begins another
        self._told_left_out = 0  # of this epoch: the count in the last warning
        taken = core_options(cache.columns, options)
        self._core = _core.Reader(cache._reader_source(), taken)
        _open_readers.add(self)
        self._tell_of_reading(options.get("reading", "auto"))
        self._tell_of_normalizing(taken["columns"])

    def _tell_of_reading(self, asked: str) -> None:
        """Warns if the cache is not read as the caller asked for."""
        if asked in ("auto", "mapped"):
            return
        stats = self.stats()
        taken, of_records, why = stats.reading.partition(": ")
        if of_records and not taken.startswith(asked):
            warn(f"reading={asked!r} cannot be had here, and the reader takes {taken!r}: {stats.notice or why}")

    def _tell_of_normalizing(self, columns: list[Any]) -> None:
        """Warns if the reader normalizes what the recipe has normalized."""
        for name, _, _, how, _, _ in columns:
            if how == "none":
                continue
            try:
                done = self._cache.normalization
            except UnsupportedError:  # a recipe of a newer version, whose records can be read all the same
                return
            if done is None or done.method == "none" or (done.baked and how == "corpus"):
                continue
            warn(
                f"column '{name}' is normalized by its recipe already ({done.text}), and normalize= does it once "
                "more: leave normalize= out unless the model was trained so"
            )

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
                raise  # the epoch has lost more than max_damage; the message says what helps
            raise CorruptError(
                f'{error}. {self._mends()} mends it: open it anew then; on_damage="skip" leaves such clips out'
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
        """Warns once when an epoch leaves out its first clip, and at its end if more have followed."""
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
        """Waits for a slot, and runs Python's collector meanwhile.

        The holder may be about to let go of it: another thread, a reference cycle, or a library
        that computes after its call has returned. JAX drops arrays that it has finished with only
        when the collector runs.
        """
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
        """Returns the number of batches of an epoch, the same on every rank."""
        return self._core.batches_per_epoch()

    @property
    def sample_count(self) -> int:
        """The number of clips that the reader chooses from, over all ranks."""
        return self._core.sample_count()

    @property
    def samples_per_epoch(self) -> int:
        """The samples of an epoch, over all ranks: the draws of `weights`, or all clips."""
        return self._core.samples_per_epoch()

    @property
    def epoch(self) -> int:
        """The epoch of the next batch: within a loop the running one, after its end the next one."""
        return self._core.epoch() + self._ended

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of this epoch."""
        self._core.set_epoch(whole("epoch", epoch, 0, 2**64 - 1))
        self._ended = False
        self._told_left_out = 0

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Returns where the reader stands, as plain numbers and texts, for `load_state_dict()`.

        Batches that were handed out count as consumed.
        """
        state = dict(self._core.state())
        if self._ended:
            begin_next_epoch(state)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on after the samples that the state's reader had consumed.

        Batch size and number of ranks may differ. Raises MismatchError if the state belongs to
        another generation, selection or kind of order, and InvalidArgumentError if it is not from
        `state_dict()`.
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
        """Returns what the reader has done, and how evenly.

        Any thread may call it, even while another one waits for a batch.
        """
        return ReaderStats(**self._core.stats())

    def close(self) -> None:
        """Ends the reader's threads. Batches and arrays that you hold stay valid.

        A second call does nothing. Threads that compute clips finish those in hand; Ctrl-C ends the
        wait for them.
        """
        self._core.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
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
    """Returns the state as a dict, checked to have the keys of `state_dict()` and no others."""
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
    """Ends all threads while what they use still exists.

    From now on readers are closed, also for daemon threads.
    """
    _core.stay_inside()
    until = time.monotonic() + _WAIT_AT_EXIT_S
    while _core.count_outside() > 0 and time.monotonic() < until:
        time.sleep(0.001)
    for reader in list(_open_readers):
        if not reader._core.is_busy:
            reader._core.close(max(until - time.monotonic(), 0.0))
