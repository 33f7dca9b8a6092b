"""StepProfiler: where the time of a training step goes, and whether the step waits for data.

A step begins when its batch is asked for. It ends when the next batch is asked for, or with step().
Its time is cut at marks. Each stretch between two marks belongs to the innermost open phase, or to
"other". So phases never overlap, and their shares add up to 100 %.

One thread at a time may use a profiler. A phase costs half a microsecond (README.md); on a GPU it
costs two events.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from .._base.choices import text, whole
from .._base.errors import InvalidArgumentError
from . import gpu as gpus
from .clocks import Clock, ClockChoice, checked, choose
from .report import ProfileReport, Steps

T = TypeVar("T")
DATA, OTHER = "data", "other"
_RESERVED = {OTHER: "time in no phase has this name", "step": "the whole step has this name", "": "give it a name"}
STEPS_MAX = 10_000  # whose times are kept, so that a profiler may stay on
_UNREAD_MAX = 64  # steps whose marks wait to be read; a GPU is never that far behind


class StepProfiler:
    """Splits a training step into the wait for data and the phases that you name.

        profiler = xp.StepProfiler(warmup=5)
        for batch in profiler.batches(loader, steps=50):       # the wait for a batch is "data"
            with profiler.phase("to_device"):
                batch = {name: tensor.to(device) for name, tensor in batch.items()}
            with profiler.phase("forward"):
                predicted = model(batch)
            ...                                     # "loss", "backward", "optimizer", or any name
        for batch in profiler.synthetic(batch, steps=50):      # the same steps with data for free
            ...                                                # prove what data costs
        print(profiler.report())

    If the step is a function: `print(profiler.compare(loader, train_step, steps=50))`. In it,
    train_step may use `profiler.phase()`.

    Phases may come in any order, and several times in a step: their times are added up. Within each
    other, time counts for the innermost. A `@tf.function` cannot be cut inside: time the call as
    one phase, or call forward, loss and optimizer as functions of their own.

    Args:
        warmup: Steps at the beginning that do not count: first calls compile, allocate and start
            workers.
        clock: "wall": for a CPU. "cuda": events on PyTorch's current stream, which never make the
            GPU wait. "tensorflow": wall time; each mark waits for the devices. A function that
            returns seconds: it has to wait for the device first, if there is one (JAX's
            `block_until_ready`). "auto": "cuda" if PyTorch uses CUDA, "tensorflow" if TensorFlow
            sees a GPU, else "wall".
        batch_size: Samples of a batch, for samples/s. None: the length of a batch's first entry
            that has one.
        gpu: The GPU that steps run on, by CUDA's number in this process: its utilization, memory
            and power are read beside the steps that count. "auto": PyTorch's current GPU with the
            clock "cuda", TensorFlow's first with the clock "tensorflow", else none. None: none.
    """

    def __init__(
        self,
        *,
        warmup: int = 5,
        clock: ClockChoice = "auto",
        batch_size: int | None = None,
        gpu: int | str | None = "auto",
    ) -> None:
        self._warmup = whole("warmup", warmup, 0, 2**31)
        self._wanted_clock = checked(clock)
        self._clock: Clock | None = None
        self._wanted_gpu = gpus.checked(gpu)
        self._gpu: int | None = None  # chosen with the clock
        self._data_gpu: gpus.Watch | None = None
        self._batch_size = None if batch_size is None else whole("batch_size", batch_size, 1, 2**31)
        self._real, self._repeated = _Series(self._warmup), _Series(self._warmup)
        self._series = self._real
        self._open: list[str] = []
        self._marks: list[tuple[Any, str]] = []  # of the running step: (mark, the phase that begins there)
        self._host_wait_s = 0.0
        self._begins_pass = False  # the running step took the first batch of a pass over the loader
        self._run: object = None  # identifies the loop that takes batches now

    # ---- around the step

    def batches(self, loader: Iterable[T], steps: int | None = None) -> Iterator[T]:
        """Yields the loader's batches, and times the steps between them.

        The time to get a batch is "data". Asking for the next batch ends the step. With `steps`, it
        yields this many batches after the warm-up, and begins the loader anew at its end as often
        as needed. None: one pass over the loader.
        """
        return self._steps(lambda: iter(loader), self._real, steps)

    def synthetic(self, batch: T, steps: int = 50) -> Iterator[T]:
        """Yields the same batch again and again, for `steps` steps after the warm-up.

        The steps show what training would do with data for free.
        """
        return self._steps(lambda: itertools.repeat(batch), self._repeated, whole("steps", steps, 1, 2**31))

    def phase(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Returns a context: `with profiler.phase("forward"):` counts the time within as "forward"."""
        reason = _RESERVED.get(text("the name of a phase", name))
        if reason is not None:
            raise InvalidArgumentError(f"a phase cannot be called '{name}': {reason}")
        return _Phase(self, name)

    def step(self) -> None:
        """Ends the step. What follows, up to the next batch or phase, belongs to no step.

        Needed without `batches()`, or to leave out validation and checkpoints within `batches()`.
        """
        if self._open:
            raise InvalidArgumentError(f"step() within phase '{self._open[-1]}': end the phase before the step")
        if self._marks:
            assert self._clock is not None
            self._series.add(self._clock, self._marks, self._clock.mark(), self._host_wait_s, self._begins_pass)
            self._drop_step()

    def compare(self, loader: Iterable[T], step: Callable[[T], object], steps: int = 50) -> ProfileReport:
        """Runs `step(batch)` on the loader's batches, then as often on the last batch alone.

        Returns the report of both. Raises InvalidArgumentError if the loader has no batches.
        """
        whole("steps", steps, 1, 2**31)
        last: Any = self
        for batch in self.batches(loader, steps):
            last = batch
            step(batch)
        if last is self:
            raise InvalidArgumentError(
                "the loader has no batches, maybe because there are fewer clips than batch_size: "
                "drop_last=False takes them all the same"
            )
        for batch in self.synthetic(last, steps):
            step(batch)
        return self.report()

    def watch_data_gpu(self, number: int | None) -> None:
        """Watches a second GPU, on which batches are prepared, from now to the next `report()`."""
        self._data_gpu = None if number is None or number == self._wanted_gpu else gpus.Watch(number)
        if self._data_gpu is not None:
            self._data_gpu.start()

    def forget(self, warmup: int | None = None) -> None:
        """Drops all steps that were measured, and their warm-up: the next loop begins anew.

        `warmup`: how many steps do not count from now on; None: as before.
        """
        self._stop_watching()
        self._warmup = self._warmup if warmup is None else whole("warmup", warmup, 0, 2**31)
        self._real, self._repeated = _Series(self._warmup), _Series(self._warmup)
        self._series, self._data_gpu = self._real, None

    def report(self) -> ProfileReport:
        """Returns a ProfileReport of the finished steps (the last 10,000), without the warm-up.

        Raises InvalidArgumentError if no step has been measured.
        """
        self._stop_watching()
        if self._clock is None or not self._real.read(self._clock):
            raise InvalidArgumentError(
                f"no step has been measured: {self._real.count} steps are over, and the first "
                f"{self._warmup} (warmup=) do not count; "
                "a step ends where batches() is asked for the next batch, or with step()"
            )
        repeated = self._repeated.read(self._clock)
        size = self._batch_size or self._real.batch_size
        return ProfileReport(
            self._real.steps(),
            self._repeated.steps() if repeated else None,
            self._clock.name,
            self._warmup,
            size,
            self._real.gpu_use(),
            self._repeated.gpu_use() if repeated else None,
            None if self._data_gpu is None else self._data_gpu.use(),
        )

    # ---- inside

    def _steps(self, begin: Callable[[], Iterator[T]], series: _Series, steps: int | None) -> Iterator[T]:
        left = None if steps is None else whole("steps", steps, 1, 2**31) + max(self._warmup - series.count, 0)
        iterator: Iterator[T] | None = None
        is_empty = True
        self._check_open()
        self._drop_step()  # what was timed before the loop is not part of a step
        self._stop_watching()
        self._run, self._series = run, series = object(), series
        try:
            while left is None or left > 0:
                self._end_of_step(run)
                self._mark(DATA)
                asked = time.perf_counter()
                if iterator is None:
                    self._begins_pass = True
                    iterator = begin()
                try:
                    taken = [next(iterator)]
                except StopIteration:
                    self._drop_step()
                    iterator = None
                    if left is None or is_empty:
                        return
                    is_empty = True
                    continue
                self._host_wait_s += time.perf_counter() - asked
                self._mark(OTHER)
                is_empty = False
                if series.batch_size is None:
                    series.batch_size = rows_of(taken[0])
                # No variable here keeps the batch: a Reader's batch holds one of its slots.
                yield taken.pop()
                left = None if left is None else left - 1
            self._end_of_step(run)
        finally:
            if self._run is run:
                self._drop_step()  # a step that ended by `break` or an error does not count
                self._stop_watching()

    def _check_open(self) -> None:
        if self._open:
            raise InvalidArgumentError(
                f"a batch is asked for within phase '{self._open[-1]}': end the phase before the step"
            )

    def _end_of_step(self, run: object) -> None:
        if self._run is not run:
            raise InvalidArgumentError(
                "another loop over this profiler's batches has begun: it times one at a time; use a "
                "second StepProfiler for the inner loop"
            )
        self._check_open()
        self.step()

    def _drop_step(self) -> None:
        self._marks, self._host_wait_s, self._begins_pass = [], 0.0, False

    def _begin_step(self) -> None:
        if self._clock is None:
            self._clock = choose(self._wanted_clock)
            self._gpu = gpus.choose(self._wanted_gpu, self._clock.name)
        if self._gpu is not None:
            self._series.watch(self._gpu)

    def _stop_watching(self) -> None:
        self._real.stop_watching()
        self._repeated.stop_watching()
        if self._data_gpu is not None:
            self._data_gpu.stop()

    def _mark(self, name: str) -> None:
        if not self._marks:
            self._begin_step()
        assert self._clock is not None
        self._marks.append((self._clock.mark(), name))


