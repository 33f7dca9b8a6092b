"""How long steps took, whether their times have a rhythm, and what to call that.

All are pure functions of lists of seconds. The figures are defined as in `xtts-precompute bench`
(src/report/batch_times.cpp). A deviation is the population's. A quantile is the smallest value that
so many do not exceed. The search for a cycle is the one of `bench`, in C++.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core

# The limits that the users chose: the share of a step, and std / mean.
GOOD_SHARE, BOTTLENECK_SHARE = 0.3, 0.5
STABLE_VARIATION, OSCILLATING_VARIATION = 0.2, 0.5


@dataclass(frozen=True)
class Cycle:
    """Slow steps that come again every `period` steps: a queue that runs dry and is filled again."""

    period: float  # an int where it is whole
    strength: float  # the share of the variance that repeats itself


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


def standard_error(values: Sequence[float]) -> float:
    """Returns how far the mean of values, in their order, may be off: one standard error.

    Steps that follow one another are alike, because a processor's clock or other programs change
    slowly. So the means of up to ten parts are compared, too, and the larger error counts.
    """
    ordered = np.asarray(values, np.float64)
    alone = float(ordered.std() / len(ordered) ** 0.5)
    part_count = min(10, len(ordered) // 5)
    if part_count < 2:
        return alone
    means = [part.mean() for part in np.array_split(ordered, part_count)]
    return max(alone, float(np.std(means, ddof=1) / part_count**0.5))


def find_cycle(times: Iterable[float]) -> Cycle | None:
    """Returns the rhythm of times in their order, or None: `xtts::find_cycle()` of include/xtts/cycle.hpp."""
    found = _core.find_cycle([float(one) for one in times])
    if found is None:
        return None
    period, strength = found
    return Cycle(int(period) if period.is_integer() else period, strength)


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
