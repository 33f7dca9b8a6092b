"""What `progress=` may be: nothing, a function, or a bar by whatever can draw bars here."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .._base.errors import InvalidArgumentError

_LINE_EVERY_S = 10.0
_UNITS = {"build": "clip", "check": "B", "recompute": "clip", "add": "clip", "repair": "shard"}


class ColumnProgress(NamedTuple):
    """How far `Cache.add_column()` is."""

    stage: str
    done: int
    total: int
    per_second: float
    seconds_left: float | None


@contextlib.contextmanager
def listener(progress: Any, title: str) -> Iterator[Callable[[Any], object] | None]:
    """Gives the function that gets the progress while the block lasts, or None."""
    if progress is False:
        yield None
    elif progress is True:
        bars = Bars(title)
        try:
            yield bars.show
        finally:
            bars.close()
    elif callable(progress):
        yield progress
    else:
        raise InvalidArgumentError(f"progress must be True, False or a function, not {progress!r}")


class Bars:
    """Draws a bar for each stage, one after the other."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._stage: str | None = None
        self._bar: Any = None

    def show(self, figures: Any) -> None:
        stage = getattr(figures, "stage", "build")
        if stage != self._stage:
            self.close()
            title = self._title if stage in ("build", "check", "add") else f"{self._title}: {stage}"
            self._bar = _bar(title, _UNITS[stage], figures)
            self._stage = stage
        self._bar.show(figures, _remarks(figures))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _remarks(figures: Any) -> str:
    if not hasattr(figures, "rejects"):
        return ""
    return f"{figures.realtime_factor:.0f}x real time" + (f", {figures.rejects} rejected" if figures.rejects else "")


def _bar(title: str, unit: str, figures: Any) -> Any:
    if importlib.util.find_spec("tqdm") is not None:
        return _TqdmBar(title, unit, figures)
    if importlib.util.find_spec("rich") is not None:
        return _RichBar(title, unit, figures)
    return _Lines(title, unit)


class _TqdmBar:
    def __init__(self, title: str, unit: str, figures: Any) -> None:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]

        self._bar: Any = tqdm(
            total=figures.total,
            initial=figures.done,
            desc=title,
            unit=unit,
            unit_scale=unit == "B",
            dynamic_ncols=True,
            leave=True,
        )

    def show(self, figures: Any, remarks: str) -> None:
        self._bar.total = figures.total
        self._bar.set_postfix_str(remarks, refresh=False)
        self._bar.update(figures.done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _RichBar:
    def __init__(self, title: str, unit: str, figures: Any) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[remarks]}"),
        )
        self._bar: Any = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
        self._task = self._bar.add_task(title, total=figures.total, completed=figures.done, remarks="")
        self._bar.start()

    def show(self, figures: Any, remarks: str) -> None:
        self._bar.update(self._task, total=figures.total, completed=figures.done, remarks=remarks)

    def close(self) -> None:
        self._bar.stop()


class _Lines:
    """Writes a line every ten seconds where no package can draw bars."""

    def __init__(self, title: str, unit: str) -> None:
        self._title, self._unit = title, unit
        self._next = time.monotonic() + _LINE_EVERY_S

    def show(self, figures: Any, remarks: str) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _LINE_EVERY_S
        left = "" if figures.seconds_left is None else f", {figures.seconds_left:.0f} s left"
        counts = f"{figures.done:,} of {figures.total:,} {'bytes' if self._unit == 'B' else self._unit + 's'}"
        print(f"{self._title}: {counts}{left}{', ' + remarks if remarks else ''}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Does nothing: there is no bar to end."""
