"""The user's own loader over batch sizes and numbers of workers: `profile --sweep`, and the doctor.

Settings take turns, so that what disturbs for a while disturbs all of them. Of two settings whose
rounds overlap, none is the faster one. How many workers feed a batch size is what loading alone can
tell; which batch size to train with, it cannot.
"""

from __future__ import annotations

import inspect
import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_BATCH_SIZES = (8, 16, 32)
_WORKERS = (0, 1, 2, 4, 8, 16)
_ROUNDS = 3
_SECONDS = 1.0  # of a round of one setting
_BATCHES_MIN = 2
_STEADY = 0.5  # (slowest - fastest) / median of the rounds; above it, a setting is never recommended
_NAMES = {"batch_size": "batch size", "num_workers": "workers"}


class NoSweep(ValueError):
    """What the loader lacks, after its name."""


@dataclass
class Row:
    """One setting. Seconds of a batch: the mean of each round."""

    setting: dict[str, int]
    rounds: list[float] = field(default_factory=list)
    start_s: float = 0.0  # until the first batch, workers included

    @property
    def batch_s(self) -> float:
        return statistics.median(self.rounds)

    @property
    def variation(self) -> float:
        return (max(self.rounds) - min(self.rounds)) / self.batch_s

    @property
    def is_steady(self) -> bool:
        return self.variation <= _STEADY

    def to_json(self) -> dict[str, Any]:
        clips = self.setting.get("batch_size")
        return {
            **self.setting,
            "batch_ms": {"median": 1e3 * self.batch_s, "low": 1e3 * min(self.rounds), "high": 1e3 * max(self.rounds)},
            "variation": self.variation,
            "clips_per_s": clips / self.batch_s if clips else None,
            "start_ms": 1e3 * self.start_s,
        }


def settings_of(make: Any, cores: int, least_workers: int = 0) -> tuple[list[dict[str, int]], list[str]]:
    """The settings that the function takes, and what was left out, in words."""
    try:
        names = [name for name in inspect.signature(make).parameters if name in _NAMES] if callable(make) else []
    except (TypeError, ValueError):
        names = []
    if not names:
        raise NoSweep(
            "takes no other sizes: give the function the parameters batch_size and num_workers, and pass them to the "
            "DataLoader"
        )
    few = [count for count in _WORKERS if least_workers <= count <= cores]
    left = [str(count) for count in _WORKERS if count > cores]
    values = {"batch_size": _BATCH_SIZES, "num_workers": few}
    left_out = [f"{', '.join(left)} workers, because there are {cores} processors"] if left else []
    grid = itertools.product(*(values[name] for name in names))
    return [dict(zip(names, one)) for one in grid], left_out if "num_workers" in names else []


def sweep(
    make: Callable[..., Any], settings: list[dict[str, int]], batches: int | None, tell: Callable[[str], None]
) -> list[Row]:
    """make: returns an iterable of batches for a setting. batches: of a round; None: as many as a second has."""
    rows = [Row(setting) for setting in settings]
    for number in range(_ROUNDS):
        for row in rows:
            tell(f"round {number + 1} of {_ROUNDS}: {words_of(row.setting)}")
            _measure(make, row, batches)
    return rows


def _measure(make: Callable[..., Any], row: Row, batches: int | None) -> None:
    begin = time.perf_counter()
    taken = iter(make(**row.setting))
    first = next(taken, None)
    if first is None:
        raise NoSweep(f"gives no batch with {words_of(row.setting)}")
    row.start_s = time.perf_counter() - begin
    # Each worker's first batch is ready by now.
    workers = row.setting.get("num_workers", 0)
    for _ in itertools.islice(taken, workers):
        pass
    wanted = batches or max(_BATCHES_MIN, workers)
    begin = time.perf_counter()
    count = 0
    for _ in taken:
        count += 1
        seconds = time.perf_counter() - begin
        if count >= wanted and (batches is not None or seconds >= _SECONDS):
            break
    if count == 0:
        raise NoSweep(
            f"gives fewer than {workers + 2} batches with {words_of(row.setting)}, too few to time: give it more clips"
        )
    row.rounds.append((time.perf_counter() - begin) / count)


def recommended(rows: list[Row]) -> list[Row]:
    """For each batch size, the fewest workers that are not slower than the fastest steady setting."""
    chosen = []
    sizes = dict.fromkeys(row.setting.get("batch_size") for row in rows)
    for size in sizes:
        steady = [row for row in rows if row.setting.get("batch_size") == size and row.is_steady]
        if not steady:
            continue
        fastest = min(steady, key=lambda row: row.batch_s)
        equal = [row for row in steady if min(row.rounds) <= max(fastest.rounds)]
        chosen.append(min(equal, key=lambda row: row.setting.get("num_workers", 0)))
    return chosen


def words_of(setting: dict[str, int]) -> str:
    return ", ".join(f"{_NAMES[name]} {value}" for name, value in setting.items())


def table_of(rows: list[Row], left_out: list[str]) -> str:
    best = recommended(rows)
    lines = ["  ".join((f"{'batch size':>10}", f"{'workers':>7}", f"{'ms a batch':<18}", "variation", "clips/s"))]
    for row in rows:
        low, high = min(row.rounds), max(row.rounds)
        size, workers = (str(row.setting.get(name, "-")) for name in ("batch_size", "num_workers"))
        clips = row.to_json()["clips_per_s"]
        times = f"{1e3 * row.batch_s:.1f} ({1e3 * low:.1f} to {1e3 * high:.1f})"
        mark = "  <- fewest workers that are not slower" if row in best else ""
        mark = mark if row.is_steady else "  not steady"
        lines.append(
            f"{size:>10}  {workers:>7}  {times:<18}  {100 * row.variation:>7.0f} %  "
            f"{'-' if clips is None else format(clips, ',.0f'):>7}{mark}"
        )
    lines += [f"Left out: {words}." for words in left_out]
    if not best:
        lines.append("No setting is steady enough to recommend: let the machine be idle, and measure again.")
    lines.append("Which batch size to train with, loading does not tell: profile --loader --step times your step.")
    return "\n".join(lines)
