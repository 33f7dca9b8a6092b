"""Calls within a step, and what comes in every Nth one."""

from __future__ import annotations

import os
import statistics
from bisect import bisect
from collections import Counter
from itertools import pairwise

from ...words import percent
from .calls import Call
from .causes import CACHE_WORDS, Cause, calls_with_causes
from .finding import SELDOM, Finding, count_words, finding_at, finding_of, merged, seldom, time_of
from .recording import Place, Stack
from .training import Training, is_of_loop, stacks_of_steps

_LONGER = 0.3  # of what seems to come in every Nth step
_SELDOM_LOOKS = 10  # steps from one look at the GPU's result to the next
_MANY_CALLS = 300  # small calls on one line, in a step


def of_steps(training: Training) -> list[Finding]:
    stacks = stacks_of_steps(training)
    steps = len(training.loop["steps"])
    total = sum(stack.wall_s for stack in stacks)
    if not total or not steps:
        return []
    findings: list[Finding] = []
    passed: list[Finding] = []
    for call, cause in calls_with_causes(stacks, training.loop["counts"], "step", training.has_gpu):
        seconds = training.shown_s * call.wall_s / total
        if cause is None and not _is_of_model(call):
            cause = next((one for one in _SMALL_CALLS if _often(call, one.names) >= _MANY_CALLS), None)
        if cause is None:
            continue
        words = [f"{time_of(seconds)} and {percent(seconds / training.step_s)} of a step"]
        words += count_words(call, training.loop["counts"]["units"], "step")
        period = _period_of(training, call)
        is_seldom = period is not None and cause.of_gpu and period[0] >= _SELDOM_LOOKS
        if period is not None:
            words.append(f"in every {period[0]} steps, {time_of(period[1])} each time")
        finding = finding_of(call, cause, seconds, training, words, "step")
        if period is not None:  # it is no feature of each clip
            finding.cache = "no"
            finding.remedy = finding.remedy.replace(CACHE_WORDS, "").strip() or SELDOM
        # A seldom look waits for what the GPU has to compute anyway.
        (passed if is_seldom else findings).append(finding)
    told = [*findings, *passed]
    return [*merged(findings), *_every_nth(training, stacks, told), *_validation(training, told)]


_SMALL_CALLS = (
    Cause(
        "small calls",
        "torch",
        "Hundreds of small calls a step: give one operation all values at once (for weights, torch._foreach_* and "
        "fused optimizers do it).",
    ),
    Cause(
        "small calls",
        "tensorflow",
        "Hundreds of small calls a step: give one operation all values at once, or put the loop into a tf.function.",
    ),
)


def _often(call: Call, framework: str) -> float:
    return sum(often for name, often in call.c_names.items() if name.startswith(framework))


def _is_of_model(call: Call) -> bool:
    return any(place.function.endswith((".forward", ".call")) for place in (*call.outer, call.place))


def _period_of(training: Training, call: Call) -> tuple[int, float] | None:
    """In which steps the call's own function below the loop takes time: every Nth, and for how long."""
    path = [*call.outer, call.place]
    for number, place in enumerate(path[:-1]):
        if is_of_loop(place, training.loop):
            return period_of(training, place.line, path[number + 1].function)
    return period_of(training, call.place.line, call.place.function)


def period_of(training: Training, line: int, function: str) -> tuple[int, float] | None:
    """Of what a line of the loop's function calls."""
    places = training.trainer.places
    times = [
        sum(seconds for place, own, seconds in step if places[place].line == line and places[own].function == function)
        for step in training.loop["lines"]
    ]
    if len(times) < 6:
        return None
    usual = sorted(times)[-2]  # the first time may load a library
    hits = [number for number, seconds in enumerate(times) if seconds > max(usual / 3, 1e-9)]
    if len(hits) < 2 or len(hits) > len(times) / 2:
        return None
    gaps = Counter(later - earlier for earlier, later in pairwise(hits))
    gap, often = gaps.most_common(1)[0]
    if gap < 2 or often < 0.6 * (len(hits) - 1):
        return None
    seconds = statistics.fmean(times[number] for number in hits)
    # Looks that are rarer than steps seem to come in every Nth one: it must be longer, too.
    whole = [step[2] for step in training.loop["steps"]]
    longer = statistics.fmean(whole[number] for number in hits) - statistics.fmean(
        whole[number] for number in range(len(times)) if number not in hits
    )
    return (gap, seconds) if longer >= _LONGER * seconds else None


