"""Searches of errors that were left on. What they cost was not measured: it shows once they are off."""

from __future__ import annotations

from ..inside.modes import ANOMALIES, BLOCKING, DATA_EAGERLY, EAGERLY, GPU
from .finding import Finding, finding_at, time_of
from .training import Training

_COST = {
    ANOMALIES: "each operation notes where it was called, and each gradient is looked at",
    BLOCKING: "each operation of the GPU is waited for",
    EAGERLY: "each tf.function runs operation by operation",
    DATA_EAGERLY: "tf.data's functions run in Python, one at a time",
}


def of_modes(training: Training) -> list[Finding]:
    found = [mode for mode in training.trainer.facts["modes"] if mode != GPU]
    return [
        finding_at(
            training.place, training.work_s, training, f"{mode} is on: {_COST[mode]}",
            "Leave it out: it is for searches of errors.", "search of errors",
            call=mode, evidence=[f"a step computes for {time_of(training.work_s)}"],
        )
        for mode in found
    ]  # fmt: skip
