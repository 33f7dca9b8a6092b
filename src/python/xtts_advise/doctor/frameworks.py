"""Does the trainer's framework compile a step, and does it fit the driver?"""

from __future__ import annotations

from typing import Any

from ..findings import ORDER, Check, Evidence, Finding
from .answers import at, items, number, text

# A speedup that is at least this in each round is no chance.
_CLEAR_SPEEDUP = 1.2
# Measurements of TensorFlow (the first two) and PyTorch; the others are for the evidence alone.
_COMPILING = ("graph", "xla", "compile")
_MENDS = {"tensorflow": "Install what it needs beside it: `pip install 'tensorflow[and-cuda]'`."}


def check(probe: dict[str, Any] | str, has_gpu: bool) -> list[Check]:
    """probe: what measure/frameworks answered; a text: why nothing was measured."""
    graph = Check("graph_mode", "Graph mode and compilation", is_judged=False)
    cuda = Check("cuda_versions", "CUDA of the frameworks", is_judged=False)
    if isinstance(probe, str):
        graph.summary = cuda.summary = f"Nothing was measured: {probe}."
        return [graph, cuda]
    for framework in items(probe, "frameworks"):
        _add_framework(framework, has_gpu, graph, cuda)
    no_gain = "No compiled step was clearly faster here."
    _conclude(graph, no_gain if graph.evidence else "Neither TensorFlow nor PyTorch is installed in this Python.")
    _conclude(cuda, "No framework is installed in this Python.")
    if not has_gpu:
        cuda.is_judged, cuda.summary = False, "There is no GPU here that their CUDA would have to fit."
    return [graph, cuda]


def _conclude(check: Check, otherwise: str) -> None:
    check.is_judged = bool(check.evidence or check.findings)
    worst = check.by_status()
    check.summary = worst[0].text if worst else otherwise


def _add_framework(framework: Any, has_gpu: bool, graph: Check, cuda: Check) -> None:
    name, installed, reason = (text(framework, key) for key in ("name", "installed", "reason"))
    if installed == "no":
        return
    # Its import had no end in time, which is no proof that anything is wrong.
    if installed == "unclear":
        remedy = (
            "Ask again while the machine is idle: its files are in memory then. If it hangs again, run "
            f"`import {name}` in the same Python."
        )
        graph.findings.append(Finding("cannot_tell", f"{name} cannot be judged: {reason}.", remedy))
        return
    if installed != "yes":
        what = f"{name} is installed, and cannot be used: {reason}."
        graph.findings.append(Finding("fail", what, "Install it anew, in a new virtual environment."))
        return
    version = f"{name} {text(framework, 'version')}"
    for measured in items(framework, "measurements"):
        _add_measurement(version, measured, graph)
        if text(measured, "name") in _COMPILING:
            _judge_failure(version, measured, has_gpu, graph)
    built_for = text(framework, "cuda", "built_for")
    built = f"CUDA {built_for}" if built_for else "built for CPUs"
    cuda.evidence.append(Evidence(version, built, text(framework, "cuda", "source")))
    if has_gpu and built_for and at(framework, "gpus") == []:
        why = text(framework, "gpus_reason") or "it does not say why"
        cuda.findings.append(
            Finding(
                "fail",
                f"{version} sees no GPU, though the driver names one: {why}. Training would run on the processor.",
                _MENDS.get(name, f"Install {name} anew, with the CUDA that it needs."),
            )
        )
    if has_gpu:
        cuda.findings.append(_need(name, version, at(framework, "cuda", "needs")))


def _need(name: str, version: str, needs: Any) -> Finding:
    status = text(needs, "status")
    remedy = f"Install the build of {name} that fits your driver." if status == "fail" else ""
    what = text(needs, "text") or "its needs are not known"
    return Finding(status if status in ORDER else "cannot_tell", f"{version}: {what}.", remedy)


def _add_measurement(version: str, measured: Any, graph: Check) -> None:
    what, speedup = f"{version}, {text(measured, 'what')}", at(measured, "speedup")
    if not isinstance(speedup, dict):
        graph.evidence.append(Evidence(what, "cannot tell", text(measured, "reason")))
        return
    low, high, median = (number(speedup, key) or 0.0 for key in ("low", "high", "median"))
    times = f"{low:.1f} to {high:.1f} times as fast"
    graph.evidence.append(Evidence(what, times, "measured here with a small network", median, "times"))
    if text(measured, "name") in _COMPILING and low >= _CLEAR_SPEEDUP:
        worked = f"Compiling works here: {what}, is {times}. A step of a large network gains less."
        graph.findings.append(Finding("pass", worked))


def _judge_failure(version: str, measured: Any, has_gpu: bool, graph: Check) -> None:
    """A compiler that fails is what the check looks for. A measurement that tells nothing is no failure."""
    status, what, reason = (text(measured, key) for key in ("status", "what", "reason"))
    if status == "cannot_tell":
        graph.findings.append(Finding("cannot_tell", f"{version}, {what}: {reason}."))
    if status == "failed":
        failed = f"{version} cannot compile a step here ({what}): {reason}."
        remedy = "Mend what it names before you train: a step that is not compiled leaves a GPU at 10 to 15 %."
        graph.findings.append(Finding("fail" if has_gpu else "warn", failed, remedy))