class _Phase:
    """One use of a phase. It is a class, because a generator's context costs twice as much."""

    __slots__ = ("_name", "_profiler")

    def __init__(self, profiler: StepProfiler, name: str) -> None:
        self._profiler, self._name = profiler, name

    def __enter__(self) -> None:
        self._profiler._open.append(self._name)
        self._profiler._mark(self._name)

    def __exit__(self, *error: object) -> None:
        profiler = self._profiler
        profiler._open.pop()
        if profiler._marks:
            profiler._mark(profiler._open[-1] if profiler._open else OTHER)


class _Series:
    """The last steps of one kind.

    A GPU's marks are read when the GPU has passed them, so that nothing waits for it.
    """

    def __init__(self, warmup: int) -> None:
        self._warmup = warmup
        self.count = 0
        self.batch_size: int | None = None
        self._unread: list[tuple[list[tuple[Any, str]], Any, float, bool]] = []
        self._times: collections.deque[dict[str, float]] = collections.deque(maxlen=STEPS_MAX)
        self._host_wait_s: collections.deque[float] = collections.deque(maxlen=STEPS_MAX)
        self._begins_pass: collections.deque[bool] = collections.deque(maxlen=STEPS_MAX)
        self._watch: gpus.Watch | None = None

    def watch(self, gpu: int) -> None:
        """Watches the GPU from the first step that counts. Called before each step's first mark."""
        if self.count >= self._warmup:
            if self._watch is None:
                self._watch = gpus.Watch(gpu)
            self._watch.start()

    def stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    def gpu_use(self) -> gpus.GpuUse | None:
        return None if self._watch is None else self._watch.use()

    def add(self, clock: Clock, marks: list[tuple[Any, str]], end: Any, host_wait_s: float, begins_pass: bool) -> None:
        self.count += 1
        if self.count <= self._warmup:
            return
        self._unread.append((marks, end, host_wait_s, begins_pass))
        while self._unread and (len(self._unread) > _UNREAD_MAX or clock.is_passed(self._unread[0][1])):
            self._read_first(clock)

    def read(self, clock: Clock) -> bool:
        """Reads all marks; returns whether there is any step."""
        while self._unread:
            self._read_first(clock)
        return bool(self._times)

    def steps(self) -> Steps:
        return Steps(list(self._times), list(self._host_wait_s), list(self._begins_pass))

    def _read_first(self, clock: Clock) -> None:
        marks, end, host_wait_s, begins_pass = self._unread.pop(0)
        ends = [mark for mark, _ in marks[1:]] + [end]
        times: dict[str, float] = {}
        for (mark, name), until in zip(marks, ends):
            times[name] = times.get(name, 0.0) + clock.seconds(mark, until)
        self._times.append(times)
        self._host_wait_s.append(host_wait_s)
        self._begins_pass.append(begins_pass)


def rows_of(batch: Any) -> int | None:
    """Returns the first dimension of a batch's first entry that has one, or None."""
    if isinstance(batch, dict):
        batch = tuple(batch.values())
    for one in batch if isinstance(batch, (tuple, list)) else (batch, getattr(batch, "mel", None)):
        shape = getattr(one, "shape", None)
        if shape is not None and len(shape) > 0:
            return int(shape[0])
    return None
