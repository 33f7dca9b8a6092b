"""How the trainer's steps go: counted and timed while it trains, judged by the users' targets at the end."""

from __future__ import annotations

import atexit
import collections
import contextlib
import io
import json
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from xtts_advise import targets

from .._base.words import counted
from ..profile.profiler import StepProfiler
from ..profile.times import OSCILLATING_VARIATION, share_verdict, variation_verdict

_WARMUP = 3  # the first steps compile and allocate
_WINDOW, _FEWEST = 100, 20  # the last steps whose variation is looked at while the trainer trains
_QUIET_STEPS = 1000  # after a warning
_COMPARED_BATCHES = 20
_COMPARE_S = 60.0


class ReaderStats:
    """Counters of the batches that are read, in the file that `monitor --readers` shows.

    The file has the form of src/loader/stats_file.hpp. Synchronised inside.
    """

    def __init__(self) -> None:
        folder = os.environ.get("XTTS_READER_STATS") or _usual_folder()
        self._path = os.path.join(folder, f"reader-{os.getpid()}-myxtts.json") if folder else None
        self._lock = threading.Lock()
        self._counts = {"batches": 0, "samples": 0, "bytes": 0, "consumer_wait_s": 0.0}
        self._next_s = 0.0
        if self._path is not None:
            atexit.register(self._remove)

    def add(self, samples: int, size_bytes: int) -> None:
        with self._lock:
            self._counts["batches"] += 1
            self._counts["samples"] += samples
            self._counts["bytes"] += size_bytes
            self._write()

    def waited(self, seconds: float) -> None:
        with self._lock:
            self._counts["consumer_wait_s"] += seconds

    def _write(self) -> None:
        now = time.monotonic()
        if self._path is None or now < self._next_s:
            return
        self._next_s = now + 1.0
        with contextlib.suppress(OSError):  # a file that cannot be written never disturbs training
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._path}.new")
            # A new file alone: a FIFO that lies there would stop the training.
            with open(f"{self._path}.new", "x", encoding="utf-8") as file:
                json.dump({"format": 1, "at_s": now, **self._counts}, file)
            os.replace(f"{self._path}.new", self._path)

    def _remove(self) -> None:
        assert self._path is not None
        with contextlib.suppress(OSError):
            os.unlink(self._path)


