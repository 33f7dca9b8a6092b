"""Readers of clips that are computed by threads, ahead of who uses them."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._choices import one_of, switch, whole
from ._errors import BusyError, InvalidArgumentError, TooManyRejectsError, UnsupportedError
from ._options import SPLITS, _ids, _texts
from ._runtime_batch import Job, RuntimeBatch, wishes_of
from ._runtime_clip import Reject

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from ._runtime import RuntimeClips

SHUFFLES = ("global", "none")


class _Order(NamedTuple):
    """Of the reader's batches; as `_core.samples_of_batch` takes them."""

    sample_count: int
    is_shuffled: bool
    seed: int
    batch_size: int
    rank: int
    world_size: int
    drop_last: bool


class RuntimeReader:
    """Batches of clips that threads compute ahead, made by `clips.reader()`.

    As a cache's Reader: `for batch in reader` goes on from where the reader stands to the end of its epoch; the next `for`
    begins the epoch after it; `set_epoch(e)` begins epoch e anew. What fails in a thread is raised where its batch would
    come, and the call after it goes on with the next batch.

    One thread at a time: a second gets BusyError. A forked child opens its own. It has no state to save: `set_epoch()` and
    the number of batches to leave out say where a run was.
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
            seed=whole("seed", options["seed"], 0, 2**64 - 1),
            batch_size=whole("batch_size", options["batch_size"], 1, 2**20),
            rank=whole("rank", options["rank"], 0, 2**32 - 1),
            world_size=whole("world_size", options["world_size"], 1, 2**32 - 1),
            drop_last=switch("drop_last", options["drop_last"]),
        )
        self._prefetch = whole("prefetch", options["prefetch"], 1, 1024)
        workers = options["workers"]
        self._workers = clips._arguments["threads"] if workers is None else whole("workers", workers, 1, 1024)
        self._batch_count = _core.count_batches(
            sample_count=self._order.sample_count,
            batch_size=self._order.batch_size,
            rank=self._order.rank,
            world_size=self._order.world_size,
            drop_last=self._order.drop_last,
        )
        self._epoch = 0
        self._next = 0  # the batch that the consumer gets next
        self._ended = False  # the end of the epoch has been reached: the next `for` begins another
        self._jobs: deque[Job] = deque()  # batches _next, _next + 1, ...
        self._rejects: dict[str, Reject] = {}
        self._turn = threading.Lock()
        self._made_at = _core.fork_count()
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(self._workers, "xtts-runtime")
        self._finalizer = weakref.finalize(self, _end, self._pool, self._jobs, self._made_at)

    # ---- iteration

    def __iter__(self) -> Iterator[RuntimeBatch]:
        if self._ended:
            self.set_epoch(self.epoch)
        return self

    def __next__(self) -> RuntimeBatch:
        with _Turn(self):
            if self._ended:
                raise StopIteration
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
        self._note(rejects)
        return batch

    def _go_on(self, pool: ThreadPoolExecutor) -> None:
        self._jobs.popleft()
        self._next += 1
        self._compute_ahead(pool)

    def _compute_ahead(self, pool: ThreadPoolExecutor) -> None:
        while len(self._jobs) < self._prefetch and self._next + len(self._jobs) < self._batch_count:
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
            warnings.warn(f"{first.error()}. It is left out, as others will be: reader.rejects names them", stacklevel=3)

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
        wanted = whole("epoch", epoch, 0, 2**64 - 1)
        with _Turn(self):
            self._pool_or_why_not()
            if wanted != self._epoch or self._next > 0:
                _drop(self._jobs)
            self._epoch, self._next, self._ended = wanted, 0, False

    # ---- the rest

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
        raise TypeError("a reader of runtime clips has threads of this process and cannot be pickled: pickle the clips, and open a reader there")

    def __repr__(self) -> str:
        if self._pool is None:
            return f"<RuntimeReader of {self._clips._shown}, closed>"
        return f"<RuntimeReader of {self._clips._shown}: epoch {self.epoch}, {len(self)} batches of {self.sample_count} clips>"


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


def _selected(clips: RuntimeClips, options: Mapping[str, Any]) -> npt.NDArray[np.uint64]:
    """Positions, ascending."""
    split = options["split"]
    positions = np.array(clips._core.positions("" if split is None else one_of("split", split, SPLITS)), np.uint64)
    if options["ids"] is not None:
        positions = np.intersect1d(positions, np.array([clips._find(one) for one in _ids(options["ids"])], np.uint64))
    if options["exclude"] is not None:
        ruled_out = {reject.id for reject in clips.rejects}
        excluded = [clips._find(one) for one in _texts("exclude", options["exclude"]) if one not in ruled_out]
        positions = np.setdiff1d(positions, np.array(excluded, np.uint64))
    return positions
