"""Times of interleaved variants, and the speedup with its range."""

from __future__ import annotations

import statistics
import time
from typing import Any, Protocol


class Steps(Protocol):
    """Makes this many steps, and waits until they are done."""

    def __call__(self, count: int, /) -> None: ...


ROUNDS = 5
# Rounds that differ by more tell nothing: another program had the processors.
SPREAD_MAX = 3.0


def first_ms(steps: Steps) -> float:
    """Returns how long the first step takes, which traces and compiles."""
    begin = time.perf_counter()
    steps(1)
    return (time.perf_counter() - begin) * 1e3


def interleaved(variants: dict[str, Steps], seconds: float) -> dict[str, list[float]]:
    """Returns the milliseconds of a step in each round, for all variants, within about `seconds`."""
    share = max(seconds, 0.05) / (len(variants) * (ROUNDS + 1))
    chunks = {}
    for name, steps in variants.items():
        steps(1)  # warm
        begin = time.perf_counter()
        steps(2)
        one = (time.perf_counter() - begin) / 2
        chunks[name] = min(max(int(share / 4 / max(one, 1e-6)), 1), 10_000)
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(ROUNDS):
        for name, steps in variants.items():
            # In chunks, because steps become slow when other programs begin to compute.
            begin, count, spent = time.perf_counter(), 0, 0.0
            while spent < share:
                steps(chunks[name])
                count += chunks[name]
                spent = time.perf_counter() - begin
            times[name].append(spent * 1e3 / count)
    return times


def compared(times: dict[str, list[float]], base: str, other: str) -> dict[str, Any]:
    """Returns the speedup of `other` over `base`, or why there is none, and the times behind it."""
    ratios = [one / two for one, two in zip(times[base], times[other])]
    told: dict[str, Any] = {"ms": {name: [round(one, 4) for one in times[name]] for name in (base, other)}}
    if max(ratios) > SPREAD_MAX * min(ratios):
        told["reason"] = (
            f"its rounds differ too much ({min(ratios):.2f} to {max(ratios):.2f} times as fast): "
            "repeat it while no other program computes"
        )
        return told
    told["speedup"] = {
        "median": round(statistics.median(ratios), 3),
        "low": round(min(ratios), 3),
        "high": round(max(ratios), 3),
        "rounds": len(ratios),
    }
    return told
