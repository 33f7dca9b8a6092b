"""The report that `xtts-precompute trace --out FILE` has written: which calls a training waits for."""

from __future__ import annotations

from typing import Any

from .. import words
from ..charts import Chart, Stack
from ..findings import Check, Evidence, Finding, Gain
from ..ranges import Range
from ..words import Failure
from .answers import items, number, read_object, text
from .profile_file import ProfileFacts

_MARGIN = 0.1  # of other steps, to those that were traced
_FAIL_SHARE = 0.25  # of a step
_WAIT_MIN = 0.15  # of a step: what waits less is well fed


def read(path: str) -> dict[str, Any]:
    document = read_object(path)
    if document is None:
        raise _no_trace(path, "it is no JSON object")
    found = document.get("findings")
    has_findings = isinstance(found, list) and all(isinstance(one, dict) and "title" in one for one in found)
    if not has_findings or "wait_ms" not in document:
        raise _no_trace(path, "it has no findings and wait_ms")
    return document


def _no_trace(path: str, why: str) -> Failure:
    write = "write one with `xtts-precompute trace --out FILE -- python train.py`"
    return Failure("invalid_argument", f"{path} is no report of trace ({why}): {write}")


def profile_of(trace: dict[str, Any]) -> ProfileFacts:
    """What the traced steps took, and what data cost them."""
    step, wait = number(trace, "step_ms"), number(trace, "wait_ms")
    facts = ProfileFacts()
    if step is None or step <= 0:
        return facts
    facts.real_step_ms = Range(step, step).wider(_MARGIN)
    if wait is not None:
        facts.data_share = min(max(wait / step, 0.0), 1.0)
        own = max(step - wait, step / 100)
        facts.step_ms = Range(own, own).wider(_MARGIN)
    return facts


def workers_of(trace: dict[str, Any]) -> int | None:
    workers = number(trace, "workers")
    return None if workers is None or not 0 <= workers <= 1000 else int(workers)


def check(trace: dict[str, Any]) -> Check:
    step, wait = number(trace, "step_ms"), number(trace, "wait_ms")
    made = Check("trace", "Calls of the training", findings=[_finding(one) for one in items(trace, "findings")])
    if step is None or step <= 0:
        notes = _texts(trace, "notes")
        made.summary, made.is_judged = notes[0] if notes else "No training was traced.", False
        return made
    for what, ms in (("a step", step), ("its wait for data", wait)):
        if ms is not None:
            made.evidence.append(Evidence(what, f"{words.short(ms)} ms", "the trace", ms, "ms"))
    parts = [(text(one, "name"), number(one, "ms") or 0.0) for one in items(trace, "parts")]
    if parts:
        made.charts.append(Chart("The parts of a step", Stack("ms", parts), "the trace"))
    if made.findings:
        calls = words.counted(len(made.findings), "call of the training takes", "calls of the training take")
        made.summary = f"{calls} time that a step waits for."
    elif wait is None:
        made.summary, made.is_judged = "No call was found; how long its steps wait for data was not seen.", False
    elif wait / step < _WAIT_MIN:
        made.summary = "Its steps wait for nothing that a change would spare."
    else:
        made.summary, made.is_judged = "Its steps wait for data, and no call was found that takes the time.", False
    return made


def _texts(value: Any, key: str) -> list[str]:
    return [text(one) for one in items(value, key) if isinstance(one, str)]


def _finding(found: Any) -> Finding:
    said = [f"{text(found, 'title')}.", *(f"Also: {one}." for one in _texts(found, "evidence"))]
    status = "fail" if (number(found, "share") or 0.0) >= _FAIL_SHARE else "warn"
    finding = Finding(status, " ".join(said), text(found, "remedy"), text(found, "file"))
    line = number(found, "line")
    if line is not None:
        finding.place += f":{int(max(line, 0))}"
    gain = [number(one) for one in items(found, "gain")]
    if len(gain) == 2 and gain[0] is not None and gain[1] is not None and gain[1] > 1:
        finding.gain = Gain(gain[0], gain[1], "measured by trace")
    return finding
