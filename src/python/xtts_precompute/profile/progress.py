"""How many steps are done, on stderr, while `xtts-precompute profile` times them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

_REDRAW_S = 0.25
_LINE_EVERY_S = 10.0  # where there is no terminal


class StepCount:
    """Counts steps. A terminal shows one line that changes, another stderr gets a line now and then.

    Showing it takes some microseconds four times a second, so a step does not notice.
    """

    def __init__(self, total: int, out: TextIO | None = None) -> None:
        self._total = total
        self._out = sys.stderr if out is None else out
        self._is_terminal = self._out.isatty()
        self._every_s = _REDRAW_S if self._is_terminal else _LINE_EVERY_S
        self._done = self._width = 0
        self._next = time.monotonic() + self._every_s

    def counted(self, step: Callable[[Any], object]) -> Callable[[Any], None]:
        """Returns the step that is counted when it is done."""

        def run(batch: Any) -> None:
            step(batch)
            self._done += 1
            if time.monotonic() >= self._next:
                self._show()

        return run

    def clear(self) -> None:
        """Takes the line off the terminal, for what is printed next."""
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=self._out, flush=True)
            self._width = 0

    def _show(self) -> None:
        self._next = time.monotonic() + self._every_s
        line = f"xtts-precompute profile: step {self._done:,} of {self._total:,}"
        if self._is_terminal:
            print(f"\r{line.ljust(self._width)}", end="", file=self._out, flush=True)
            self._width = len(line)
        else:
            print(line, file=self._out, flush=True)
