"""Makes the loader, and takes batches from it in rounds."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from .sweep import NoSweep, recommended, settings_of, sweep

_START_S = 60.0  # until the first batch
_LIMIT_S = 40.0  # for all rounds
_BATCHES_MIN = 2  # of a round
_STEP_MS = (5.0, 1000.0)  # of a step that nobody has named


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer to a request; both are described in __main__.py."""
    sys.path[:0] = request["folders"]
    try:
        return _measure(request)
    except Exception as error:  # the user's code may raise anything
        return {"format": 1, "missing": f"{type(error).__name__}: {error}"}


def _measure(request: dict[str, Any]) -> dict[str, Any]:
    begin = time.monotonic()
    make, is_iterable = _maker_of(request)
    loader = make if is_iterable else make()
    batches = _without_end(loader, None if is_iterable else make)
    size = getattr(loader, "batch_size", None)
    first = next(batches)
    workers = getattr(loader, "num_workers", None)
    seconds, count = float(request["seconds"]), int(request["rounds"])
    # Batches that lie ready tell no rate, and tf.data looks for its best settings in the first seconds.
    _round(batches, 0.0, 2 * seconds, 2 * (workers or 0), begin + _START_S)
    end = time.monotonic() + _LIMIT_S
    batch_ms = _rounds(batches, 0.0, seconds, count, end - _LIMIT_S / 2)
    middle = sorted(batch_ms)[len(batch_ms) // 2]
    step_ms = request["step_ms"] or min(max(middle, _STEP_MS[0]), _STEP_MS[1])
    answer = {
        "format": 1,
        "batch_size": size if isinstance(size, int) else _rows_of(first),
        "workers": workers,
        "note": str(getattr(loader, "note", "")),
        "batch_ms": batch_ms,
        "step_ms": step_ms,
        "with_step_ms": _rounds(batches, step_ms, seconds, count, end),
    }
    del batches, loader  # and the workers with them
    if request.get("sweeps"):
        answer["sweep"] = _swept(make, 1 if request.get("file") else 0)
    return answer


def _swept(make: Any, least_workers: int) -> dict[str, Any]:
    try:
        settings, left_out = settings_of(make, len(os.sched_getaffinity(0)), least_workers)
        rows = sweep(make, settings, None, lambda _: None)
    except NoSweep as error:
        return {"missing": f"the loader {error}"}
    return {"rows": [row.to_json() for row in rows], "recommended": [row.setting for row in recommended(rows)],
            "left_out": left_out}  # fmt: skip


def _maker_of(request: dict[str, Any]) -> tuple[Any, bool]:
    """Returns a function that makes an iterable of batches, or the iterable, and whether it is that."""
    if request.get("file"):
        spec = importlib.util.spec_from_file_location("xtts_trainers_loader", request["file"])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return functools.partial(module.loader, request["config"], request["data"], request["scratch"]), False
    module_name, _, name = request["place"].partition(":")
    found: Any = importlib.import_module(module_name)
    for part in name.split("."):
        found = getattr(found, part)
    return found, not callable(found)


def _without_end(loader: Any, made: Any) -> Iterator[Any]:
    while True:
        yielded = False
        for batch in loader:
            yielded = True
            yield batch
        if not yielded:
            raise ValueError("the loader has no batch left")
        if made is not None and hasattr(loader, "__next__"):  # an iterator is there only once
            loader = made()


def _rounds(batches: Iterator[Any], step_ms: float, seconds: float, count: int, end: float) -> list[float]:
    """Returns the milliseconds from batch to batch, of each round. A round before them fills or drains queues."""
    first = _round(batches, step_ms, seconds, _BATCHES_MIN, end)
    rounds: list[float] = []
    while len(rounds) < count and time.monotonic() < end:
        rounds.append(_round(batches, step_ms, seconds, _BATCHES_MIN, end))
    return rounds or [first]


def _round(batches: Iterator[Any], step_ms: float, seconds: float, least: int, end: float) -> float:
    begin, taken = time.monotonic(), 0
    while time.monotonic() < end and (taken < least or time.monotonic() - begin < seconds):
        next(batches)
        time.sleep(step_ms / 1e3)
        taken += 1
    return 1e3 * (time.monotonic() - begin) / max(taken, 1)


def _rows_of(batch: Any) -> int | None:
    """The length of the first array of a batch."""
    shape = getattr(batch, "shape", None)
    if shape is not None and len(shape):
        return int(shape[0])
    inner = list(batch.values()) if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else []
    return next((rows for rows in map(_rows_of, inner) if rows), None)