def _usual_folder() -> str | None:
    """Where `monitor` looks unasked: a folder of this user's own (cli/monitor_command.cpp)."""
    folder = os.path.join(tempfile.gettempdir(), f"xtts-readers-{os.getuid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        facts = os.lstat(folder)
    except OSError:
        return None
    return folder if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() else None


class Watch:
    """The trainer's steps. One thread at a time."""

    def __init__(self, stats: ReaderStats, say: Callable[[str], None]) -> None:
        self._stats = stats
        self._say = say
        self._profiler = StepProfiler(warmup=_WARMUP, clock="wall", gpu=None)
        self._recent: collections.deque[tuple[float, float]] = collections.deque(maxlen=_WINDOW)
        self._asked: float | None = None
        self._waited_s = 0.0
        self._warned_at = -_QUIET_STEPS
        self.steps = 0

    def watches(self, gpu: int | None) -> None:
        """Reads this GPU's utilization beside the steps."""
        if not self.steps:
            self._profiler = StepProfiler(warmup=_WARMUP, clock="wall", gpu=gpu)

    def epoch(self, dataset: Any, train: Callable[[Any], Any]) -> Any:
        """Returns what `train(dataset)` returns, while the steps over the data set are timed."""
        return train(_Timed(self._batches, dataset))

    def _batches(self, dataset: Any) -> Iterator[Any]:
        batches = self._profiler.batches(dataset)
        try:
            while True:
                self._step_ends()
                asked = time.perf_counter()
                taken = list(_first(batches))  # no variable keeps the batch
                if not taken:
                    return
                self._asked, self._waited_s = asked, time.perf_counter() - asked
                self._stats.waited(self._waited_s)
                yield taken.pop()
        finally:
            # A trainer that counts an epoch's steps asks for no batch behind the last. What follows is in no step.
            self._step_ends()
            self._profiler.step()

    def _step_ends(self) -> None:
        if self._asked is None:
            return
        self.steps += 1
        if self.steps > _WARMUP:
            self._recent.append((time.perf_counter() - self._asked, self._waited_s))
        self._asked = None
        if len(self._recent) >= _FEWEST and self.steps >= self._warned_at + _QUIET_STEPS:
            self._warn()

    def _warn(self) -> None:
        # One long step, such as one that compiles the shape of an epoch's short batch, is no variation.
        times, waits = np.array(sorted(self._recent)[:-1]).T
        variation, share = float(times.std() / times.mean()), float(waits.sum() / times.sum())
        if variation <= OSCILLATING_VARIATION:
            return
        self._warned_at = self.steps
        # A wait that varies with the steps is their cause; else the step itself is.
        cause = (
            "batches come late: `xtts-precompute doctor --cache` looks at storage and processors"
            if float((times - waits).std()) < 0.5 * float(times.std())
            else "batches are there in time, so the steps themselves differ: evaluation, summaries, other programs"
        )
        self._say(
            f"warning: steps vary by {variation:.0%} (the last {len(self._recent)}; good is below 20 %, bad above "
            f"50 %), and wait {share:.1%} of their time for data: {cause}"
        )

    def report(self, cache_ms: float | None, own_ms: float | None, why_not: str) -> str:
        """Returns what was gained, a line a figure. `own_ms`: a batch of the trainer's own loader."""
        trained = f"trained {counted(self.steps, 'step', 'steps')}"
        lines: list[str] = []

        def add(name: str, value: str, verdict: str) -> None:
            lines.append(f"  {name:<11}{value:<36}{verdict}")

        found = None if self.steps <= _WARMUP else self._profiler.report()
        if found is None:
            lines.append(f"{trained}, too few to time: the first {_WARMUP} do not count.")
        else:
            size = f" of {found.batch_size} clips" if found.batch_size else ""
            lines.append(f"{trained}{size}. What was gained, by the users' targets:")
            add("steps", f"{_ms(found.real.times.mean_ms)} each, {found.steps_per_s:.3g} a second",
                targets.of_steps(found.steps_per_s))  # fmt: skip
            add("waiting", f"{_ms(found.real.phase('data').times.mean_ms)} a step, {found.data_share:.1%}",
                f"{share_verdict(found.data_share)} (good is below 30 %)")  # fmt: skip
            add("variation", f"{found.variation:.0%}", f"{variation_verdict(found.variation)} (good is below 20 %)")
        if cache_ms is not None:
            add("batch", f"{_ms(cache_ms)} from the cache", targets.of_batch(cache_ms))
        use = found.gpu.utilization if found is not None and found.gpu is not None else None
        if use is not None:
            add("GPU", f"{use['mean']:.0f} % busy", "good is 70 to 90 %")
        if own_ms is not None and cache_ms is not None:
            add("own loader", f"{_ms(own_ms)} a batch", f"{own_ms / cache_ms:.3g} times the cache's")
            if found is not None:
                step_ms = found.real.times.mean_ms
                lines.append("  " + _would(own_ms, step_ms, step_ms - found.real.phase("data").times.mean_ms))
        elif why_not:
            lines.append(f"  own loader {why_not}")
        return "\n".join(lines)


def _would(own_ms: float, step_ms: float, compute_ms: float) -> str:
    """Returns a sentence about steps with the trainer's own loader."""
    if own_ms > step_ms:
        return (
            f"With its own loader a step would take {_ms(own_ms)} or more, {own_ms / step_ms:.2g} times as long: a "
            f"batch takes longer than the {_ms(compute_ms)} that a step computes."
        )
    share = own_ms / max(compute_ms, 1e-3)
    return (
        f"Its own loader would keep up with steps as long as these: a batch is {share:.1%} of what a step computes. "
        "Short steps, as on a GPU, gain."
    )


def _ms(ms: float) -> str:
    return f"{ms / 1e3:.3g} s" if ms >= 1000 else f"{ms:.3g} ms"


def batch_ms(make: Callable[[], Any]) -> float:
    """Returns the milliseconds of a batch of a data set, of at most 20 batches and a minute.

    The first batch, with which threads start, does not count.
    """
    with contextlib.redirect_stdout(io.StringIO()):  # the trainer's loader prints what it is
        batches = iter(make())
    next(batches)
    begun, count = time.perf_counter(), 0
    while count < _COMPARED_BATCHES - 1 and time.perf_counter() < begun + _COMPARE_S and list(_first(batches)):
        count += 1
    if not count:
        raise ValueError("there is only one batch")
    return 1e3 * (time.perf_counter() - begun) / count


def _first(batches: Iterator[Any]) -> Iterator[Any]:
    """Yields the next batch, if there is one."""
    for batch in batches:
        yield batch
        return


class _Timed:
    """A data set whose iteration is timed."""

    def __init__(self, batches: Callable[[Any], Iterator[Any]], dataset: Any) -> None:
        self._batches = batches
        self._dataset = dataset

    def __iter__(self) -> Iterator[Any]:
        return self._batches(self._dataset)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dataset, name)
