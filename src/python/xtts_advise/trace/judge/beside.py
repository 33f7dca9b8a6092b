"""A function of the trainer's own that no row knows, and that is no part of the model."""

from __future__ import annotations

from ...words import percent
from .calls import calls_of
from .causes import cause_of
from .finding import Finding, seldom, time_of
from .parts import part_of
from .recording import Place, Stack
from .steps import deepest_common
from .training import Training, is_of_loop, stacks_of_steps

_SHARE_MIN = 0.15  # of a step


def _is_of(one: Place, function: Place) -> bool:
    return (one.file, one.function) == (function.file, function.function)


def _waits(stack: Stack) -> bool:
    """For a GPU, which has to compute anyway, or for anything else."""
    causes = [cause_of(call, "step") for call in calls_of([stack], None)]
    return stack.processor_s < stack.wall_s / 2 or any(cause is not None and cause.of_gpu for cause in causes)


def of_beside(training: Training) -> list[Finding]:
    """For PyTorch, whose forward is known by its modules."""
    if training.loop["facts"]["kind"] in ("tf.data", "tf.function"):
        return []
    stacks = stacks_of_steps(training)
    of_no_part = [stack for stack in stacks if part_of(stack, training) is None]
    unknown = [stack for stack in of_no_part if not _waits(stack)]
    total = sum(stack.wall_s for stack in stacks)
    if not total:
        return []
    others = {(place.file, place.function) for stack in stacks if stack not in of_no_part for place in stack.path}
    place = deepest_common(unknown, others)
    if place is None or is_of_loop(place, training.loop):
        return []
    within = [stack for stack in unknown if any(_is_of(one, place) for one in stack.path)]
    seconds = training.shown_s * sum(stack.wall_s for stack in within) / total
    if seconds < _SHARE_MIN * training.step_s:
        return []
    name = place.function.rpartition(".")[2]
    title = f"{name}: {time_of(seconds)} and {percent(seconds / training.step_s)} of a step"
    words = ["it is no part of forward, loss, backward or optimizer"]
    finding = seldom(place, seconds, training, title, words, "beside the model")
    finding.remedy = "Where each step needs it, do it in fewer and larger operations; else do it more seldom."
    return [finding]
