"""Calls of which samples are made, in whatever process."""

from __future__ import annotations

import os
import re
from typing import Any

from ...words import percent
from .calls import Call, calls_of
from .causes import SLOW_MOUNT, cause_of
from .finding import WAIT_MIN, Finding, count_words, finding_of, merged, time_of
from .mounts import slow_mount_of
from .recording import Stack
from .training import Training, below

_PATH = re.compile(r"'((?:/[^']*|[^' ]*)[^' /]\.[A-Za-z0-9]{2,5})'")  # of a file, among the words of a call
_NAMES_ALONE = ("pathlib", "posixpath", "genericpath", "ntpath", "fnmatch", "glob")  # these read no file
_WAITS_FOR_MOUNT = 0.5  # of a call's time


def workers_cpu_s(training: Training) -> float:
    """What workers compute for a step."""
    stacks = sample_stacks(training) if training.workers else []
    wall_s = sum(stack.wall_s for stack in stacks)
    if not wall_s:
        return 0.0
    share = sum(stack.processor_s for stack in stacks) / wall_s
    return training.samples_of_step * training.sample_s * share


def sample_stacks(training: Training) -> list[Stack]:
    stacks = [stack for recording in training.makers for stack in recording.stacks]
    found = [below(stack, "Unit.measured") for stack in stacks if below(stack, "function_of_step") is None]
    return [stack for stack in found if stack is not None]


def of_samples(training: Training) -> list[Finding]:
    if training.unit is None or training.wait_s < WAIT_MIN * training.step_s:
        return []
    stacks = sample_stacks(training)
    calls = calls_of(stacks, training.unit["counts"])
    # A worker imports once: workers.py.
    total = sum(stack.wall_s for stack in stacks) - sum(call.wall_s for call in calls if call.is_import)
    if total <= 0:
        return []
    findings = []
    readers = _readers_of_files(training.unit["counts"])
    for call in calls:
        cause = cause_of(call, "sample")
        if cause is None or call.is_import:
            continue
        share = call.wall_s / total
        per_sample = training.sample_s * share
        seconds = training.wait_s * share
        words = [f"{time_of(per_sample)} and {percent(share)} of a sample"]
        mount = _mount_of(call)
        if mount is not None:
            words[0] += f", from the mount {mount}"
            cause = SLOW_MOUNT
        words += count_words(call, training.unit["counts"]["units"], "sample")
        words += _other_readers(call, readers)
        if call.waits > 0.7 and mount is None:
            words.append(f"it stands still for {percent(call.waits)} of this time: storage, a lock or another process")
        findings.append(finding_of(call, cause, seconds, training, words, "sample"))
    return merged(findings)


def _mount_of(call: Call) -> str | None:
    """The slow mount that a call stands still for."""
    paths = sorted(path for edge in call.edges for path in _paths_in(edge))
    return slow_mount_of(paths[0]) if paths and call.waits > _WAITS_FOR_MOUNT else None


def _paths_in(edge: dict[str, Any]) -> set[str]:
    """The files that a call is given to read."""
    if edge["module"].partition(".")[0] in _NAMES_ALONE:
        return set()
    return {path for words in edge["examples"] for path in _PATH.findall(words)}


def _readers_of_files(counts: dict[str, Any]) -> dict[str, set[tuple[str, int]]]:
    """Which lines of the trainer hand on a path."""
    readers: dict[str, set[tuple[str, int]]] = {}
    for edge in counts["edges"]:
        for path in _paths_in(edge):
            readers.setdefault(path, set()).add((edge["file"], edge["line"]))
    return readers


def _other_readers(call: Call, readers: dict[str, set[tuple[str, int]]]) -> list[str]:
    """Whether a sample reads its file more than once."""
    words: list[str] = []
    for edge in call.edges:
        paths = _paths_in(edge)
        if paths and edge["repeats"] >= 2 and len(edge["examples"]) > 1 and _PATH.search(edge["repeated"]):
            return [f"the same file {edge['repeats']} times in one batch"]
        others = {place for path in paths for place in readers[path]} - {(edge["file"], edge["line"])}
        if others and not words:
            file, line = min(others)
            words = [f"the same file is read in {os.path.basename(file)}:{line}, too"]
    return words
