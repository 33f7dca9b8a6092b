"""How long steps took, whether their times have a rhythm, and what to call that.

All are pure functions of lists of seconds. The figures are defined as in `xtts-precompute bench`
(src/report/batch_times.cpp). A deviation is the population's. A quantile is the smallest value that
so many do not exceed. A cycle is the shortest period with which the times repeat themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# The limits that the users chose: the share of a step, and std / mean.
GOOD_SHARE, BOTTLENECK_SHARE = 0.3, 0.5
STABLE_VARIATION, OSCILLATING_VARIATION = 0.2, 0.5

_EVEN_VARIATION = 0.1  # below it a rhythm has no effect worth naming
_STRENGTH_MIN = 0.4
_PERIODS_MIN = 4


@dataclass(frozen=True)
class Cycle:
    """Slow steps that come again every `period` steps: a queue that runs dry and is filled again."""

    period: int
    strength: float


@dataclass(frozen=True)
class Times:
    """The times of one thing in all steps."""

    mean_ms: float
    std_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cycle: Cycle | None

    @property
    def variation(self) -> float:
        return self.std_ms / self.mean_ms if self.mean_ms > 0 else 0.0

    def to_json(self) -> dict[str, float]:
        return {"mean": self.mean_ms, "std": self.std_ms, "p50": self.p50_ms, "p95": self.p95_ms, "p99": self.p99_ms}


def summarize(seconds: Sequence[float]) -> Times:
    """Returns the Times of at least one number of seconds."""
    ms = 1e3 * np.asarray(seconds, np.float64)
    ordered = np.sort(ms)

    def quantile(share: float) -> float:
        return float(ordered[max(math.ceil(share * len(ordered)) - 1, 0)])

    return Times(float(ms.mean()), float(ms.std()), quantile(0.5), quantile(0.95), quantile(0.99), find_cycle(ms))


def find_cycle(times: Any) -> Cycle | None:
    """Returns the shortest period with which the times repeat themselves, or None.

    None: they do not repeat, are even, or are fewer than four periods long.
    """
    values = np.asarray(times, np.float64)
    lag_end = len(values) // _PERIODS_MIN + 1
    if lag_end < 4 or values.mean() <= 0 or values.std() / values.mean() < _EVEN_VARIATION:
        return None
    apart = values - values.mean()
    strength = [float(apart[lag:] @ apart[: len(apart) - lag]) for lag in range(lag_end)]
    strength = [one / strength[0] for one in strength]
    peaks = [
        lag
        for lag in range(2, lag_end)
        if strength[lag] >= max(_STRENGTH_MIN, strength[lag - 1])
        and (lag + 1 == lag_end or strength[lag] >= strength[lag + 1])
    ]
    # Multiples of a period are peaks as well, and the first peak may not be the highest.
    highest = max((strength[lag] for lag in peaks), default=0.0)
    for lag in peaks:
        if strength[lag] >= 0.8 * highest:
            return Cycle(lag, strength[lag])
    return None


def share_verdict(share: float) -> str:
    """Returns the word for a share of the step's time that is spent on data."""
    if share < GOOD_SHARE:
        return "good"
    return "improvable" if share <= BOTTLENECK_SHARE else "bottleneck"


def variation_verdict(variation: float) -> str:
    """Returns the word for a variation of times, as `bench` has it."""
    if variation < STABLE_VARIATION:
        return "stable"
    return "acceptable" if variation <= OSCILLATING_VARIATION else "oscillating"


def cycle_to_json(cycle: Cycle | None) -> dict[str, Any] | None:
    return None if cycle is None else {"period": cycle.period, "strength": cycle.strength}
