"""Clocks of the profiler: marks on one timeline, and the seconds between two of them.

On a GPU, work goes on after the call that asked for it. For PyTorch, CUDA events on the current
stream time it without waiting for it. The time between two marks is the GPU's own, so a wait for
data that the GPU's work covers costs nothing, as in training. TensorFlow has no events: each mark
waits for the devices first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from .._base.choices import one_of
from .._base.errors import InvalidArgumentError, UnsupportedError
from .._base.frameworks import framework

CLOCKS = ("auto", "wall", "cuda", "tensorflow")
ClockChoice = str | Callable[[], float]


class Clock(Protocol):
    """Makes marks, which are opaque.

    `seconds` may wait until the later mark has been passed; `is_passed` never waits.
    """

    name: str

    def mark(self) -> Any: ...

    def seconds(self, begin: Any, end: Any) -> float: ...

    def is_passed(self, mark: Any) -> bool: ...


class WallClock:
    """The clock of any function that returns seconds."""

    def __init__(self, name: str, now: Callable[[], float]) -> None:
        self.name = name
        self.mark = now

    def seconds(self, begin: float, end: float) -> float:
        return end - begin

    def is_passed(self, mark: float) -> bool:
        return True


class CudaClock:
    """PyTorch's CUDA events, on the stream that is current at the mark."""

    name = "cuda"

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def mark(self) -> Any:
        event = self._torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, begin: Any, end: Any) -> float:
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3

    def is_passed(self, mark: Any) -> bool:
        return bool(mark.query())


def choose(wanted: ClockChoice) -> Clock:
    """Returns the clock; called when the first step begins.

    By then frameworks have been imported, and their devices are in use.
    """
    if callable(wanted):
        return WallClock("custom", wanted)
    torch, tensorflow = sys.modules.get("torch"), sys.modules.get("tensorflow")
    if wanted == "cuda" or (
        wanted == "auto" and torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()
    ):
        torch = torch or framework("torch", "torch")
        if not torch.cuda.is_available():
            raise UnsupportedError(
                "clock='cuda', and PyTorch finds no CUDA (torch.cuda.is_available() is False): use clock='wall'"
            )
        return CudaClock(torch)
    if wanted == "tensorflow" or (
        wanted == "auto" and tensorflow is not None and tensorflow.config.list_physical_devices("GPU")
    ):
        tensorflow = tensorflow or framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")
        synchronize = tensorflow.test.experimental.sync_devices

        def when_done() -> float:
            synchronize()
            return time.perf_counter()

        return WallClock("tensorflow", when_done)
    return WallClock("wall", time.perf_counter)


def checked(wanted: Any) -> ClockChoice:
    """Returns the argument `clock`, checked."""
    if callable(wanted):
        return wanted  # type: ignore[no-any-return]
    if not isinstance(wanted, str):
        raise InvalidArgumentError(
            f"clock must be one of {', '.join(CLOCKS)}, or a function that returns seconds, not {wanted!r}"
        )
    return one_of("clock", wanted, CLOCKS)
