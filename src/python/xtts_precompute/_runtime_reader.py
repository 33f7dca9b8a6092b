"""Readers of clips that are computed by threads, ahead of who uses them."""

from __future__ import annotations

import hashlib
import statistics
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._choices import one_of, switch, whole
from ._errors import BusyError, InvalidArgumentError, MismatchError, TooManyRejectsError, UnsupportedError
from ._options import SPLITS, _ids, _texts
from ._reader import checked_state, warn_of_no_batch
from ._runtime_batch import Job, RuntimeBatch, wishes_of
from ._runtime_clip import Reject

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from ._runtime import RuntimeClips

SHUFFLES = ("global", "none")
_ORDER_VERSION = 1
_INTERVALS_KEPT = 8192
_MOST = 2**64 - 1


class _Order(NamedTuple):
    """Of the reader's batches; as `_core.samples_of_batch` takes them."""

    sample_count: int
    is_shuffled: bool
    seed: int
    batch_size: int
    rank: int
    world_size: int
    drop_last: bool
    first_place: int
    """Behind what has been taken of the epoch when a state was loaded."""

    def count_batches(self) -> int:
        return _core.count_batches(**{name: value for name, value in self._asdict().items() if name not in ("is_shuffled", "seed")})


@dataclass(frozen=True)
class RuntimeStats:
    """What a reader has done, since it was opened."""

    batch_count: int
    sample_count: int
    ms_mean: float
    """From one batch to the next, with the deviation and the quantiles, over the last 8,192."""
    ms_std: float
    ms_p50: float
    ms_p95: float
    ms_p99: float
    consumer_wait_s: float
    """For batches."""
    rejects: int


