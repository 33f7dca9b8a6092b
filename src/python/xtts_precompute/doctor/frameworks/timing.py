"""Times of interleaved variants, and the speedup with its range."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable

# Makes this many steps, and waits until they are done.
Steps = Callable[[int], None]

ROUNDS = 5


def first_ms(steps: Steps) -> float:
    """Returns how long the first step takes, which traces and compiles."""
    begin = time.perf_counter()
    steps(1)
    return (time.perf_counter() - begin) * 1e3


def interleaved(variants: dict[str, Steps], seconds: float) -> dict[str, list[float]]:
    """Returns the milliseconds of a step in each round, for all variants, within about `seconds`."""
    share = max(seconds, 0.05) / (len(variants) * (ROUNDS + 1))
    counts = {}
    for name, steps in variants.items():
        steps(1)  # warm
        begin = time.perf_counter()
        steps(2)
        one = (time.perf_counter() - begin) / 2
        counts[name] = min(max(int(share / max(one, 1e-6)), 1), 10_000)
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(ROUNDS):
        for name, steps in variants.items():
            begin = time.perf_counter()
            steps(counts[name])
            times[name].append((time.perf_counter() - begin) * 1e3 / counts[name])
    return times


def compared(times: dict[str, list[float]], base: str, other: str) -> dict[str, Any]:
    """Returns the speedup of `other` over `base` and the times behind it."""
    ratios = [one / two for one, two in zip(times[base], times[other])]
    return {
        "speedup": {
            "median": round(statistics.median(ratios), 3),
            "low": round(min(ratios), 3),
            "high": round(max(ratios), 3),
            "rounds": len(ratios),
        },
        "ms": {name: [round(one, 4) for one in times[name]] for name in (base, other)},
    }
