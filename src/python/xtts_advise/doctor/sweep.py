"""Which number of workers feeds each batch size? Of the training's own loader, timed over both."""

from __future__ import annotations

from typing import Any

from ..charts import Bar, Bars, Chart
from ..findings import Check, Evidence, Finding, cannot_tell
from ..words import short
from .answers import at, items, number, text

_NAME, _TITLE = "loader_sweep", "Workers and batch sizes of your loader"
_CLEAR = 1.1  # times as fast, at the least, before another number of workers is advised


def check(sweep: Any, batch_size: int, workers: int | None) -> Check:
    """sweep: what measure/own_loader answered. batch_size, workers: those of the training."""
    rows = [row for row in items(sweep, "rows") if number(at(row, "batch_ms"), "median")]
    if not rows:
        why = text(sweep, "missing") or "its measurement answered oddly"
        return cannot_tell(_NAME, _TITLE, f"Other settings were not timed: {why}.")
    made = Check(_NAME, _TITLE)
    bars = []
    for row in rows:
        low, middle, high = (number(at(row, "batch_ms"), one) or 0.0 for one in ("low", "median", "high"))
        clips = number(row, "clips_per_s")
        said = f"{short(middle)} ms a batch ({short(low)} to {short(high)})"
        made.evidence.append(
            Evidence(_words(row), f"{said}, {short(clips)} clips/s" if clips else said, "three rounds", middle, "ms")
        )
        bars.append(Bar(_words(row), middle, low, high))
    made.charts.append(Chart("A batch of your loader", Bars("ms", bars), "without a step; settings took turns"))
    chosen = [one for one in items(sweep, "recommended") if isinstance(one, dict)]
    made.findings = _advice(rows, chosen, batch_size, workers)
    best = "; ".join(_words(one) for one in chosen)
    made.summary = f"The fewest workers that are not slower: {best}." if best else "No setting is steady enough."
    if made.findings:
        made.conclude("")
    elif not best:
        made.is_judged = False
    return made


def _words(setting: Any) -> str:
    size, workers = number(setting, "batch_size"), number(setting, "num_workers")
    parts = [f"batches of {size:.0f}" if size else "", f"{workers:.0f} workers" if workers is not None else ""]
    return ", ".join(filter(None, parts))


def _advice(rows: list[Any], chosen: list[Any], batch_size: int, workers: int | None) -> list[Finding]:
    """Other workers for the batch size that the training has; which batch size is best, loading does not tell."""
    now = _row_of(rows, batch_size, workers)
    best = next((one for one in chosen if number(one, "batch_size") in (None, batch_size)), None)
    row = _row_of(rows, batch_size, number(best, "num_workers"))
    if now is None or row is None or row is now:
        return []
    low = (number(at(now, "batch_ms"), "low") or 0.0) / (number(at(row, "batch_ms"), "high") or 1.0)
    high = (number(at(now, "batch_ms"), "high") or 0.0) / (number(at(row, "batch_ms"), "low") or 1.0)
    if low < _CLEAR:
        return []
    count = int(number(best, "num_workers") or 0)
    return [
        Finding(
            "warn",
            f"With {count} workers instead of {workers}, batches of {batch_size} come {low:.1f} to {high:.1f} times as "
            "fast.",
            f"As long as you train without a cache, set num_workers to {count}.",
        )
    ]


def _row_of(rows: list[Any], batch_size: int, workers: float | None) -> Any:
    wanted = (batch_size, workers)
    return next((one for one in rows if (number(one, "batch_size"), number(one, "num_workers")) == wanted), None)
