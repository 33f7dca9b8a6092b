"""What a training waits for, ranked by what a step would gain."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ...words import percent
from .beside import of_beside
from .epochs import of_gaps
from .finding import Finding, gain_of, time_of
from .modes import of_modes
from .parts import XLA, parts_of
from .recording import Recording
from .samples import of_samples, workers_cpu_s
from .steps import of_steps
from .tensorflow import is_eager, of_eager, of_python_functions, of_stages, of_traces
from .training import Training, find_training
from .workers import of_batches, of_iterators, of_worker_starts

_XLA = "XLA makes one program of the step's operations: its forward, loss, backward and optimizer cannot be told apart."
_CPU_SHARE = 0.3  # of the processors: workers that take more can slow the step itself
_SHARE_MIN = 0.06  # of a step: what is less is not worth a change


@dataclass
class Report:
    training: Training | None
    findings: list[Finding]
    notes: list[str]
    recordings: list[Recording]
    parts: list[tuple[str, float]] = field(default_factory=list)  # of a step, in seconds
    workers_cpu_s: float = 0.0  # for a step


def judge(recordings: list[Recording]) -> Report:
    training = find_training(recordings)
    if training is None:
        return Report(None, [], [_nothing_found(recordings)], recordings)
    findings = [
        *of_samples(training),
        *of_steps(training),
        *of_gaps(training),
        *of_traces(training),
        *of_eager(training),
        *of_modes(training),
        *of_stages(training),
        *of_python_functions(training),
        *of_worker_starts(training),
        *of_iterators(training),
        *of_batches(training),
    ]
    findings = [finding for finding in findings if finding.share >= _SHARE_MIN] or of_beside(training)
    for finding in findings:
        if finding.cause not in ("batch", "eager", "search of errors"):  # what these would gain was not measured
            finding.gain = gain_of(training.whole_s, finding.seconds_per_step, finding.error)
    findings.sort(key=lambda finding: -finding.seconds_per_step)
    parts, cpu_s = parts_of(training), workers_cpu_s(training)
    notes = [*_slowed(training, cpu_s), *_notes(training, [name for name, _ in parts])]
    return Report(training, findings, notes, recordings, parts, cpu_s)


def _nothing_found(recordings: list[Recording]) -> str:
    if not recordings:
        return (
            "No Python process was recorded. The program may start Python with -I, -E or -S, or set PYTHONPATH by "
            "itself: name the Python program after `--`."
        )
    return (
        "No loop took batches from a DataLoader or a tf.data iterator for more than two steps. "
        "Let the training run longer, or trace the program that trains."
    )


def _slowed(training: Training, cpu_s: float) -> list[str]:
    """A wait that is short does not tell what workers cost."""
    cores = len(os.sched_getaffinity(0))
    if cpu_s < _CPU_SHARE * cores * training.step_s:
        return []
    said = f"Its workers compute {time_of(cpu_s)} for each step, on {cores} processors: that can slow the step itself, "
    shown = "which its wait does not show. `xtts-precompute profile --loader M:N --step M:N` measures it."
    return [said + shown]


def _notes(training: Training, parts: list[str]) -> list[str]:
    family = [training.trainer, *(maker for maker in training.makers if maker is not training.trainer)]
    cost = sum(recording.facts["cost_s"] for recording in family)
    seconds = training.trainer.facts["seconds"]
    faults = sorted({fault for recording in family for fault in recording.facts["faults"]})
    eager = "Its steps run eagerly, operation by operation: where they can be traced, a tf.function compiles them."
    return [
        *([eager] if is_eager(training) else []),
        *([_XLA] if XLA in parts else []),
        f"Recording took {percent(cost / seconds, 1)} of one processor's time.",
        *(f"A part was not recorded, which is a fault of this program: {fault}" for fault in faults),
    ]
