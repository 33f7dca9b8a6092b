"""What runs within a child: one framework, in stages, each told as soon as it is known."""

from __future__ import annotations

import importlib
import json
import os
import time
from typing import Any, Callable

from .child import die_with

# A framework's own words are kept, but not pages of them.
REASON_LENGTH_MAX = 400


class Teller:
    """Writes parts of the answer to the parent, and knows how much time is left."""

    def __init__(self, end: int, deadline: float) -> None:
        self._end = end
        self._deadline = deadline

    def left(self) -> float:
        """Returns the seconds that are left."""
        return self._deadline - time.monotonic()

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
    try:
        value = work()
        teller.tell(part, value)
        return value
    except BaseException as error:
        teller.tell(part + "_reason", reason_of(error))
        return None


def measure(teller: Teller, name: str, base: str, what: str, work: Callable[[], dict[str, Any]]) -> bool:
    """Does one measurement, and tells it under its name; returns whether it was measured."""
    teller.stage(what)
    found: dict[str, Any] = {"name": name, "base": base, "what": what, "status": "cannot_tell"}
    try:
        found.update(work())
        if found.get("speedup") is not None:
            found["status"] = "measured"
    except BaseException as error:
        found["reason"] = reason_of(error)
    teller.tell("measurement:" + name, found)
    return found["status"] == "measured"


def main(end: int, parent: int, task: str, limit_s: float) -> None:
    """Runs the module in_TASK.py. The last second belongs to the parent."""
    die_with(parent)
    teller = Teller(end, time.monotonic() + limit_s - 1.0)
    module = importlib.import_module(f"{__package__}.in_{task}")
    module.run(teller)
    teller.tell("done", True)
    os._exit(0)  # a framework's threads may hang or crash at the interpreter's end
