"""Which attempt begins when: retries, second runs, and the end. It knows neither Ray nor builds.

Ray could retry by itself (max_retries). It would not know that a new attempt goes on in the folder
of the old one, that two attempts at one part need two folders, what a builder's exit code means, or
what an earlier driver has tried. So the retries are ours alone, and Ray has none.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from .attempt import BUSY, Outcome
from .folder import Folder, Progress


class Pace(NamedTuple):
    """Times and limits."""

    look_every_s: float = 1.0
    retry_after_s: float = 2.0
    deaths_max: int = 10
    """Attempts at one part that may die with their node or process; then the part has failed."""
    faults_max: int = 3
    """The same, for attempts that end with an exit code: other nodes may do better, but not often."""
    late_factor: float = 1.5
    late_min_s: float = 30.0
    """A part that runs longer than this and than `late_factor` of the others' time is late."""
    losers_end_s: float = 20.0
    """How long attempts whose part another one has published may take to end."""


class Placer(Protocol):
    """Runs attempts on nodes."""

    def slot_count(self) -> int:
        """How many attempts can run at once."""

    def room(self) -> int:
        """How many attempts may be started now; they may have to wait for a node."""

    def start(self, part: int, attempt: int, token: str) -> Any:
        """Starts an attempt as soon as a node is free; returns what it is known by."""

    def ended(self, timeout_s: float) -> Sequence[tuple[Any, Outcome]]:
        """Waits for the next attempt that ends."""

    def cancel(self, known_by: Any) -> None:
        """Ends an attempt. It stays known, and ends."""


@dataclass
class Run:
    """An attempt that has been handed to the placer."""

    part: int
    attempt: int
    token: str
    began_s: float | None = None
    """When it was first seen at work. None: it waits for a node."""
    progress: Progress = field(default_factory=Progress)


@dataclass
class State:
    """What the progress line shows."""

    part_count: int
    done_count: int = 0
    runs: dict[Any, Run] = field(default_factory=dict)
    failed: dict[int, Outcome] = field(default_factory=dict)
    repeated_count: int = 0
    """Attempts that failed and were made again."""
    twice_count: int = 0
    """Parts that ran twice, because they were late."""


class Schedule:
    """Brings parts to their end, once. One thread at a time."""

    def __init__(
        self, folder: Folder, placer: Placer, state: State, pace: Pace, done: Callable[[int], None], runs_twice: bool
    ) -> None:
        self.state = state
        self._folder, self._placer, self._pace, self._done = folder, placer, pace, done
        self._runs_twice = runs_twice
        self._again: deque[tuple[float, int, int]] = deque()  # due, part, attempt
        self._failures: dict[int, list[Outcome]] = {}
        self._finished: set[int] = set()  # parts that are done while another attempt at them runs
        self._durations_s: deque[float] = deque(maxlen=1000)
        self._number = 0
        self._next_look_s = 0.0

    def run(self, parts: Iterable[int], show: Callable[[], None]) -> None:
        """Returns when each part is done or has failed. `show` is called about once a second."""
        fresh = iter(parts)
        is_fresh = True
        while is_fresh or self._again or self._unfinished():
            is_fresh = self._start(fresh) and is_fresh
            for known_by, outcome in self._placer.ended(self._pace.look_every_s):
                self._end(self.state.runs.pop(known_by), outcome)
            self._look()
            if self._runs_twice and not is_fresh and not self._again:
                self._start_second()
            show()
        self._end_losers()

    def _unfinished(self) -> list[Run]:
        return [run for run in self.state.runs.values() if run.part not in self._finished]

    def _start(self, fresh: Iterator[int]) -> bool:
        """Hands out what is due. False: no part is left that was not begun."""
        for _ in range(self._placer.room()):
            if self._again and self._again[0][0] <= time.monotonic():
                _, part, attempt = self._again.popleft()
                self._hand_out(part, attempt)
                continue
            new = next(fresh, None)
            if new is None:
                return False
            self._hand_out(new, 1)
        return True

    def _hand_out(self, part: int, attempt: int) -> None:
        self._number += 1
        token = f"# {time.time_ns()}.{self._number}"
        self.state.runs[self._placer.start(part, attempt, token)] = Run(part, attempt, token)

    def _start_second(self) -> None:
        """Starts a second attempt at the part that is latest, if a node is free."""
        runs = self._unfinished()
        if len(self.state.runs) >= self._placer.slot_count() or not self._durations_s:
            return
        late_s = max(self._pace.late_min_s, self._pace.late_factor * statistics.median(self._durations_s))
        parts = [run.part for run in runs]
        alone = [run for run in runs if run.began_s is not None and parts.count(run.part) == 1]
        latest = min(alone, key=lambda run: run.began_s or 0.0, default=None)
        if latest is not None and time.monotonic() - (latest.began_s or 0.0) > late_s:
            self.state.twice_count += 1
            self._hand_out(latest.part, 3 - latest.attempt)

    def _look(self) -> None:
        if time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + self._pace.look_every_s
        for run in self.state.runs.values():
            progress = self._folder.progress(run.part, run.attempt, run.token)
            if progress is not None:
                run.began_s = run.began_s or time.monotonic()
                run.progress = progress

    def _end(self, run: Run, outcome: Outcome) -> None:
        others = [(known_by, other) for known_by, other in self.state.runs.items() if other.part == run.part]
        if run.part in self._finished:
            if not others:
                self._finished.remove(run.part)
                self._folder.collect(run.part)
        elif outcome.code == 0:
            self._end_well(run, others)
        elif outcome.code == BUSY:
            if others:
                self.state.twice_count -= 1  # the second attempt found its place taken; the first goes on
            else:
                self._try_again(run)
        else:
            self._fail(run, outcome, has_other=bool(others))

    def _end_well(self, run: Run, others: list[tuple[Any, Run]]) -> None:
        if run.began_s is not None:
            self._durations_s.append(time.monotonic() - run.began_s)
        self._failures.pop(run.part, None)
        self.state.failed.pop(run.part, None)
        self._again = deque(one for one in self._again if one[1] != run.part)
        self.state.done_count += 1
        self._done(run.part)
        if not others:
            self._folder.collect(run.part)
            return
        self._finished.add(run.part)
        for known_by, _ in others:
            self._placer.cancel(known_by)

    def _fail(self, run: Run, outcome: Outcome, has_other: bool) -> None:
        failures = self._failures.setdefault(run.part, [])
        failures.append(outcome)
        if has_other:
            return  # its end decides
        death_count = sum(one.is_death for one in failures)
        if death_count >= self._pace.deaths_max or len(failures) - death_count >= self._pace.faults_max:
            self.state.failed[run.part] = outcome
            return
        self.state.repeated_count += 1
        self._try_again(run)

    def _try_again(self, run: Run) -> None:
        self._again.append((time.monotonic() + self._pace.retry_after_s, run.part, run.attempt))

    def _end_losers(self) -> None:
        """Waits for attempts whose part another one has published. Nobody waits for a node that hangs."""
        until = time.monotonic() + self._pace.losers_end_s
        while self.state.runs and time.monotonic() < until:
            for known_by, outcome in self._placer.ended(self._pace.look_every_s):
                self._end(self.state.runs.pop(known_by), outcome)
