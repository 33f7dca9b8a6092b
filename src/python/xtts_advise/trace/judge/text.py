"""A trace's report for the terminal."""

from __future__ import annotations

import os

from ...words import percent, visible
from .finding import Finding, time_of
from .findings import Report
from .training import Training

_EVIDENCE = "      "
_WAIT_MIN = 0.15  # of a step: what waits less is well fed


def text_of(report: Report) -> str:
    lines = []
    training = report.training
    if training is None:
        return "\n".join(map(visible, report.notes))
    loop = training.loop
    where = f"{_short(loop['file'])}:{loop['line']} in {loop['function']}"
    maker = f"{training.workers} workers" if training.workers else "no workers"
    wait = f"waits for data in {time_of(training.wait_s)} of it ({percent(training.wait_s / training.step_s)})"
    if not training.knows_wait:
        wait = "takes its batch by itself: how long it waits for it was not seen"
    lines.append(
        f"A step takes {time_of(training.step_s)}, and {wait}. {len(loop['steps'])} steps of {where}, {maker}."
    )
    parts = [f"{name} {time_of(seconds)} ({percent(seconds / training.step_s)})" for name, seconds in report.parts]
    if parts:
        lines.append(f"Its parts: {', '.join(parts)}.")
    if training.sample_s:
        what = "A call of Python by tf.data takes" if training.has_python_functions else "A sample takes"
        made = "" if training.has_python_functions else " to make"
        lines.append(f"{what} {time_of(training.sample_s)}{made} ({training.samples_of_step:.0f} in a step).")
    if training.gap_s >= 0.02 * training.steps_of_epoch * training.step_s:
        lines.append(
            f"Between two epochs, {time_of(training.gap_s)} pass: {time_of(training.gap_s / training.steps_of_epoch)} "
            f"for each of an epoch's {training.steps_of_epoch:.0f} steps."
        )
    lines.append("")
    if not report.findings:
        lines.append(_nothing_of(training))
    for rank, finding in enumerate(report.findings[:8], 1):
        lines += _finding(rank, finding)
    if report.findings:
        first = report.findings[0]
        low, high = first.gain
        place = f"{_short(first.file)}:{first.line}"
        gain = f"A step then becomes {_factor(low)} to {_factor(high)} times as fast."
        if high <= 1:
            gain = "What that gains was not measured."
        lines += ["", f"Change first: {first.call} in {place}. {gain}"]
    lines += ["", *report.notes]
    return "\n".join(map(visible, lines))


def _nothing_of(training: Training) -> str:
    if not training.knows_wait:
        return "Nothing else was found."
    if training.wait_s >= _WAIT_MIN * training.step_s:
        return "Its steps wait for data, and no call was found that takes the time."
    return "Nothing was found that starves this training."


def _finding(rank: int, finding: Finding) -> list[str]:
    lines = [
        f"{rank:3}. {finding.title}",
        f"{_EVIDENCE}{_short(finding.file)}:{finding.line} in {finding.function}",
    ]
    lines += [_EVIDENCE + words for words in finding.evidence]
    lines.append(_EVIDENCE + finding.remedy)
    return lines


def _factor(factor: float) -> str:
    return f"{factor:.2f}" if factor < 2 else f"{factor:.1f}"


def _short(file: str) -> str:
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
