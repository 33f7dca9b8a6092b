"""What runs between two epochs: it costs by how many steps an epoch has."""

from __future__ import annotations

from .causes import calls_with_causes
from .finding import Finding, finding_of, seldom, time_of
from .recording import Stack
from .steps import deepest_common
from .training import Training, is_of_loop, validates

_MUCH = 0.3  # of a gap: what has no name of its own


def of_gaps(training: Training) -> list[Finding]:
    stacks = []
    for key, wall_s, processor_s in training.loop["gap_stacks"]:
        path = [training.trainer.places[number] for number in reversed(key)]
        stacks.append(Stack("", tuple(place for place in path if place.kind != "trace"), wall_s, processor_s))
    total = sum(stack.wall_s for stack in stacks)
    if not total or not training.gap_s:
        return []
    # A validation that takes batches is told by steps.py.
    findings = _begun_anew(training, stacks, total)
    rest = [stack for stack in stacks if not validates(stack.path, training)]
    for call, cause in calls_with_causes(stacks, None, "step", training.has_gpu):
        if cause is None or cause.name == "own code":
            continue
        if cause.name == "loader made anew" and training.loop["facts"].get("persistent"):
            continue  # the workers stay, and are only asked for the first batches
        seconds = training.gap_s * call.wall_s / total
        words = [f"{time_of(seconds)} between two epochs"]
        findings.append(finding_of(call, cause, seconds / training.steps_of_epoch, training, words, "epoch"))
        rest = [stack for stack in rest if call.place not in stack.path]
    findings += _without_a_name(training, rest, total)
    for finding in findings:
        finding.error = max(finding.error, training.gap_error)
    return findings


def _begun_anew(training: Training, stacks: list[Stack], total: float) -> list[Finding]:
    """The loop's own line, and nothing below it: an iterator of tf.data ends, and another begins."""
    loop = training.loop
    inside = [stack for stack in stacks if is_of_loop(stack.path[-1], loop) and stack.path[-1].line == loop["line"]]
    seconds = training.gap_s * sum(stack.wall_s for stack in inside) / total
    if loop["facts"]["kind"] != "tf.data" or seconds < _MUCH * training.gap_s:
        return []
    title = f"the iterator of tf.data ends and begins anew: {time_of(seconds)} between two epochs"
    found = seldom(inside[0].path[-1], seconds / training.steps_of_epoch, training, title, [], "iterator made anew")
    found.call = "iter"
    found.remedy = (
        "Let the data set repeat() and count its steps: what it makes ahead, and its threads, then stay. "
        "Where its Python functions run in the first epoch alone (cache()), none is waited for."
    )
    return [found]


def _without_a_name(training: Training, stacks: list[Stack], total: float) -> list[Finding]:
    """A function of the trainer's own that most of the rest is spent in, such as a validation."""
    # The functions that call the loop's are no part of the gap alone.
    places = training.trainer.places
    others = {(places[n].file, places[n].function) for key, *_ in training.loop["stacks"] for n in key}
    place = deepest_common(stacks, others)
    if place is None or is_of_loop(place, training.loop):
        return []
    key = (place.file, place.function)
    inside = sum(stack.wall_s for stack in stacks if any((one.file, one.function) == key for one in stack.path))
    seconds = training.gap_s * inside / total
    per_step = seconds / training.steps_of_epoch
    if seconds < _MUCH * training.gap_s:
        return []
    title = f"{place.function.rpartition('.')[2]}: {time_of(seconds)} between two epochs"
    return [seldom(place, per_step, training, title, [], "between epochs")]