class RuntimeReader:
    """Batches of clips that threads compute ahead, made by `clips.reader()`.

    As a cache's Reader: `for batch in reader` goes on from where the reader stands to the end of its epoch; the next `for`
    begins the epoch after it; `set_epoch(e)` begins epoch e anew. What fails in a thread is raised where its batch would
    come, and the call after it goes on with the next batch.

    One thread at a time: a second gets BusyError. A forked child opens its own. A pickled reader goes on at the same place
    in another process of the machine.
    """

    def __init__(self, clips: RuntimeClips, options: Mapping[str, Any]) -> None:
        from concurrent.futures import ThreadPoolExecutor  # who only reads caches need not wait for it

        self._clips = clips
        self._options = dict(options)
        self._handle = clips._core
        self._wishes = wishes_of(clips, options["columns"])
        self._positions = _selected(clips, options)
        shuffle = options["shuffle"]
        self._order = _Order(
            sample_count=len(self._positions),
            is_shuffled=one_of("shuffle", "none" if shuffle is None else shuffle, SHUFFLES) == "global",
            seed=whole("seed", options["seed"], 0, _MOST),
            batch_size=whole("batch_size", options["batch_size"], 1, 2**20),
            rank=whole("rank", options["rank"], 0, 2**32 - 1),
            world_size=whole("world_size", options["world_size"], 1, 2**32 - 1),
            drop_last=switch("drop_last", options["drop_last"]),
            first_place=0,
        )
        self._prefetch = whole("prefetch", options["prefetch"], 1, 1024)
        workers = options["workers"]
        self._workers = clips._arguments["threads"] if workers is None else whole("workers", workers, 1, 1024)
        self._batch_count = self._order.count_batches()  # of a whole epoch
        self._selection = _digest_of(self._positions, self._order.is_shuffled)
        self._count_here = self._batch_count  # of this one, from its first place on
        self._epoch = 0
        self._next = 0  # the batch that the consumer gets next, counted from the first place on
        self._ended = False  # the end of the epoch has been reached: the next `for` begins another
        self._jobs: deque[Job] = deque()  # batches _next, _next + 1, ...
        self._rejects: dict[str, Reject] = {}
        self._taken = _Taken()
        self._turn = threading.Lock()
        self._made_at = _core.fork_count()
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(self._workers, "xtts-runtime")
        self._finalizer = weakref.finalize(self, _end, self._pool, self._jobs, self._made_at)

    # ---- iteration

    def __iter__(self) -> Iterator[RuntimeBatch]:
        if self._ended:
            self.set_epoch(self.epoch)
        if not len(self):
            warn_of_no_batch(self.sample_count, self._options)
        return self

    def __next__(self) -> RuntimeBatch:
        with _Turn(self):
            if self._ended:
                raise StopIteration
            begin = time.perf_counter()
            pool = self._pool_or_why_not()
            self._compute_ahead(pool)
            if not self._jobs:
                self._ended = True
                raise StopIteration
            try:
                # Taken out only then: Ctrl-C while waiting loses no batch.
                batch, rejects = self._jobs[0].finish(self._clips)
            except Exception:
                self._go_on(pool)
                raise
            self._go_on(pool)
            self._taken.add(batch.valid_count, begin)
        self._note(rejects)
        return batch

    def _go_on(self, pool: ThreadPoolExecutor) -> None:
        self._jobs.popleft()
        self._next += 1
        self._compute_ahead(pool)

    def _compute_ahead(self, pool: ThreadPoolExecutor) -> None:
        while len(self._jobs) < self._prefetch and self._next + len(self._jobs) < self._count_here:
            samples = _core.samples_of_batch(self._next + len(self._jobs), epoch=self._epoch, **self._order._asdict())
            job = Job(self._handle, self._wishes, self._order.batch_size, self._positions[np.array(samples, np.intp)])
            job.tasks = [pool.submit(job.fill_row, row) for row in range(len(samples))]
            self._jobs.append(job)

    def _note(self, rejects: list[tuple[str, str, str, str, str]]) -> None:
        if not rejects:
            return
        is_first = not self._rejects
        for parts in rejects:
            reject = Reject(*parts)
            self._rejects[reject.id] = reject
        first = next(iter(self._rejects.values()))
        allowed = self._handle.faults_allowed
        if self._handle.fault_count > allowed:
            raise TooManyRejectsError(
                f"{self._handle.fault_count} clips could not be used, more than the {allowed} allowed (max_rejects of runtime()); "
                f"one of them: {first.error()}"
            )
        if is_first:
            warnings.warn(f"{first.error()}. It is left out, as others will be: the last rows of its batch are empty then (length 0); reader.rejects names them", stacklevel=3)

    def __len__(self) -> int:
        """Batches of an epoch, the same number on every rank."""
        return self._batch_count

    @property
    def sample_count(self) -> int:
        """Clips that are chosen from, over all ranks."""
        return self._order.sample_count

    @property
    def rejects(self) -> tuple[Reject, ...]:
        """Clips that were left out so far, because a build would not store them."""
        return tuple(self._rejects.values())

    @property
    def epoch(self) -> int:
        """The epoch that the next batch is of: in a loop the running one, behind its end the one after it."""
        return self._epoch + self._ended

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of this epoch."""
        wanted = whole("epoch", epoch, 0, _MOST)
        with _Turn(self):
            self._pool_or_why_not()
            self._go_to(wanted, self._order._replace(first_place=0))

    def _go_to(self, epoch: int, order: _Order) -> None:
        if epoch != self._epoch or self._next > 0 or order != self._order:
            _drop(self._jobs)
        self._epoch, self._next, self._ended = epoch, 0, False
        self._order, self._count_here = order, order.count_batches()

    # ---- state

    def state_dict(self) -> dict[str, Any]:
        """Where the reader stands, as plain numbers and texts. Batches that were handed out count as consumed."""
        with _Turn(self):
            order, ended = self._order, self._ended
            consumed = min(order.sample_count, order.first_place + self._next * order.batch_size * order.world_size)
            return {
                "order_version": _ORDER_VERSION,
                "seed": order.seed,
                "epoch": self._epoch + ended,
                "samples_consumed": 0 if ended else consumed,
                "bucket_samples_consumed": [],
                "cache": self._clips.digest,
                "selection": self._selection,
            }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on behind what the state's reader had consumed, also with another batch size or number of ranks.

        MismatchError: the state is of other data, of another selection or kind of order, or of a cache.
        """
        given = checked_state(state)
        if given["order_version"] != _ORDER_VERSION:
            raise UnsupportedError(f"the state is of order version {given['order_version']!r}; this build knows version {_ORDER_VERSION}")
        if given["cache"] != self._clips.digest:
            raise MismatchError(f"the state is of a cache, or of other data than {self._clips._shown} holds now: begin the epoch anew with set_epoch()")
        if given["selection"] != self._selection or given["bucket_samples_consumed"] != []:
            raise MismatchError("the state is of a reader that chose other clips or another kind of shuffle")
        order = self._order._replace(
            seed=whole("seed of the state", given["seed"], 0, _MOST),
            first_place=whole("samples_consumed of the state", given["samples_consumed"], 0, self._order.sample_count),
        )
        epoch = whole("epoch of the state", given["epoch"], 0, _MOST)
        with _Turn(self):
            self._pool_or_why_not()
            self._go_to(epoch, order)

    # ---- the rest

    def stats(self) -> RuntimeStats:
        """What it has done, and how evenly."""
        return self._taken.stats(len(self._rejects))

    def _pool_or_why_not(self) -> ThreadPoolExecutor:
        if self._made_at != _core.fork_count():
            raise UnsupportedError(
                "this reader was opened before the process forked, and its threads are the parent's: open a reader in the child"
            )
        if self._pool is None:
            raise InvalidArgumentError("the reader is closed: open another, clips.reader()")
        return self._pool

    def close(self) -> None:
        """Ends its threads, which finish the clips in hand. Batches stay. May be called twice."""
        pool, self._pool = self._pool, None
        self._finalizer.detach()
        if pool is None or self._made_at != _core.fork_count():
            return
        _drop(self._jobs)
        pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> RuntimeReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _unpickle, (self._clips, self._options, self.state_dict())

    def __repr__(self) -> str:
        if self._pool is None:
            return f"<RuntimeReader of {self._clips._shown}, closed>"
        return f"<RuntimeReader of {self._clips._shown}: epoch {self.epoch}, {len(self)} batches of {self.sample_count} clips>"


