"""What runs within a child: one framework, in stages, each told as soon as it is known."""

from __future__ import annotations

import importlib
import json
import os
import time
from collections.abc import Callable
from typing import Any

from .child import die_with
from .measurements import MEASUREMENTS

# A framework's own words are kept, but not pages of them.
REASON_LENGTH_MAX = 400


class Teller:
    """Writes parts of the answer to the parent, and knows how much time is left."""

    def __init__(self, task: str, end: int, deadline: float, waiting_s: float = 0.0) -> None:
        self.task = task
        self._end = end
        self._deadline = deadline
        self._waiting_s = waiting_s

    def left(self) -> float:
        """Returns the seconds that are left."""
        return self._deadline - time.monotonic()

    def without_waiting(self, seconds: float) -> None:
        """Lets time not count in which nothing was computed. The parent ends this child if it was no disk's."""
        given = max(0.0, min(seconds, self._waiting_s))
        self._waiting_s -= given
        self._deadline += given

    def tell(self, name: str, value: Any) -> None:
        data = json.dumps([name, value]).encode() + b"\n"
        while data:
            data = data[os.write(self._end, data) :]

    def stage(self, name: str) -> None:
        """Says what is done next: the parent names it if this process ends there."""
        self.tell("stage", name)


def reason_of(error: BaseException) -> str:
    """Returns the first lines of an error on one line."""
    text = " ".join(str(error).split())
    if len(text) > REASON_LENGTH_MAX:
        text = text[:REASON_LENGTH_MAX] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def attempt(teller: Teller, stage: str, part: str, work: Callable[[], Any]) -> Any:
    """Does one stage; returns its value, or None and tells "PART_reason" if it failed.

    A broken framework may raise anything, SystemExit included.
    """
    teller.stage(stage)
    begin, computed = time.monotonic(), time.process_time()
    try:
        value = work()
        teller.tell(part, value)
        return value
    except BaseException as error:
        teller.tell(part + "_reason", reason_of(error))
        return None
    finally:
        teller.without_waiting(time.monotonic() - begin - (time.process_time() - computed))


def imported(teller: Teller) -> Any:
    """Returns the framework of the task, imported and its version told; None where that failed."""
    module: Any = None

    def load() -> float:
        nonlocal module
        begin = time.perf_counter()
        module = importlib.import_module(teller.task)
        return round(time.perf_counter() - begin, 2)

    if attempt(teller, "import", "import_seconds", load) is not None:
        attempt(teller, "version", "version", lambda: str(module.__version__))
    return module


class Measurement:
    """One measurement, told anew whenever a part of it is known: a later crash costs no part."""

    def __init__(self, teller: Teller, name: str) -> None:
        self._teller = teller
        self._name = name
        self._found: dict[str, Any] = {}

    @property
    def is_measured(self) -> bool:
        return self._found.get("speedup") is not None

    def add(self, **parts: Any) -> None:
        self._found.update(parts)
        self._teller.tell("measurement:" + self._name, self._found)

    def failed(self, reason: str) -> None:
        """Says that the framework cannot do it here, which is more than that nothing was measured."""
        self.add(status="failed", reason=reason)


def measure(teller: Teller, name: str, work: Callable[[Measurement], None]) -> bool:
    """Does one measurement; returns whether there is a speedup."""
    teller.stage(MEASUREMENTS[teller.task][name][1])
    measurement = Measurement(teller, name)
    try:
        work(measurement)
    except BaseException as error:
        if not measurement.is_measured:
            measurement.failed(reason_of(error))
    return measurement.is_measured


def main(end: int, parent: int, task: str, limit_s: float, reading_s: float) -> None:
    """Runs the module in_TASK.py. The last second belongs to the parent."""
    die_with(parent)
    teller = Teller(task, end, time.monotonic() + limit_s - 1.0, reading_s)
    module = importlib.import_module(f"{__package__}.in_{task}")
    module.run(teller)
    teller.tell("done", True)
    os._exit(0)  # a framework's threads may hang or crash at the interpreter's end
