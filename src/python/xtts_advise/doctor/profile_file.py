"""A profile that xp.StepProfiler or `xtts-precompute profile --json` has written."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..ranges import Range
from ..words import Failure
from .answers import number, read_object, text


@dataclasses.dataclass
class ProfileFacts:
    """What the user's own training step takes, and what data costs it. None: not known."""

    step_ms: Range | None = None  # with data for free
    real_step_ms: Range | None = None  # with the user's own loading; not known of `profile CACHE`
    data_share: float | None = None  # of the real step
    batch_size: int | None = None
    is_on_cpu: bool = False  # the profile says that its steps ran on the CPU
    gpu_utilization: float | None = None  # percent
    gpu_utilization_std: float | None = None


def read(path: str) -> ProfileFacts:
    return facts_of(read_object(path), path)


def facts_of(document: Any, name: str) -> ProfileFacts:
    """name: of what the profile is, for a message."""
    step = number(document, "step", "ms", "mean")
    if step is None:
        why = "it is no JSON object" if document is None else "it has no step.ms.mean"
        raise Failure(
            "invalid_argument",
            f"{name} is no profile ({why}): write one with `xtts-precompute profile --loader M:N --step M:N --json`, "
            'or with report.save("profile.json") of xp.StepProfiler',
        )
    share = number(document, "synthetic", "data_share")
    share = number(document, "data", "share") if share is None else share
    facts = ProfileFacts(
        step_ms=_range_of_mean(document, "synthetic"),
        is_on_cpu=text(document, "device") == "cpu",
        gpu_utilization=number(document, "gpu", "utilization", "mean"),
        gpu_utilization_std=number(document, "gpu", "utilization", "std"),
    )
    if facts.step_ms is None and share is not None and step > 0:
        # Without steps on one batch, what is not waiting counts as the step's own.
        own = step * (1 - min(share, 0.99))
        facts.step_ms = Range(0.8 * own, own)
    if not text(document, "cache"):
        facts.data_share = share
        facts.real_step_ms = _range_of_mean(document)
    batch_size = number(document, "batch_size")
    if batch_size is not None and 1 <= batch_size < 1e6:
        facts.batch_size = int(batch_size)
    return facts


def _range_of_mean(document: Any, *part: str) -> Range | None:
    """The mean of N steps is known to two standard errors."""
    mean = number(document, *part, "step", "ms", "mean")
    if mean is None or mean <= 0:
        return None
    steps = max(number(document, *part, "steps") or 1.0, 1.0)
    error = 2 * (number(document, *part, "step", "ms", "std") or 0.0) / math.sqrt(steps)
    return Range(max(mean - error, mean / 2), mean + error)