class _Taken:
    """What has been handed out, and when."""

    def __init__(self) -> None:
        self._batches = self._samples = 0
        self._wait_s = 0.0
        self._last_s: float | None = None
        self._intervals_ms: deque[float] = deque(maxlen=_INTERVALS_KEPT)

    def add(self, samples: int, asked_s: float) -> None:
        now = time.perf_counter()
        if self._last_s is not None:
            self._intervals_ms.append(1e3 * (now - self._last_s))
        self._last_s = now
        self._wait_s += now - asked_s
        self._batches += 1
        self._samples += samples

    def stats(self, rejects: int) -> RuntimeStats:
        ordered = sorted(self._intervals_ms) or [0.0]
        p50, p95, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95, 0.99))
        return RuntimeStats(
            self._batches, self._samples, statistics.fmean(ordered), statistics.pstdev(ordered), p50, p95, p99, self._wait_s, rejects
        )


def _unpickle(clips: RuntimeClips, options: Mapping[str, Any], state: Mapping[str, Any]) -> RuntimeReader:
    reader = RuntimeReader(clips, options)
    reader.load_state_dict(state)
    return reader


class _Turn:
    """One thread at a time, checked."""

    def __init__(self, reader: RuntimeReader) -> None:
        self._lock = reader._turn
        self._is_parents = reader._made_at != _core.fork_count()

    def __enter__(self) -> None:
        # In a child somebody of the parent's may hold it for ever; what follows says that it is the parent's.
        if not self._is_parents and not self._lock.acquire(blocking=False):
            raise BusyError("another thread is using this reader: one at a time, or a reader for each")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_parents:
            self._lock.release()


def _drop(jobs: deque[Job]) -> None:
    """Batches that nobody wants any more: what has not begun will not."""
    for job in jobs:
        for task in job.tasks:
            task.cancel()
    jobs.clear()


def _end(pool: ThreadPoolExecutor, jobs: deque[Job], made_at: int) -> None:
    """For readers that are dropped without close(). The threads end by themselves."""
    if made_at != _core.fork_count():
        return
    _drop(jobs)
    pool.shutdown(wait=False, cancel_futures=True)


def _digest_of(positions: npt.NDArray[np.uint64], is_shuffled: bool) -> str:
    """Of what a state may be loaded into: 32 hexadecimal digits."""
    digest = hashlib.blake2b(positions.astype("<u8").tobytes(), digest_size=16)
    digest.update(bytes([is_shuffled]))
    return digest.hexdigest()


def _selected(clips: RuntimeClips, options: Mapping[str, Any]) -> npt.NDArray[np.uint64]:
    """Positions, ascending."""
    split = options["split"]
    positions = np.array(clips._core.positions("" if split is None else one_of("split", split, SPLITS)), np.uint64)
    if options["ids"] is not None:
        positions = np.intersect1d(positions, np.array([clips._find(one) for one in _ids(options["ids"])], np.uint64))
    if options["exclude"] is not None:
        ruled_out = {reject.id for reject in clips.rejects}
        names = _texts("exclude", options["exclude"])
        # The second line of a list with the id of a clip is ruled out; the clip is there all the same.
        excluded = [clips._find(one) for one in names if one in clips or one not in ruled_out]
        positions = np.setdiff1d(positions, np.array(excluded, np.uint64))
    return positions