def _every_nth(training: Training, stacks: list[Stack], told: list[Finding]) -> list[Finding]:
    """What takes its time in every Nth step, such as a validation."""
    loop, places = training.loop, training.trainer.places
    pairs = {(places[place].line, places[own].function) for step in loop["lines"] for place, own, _ in step}
    findings = []
    for line, function in sorted(pairs):
        period = period_of(training, line, function)
        if period is None:
            continue
        below_line = [stack for stack in stacks if _calls_from(stack, line, function)]
        seconds = period[1] / period[0]
        others = {(p.file, p.function) for stack in stacks if stack not in below_line for p in stack.path}
        place = deepest_common(below_line, others)
        if (
            place is None
            or is_of_loop(place, loop)
            or any(finding.seconds_per_step > seconds / 2 for finding in told if _is_below(finding, below_line))
        ):
            continue
        name = place.function.rpartition(".")[2]
        title = f"{name} in every {period[0]} steps: {time_of(period[1])} each time, {time_of(seconds)} of each step"
        words = [f"called from {os.path.basename(loop['file'])}:{line}"]
        findings.append(seldom(place, seconds, training, title, words, "every Nth step"))
    return findings


def _calls_from(stack: Stack, line: int, function: str) -> bool:
    inner = next((place for place in stack.path[1:] if place.kind == "own"), stack.path[0])
    return stack.path[0].line == line and inner.function == function


def _is_below(finding: Finding, stacks: list[Stack]) -> bool:
    return any(place.file == finding.file and place.line == finding.line for stack in stacks for place in stack.path)


def deepest_common(stacks: list[Stack], others: set[tuple[str, str]]) -> Place | None:
    """The innermost own function that most of the stacks' time is spent below, and that nothing else calls."""
    total = sum(stack.wall_s for stack in stacks)
    seconds: dict[tuple[int, str, str], float] = {}
    places: dict[tuple[int, str, str], Place] = {}
    for stack in stacks:
        depth = 0
        for place in stack.path:
            if place.kind == "own" and (place.file, place.function) not in others and place.function[-1] != ">":
                key = (depth, place.file, place.function)
                seconds[key] = seconds.get(key, 0.0) + stack.wall_s
                places.setdefault(key, place)
                depth += 1
    common = [key for key, wall in seconds.items() if wall >= 0.7 * total]
    return places[max(common)] if common else None


def _validation(training: Training, told: list[Finding]) -> list[Finding]:
    """Another loop over batches within the steps of the one that trains."""
    findings = []
    begins = [step[0] for step in training.loop["steps"]]
    end = begins[-1] + training.loop["steps"][-1][2]
    for other in training.others:
        inside = [step for step in other["steps"] if begins[0] <= step[0] <= end]
        is_told = any((one.file, one.line) == (other["file"], other["line"]) for one in told)
        if not inside or is_told or other["trains"] or other["facts"]["kind"] == "tf.function":
            continue
        # As far as it tells, its last batch lasts to the next validation.
        limits = [*begins[1:], end]
        seconds = sum(min(whole, limits[bisect(begins, at) - 1] - at) for at, _, whole in inside)
        per_step = seconds / max(1, len(training.loop["steps"]))
        title = f"validation within the training: {time_of(per_step)} of each step"
        remedy = "Validate more seldom, on fewer clips, or with more workers: training stands still meanwhile."
        words = [f"{len(inside)} {'batch' if len(inside) == 1 else 'batches'} of {other['function']}"]
        cache = "part" if sum(wait for _, wait, _ in inside) > seconds / 2 else "no"
        more = {"call": "validation", "cache": cache, "evidence": words}
        place = Place(other["file"], other["line"], "", other["function"], "own")
        findings.append(finding_at(place, per_step, training, title, remedy, "validation", **more))
    return findings
