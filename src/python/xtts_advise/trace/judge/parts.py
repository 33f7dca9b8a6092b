"""The parts of a step: data, forward, loss, backward, optimizer, and the rest by what it was.

A stack belongs to the part of its outermost call that tells one: a forward that a backward computes again is the
backward's. On a GPU, work that was asked for earlier shows where the host waits for it.
"""

from __future__ import annotations

import re

from .calls import callback_of
from .causes import calls_with_causes
from .recording import Place, Stack
from .training import Training, stacks_of_steps, validates

DATA, COMPILED, XLA = "data", "the compiled step", "step (XLA)"
_ORDER = (DATA, "forward", "loss", "backward", "optimizer", COMPILED, XLA)
_SMALL = 0.01  # of a step: less is told as "other"
_OTHER = "other"
# By the names of functions, as module.Class.function.
_PARTS = (
    ("backward", r"^torch\._tensor\.Tensor\.backward|^torch\.autograd|\.GradientTape\.(gradient|jacobian)|backprop\."),
    ("optimizer", r"^torch\.optim\.|^(keras|tf_keras|tensorflow)\b.*optimizer|\.GradScaler\.|clip_grad"),
    (COMPILED, r"^tensorflow\.python\.eager\.(polymorphic_function|def_function|function)\b"),
    (COMPILED, r"^torch\._dynamo\.eval_frame\.(?!Disable)"),  # zero_grad() disables it
    ("loss", r"^torch\.nn\.modules\.loss|[Ll]oss\w*\.forward$|^(keras|tf_keras)\b.*\.losses?\b"),
    ("loss", r"^torch\.nn\.functional\.\w*(loss|entropy|kl_div)"),
    # A module's call is a loss's, too: what it calls tells.
    ("forward", r"^torch\.nn\.modules\.(?!module\.)|\.forward$"),
    ("forward", r"^(keras|tf_keras)\b.*\.(layers?\b|models\.\w+\.\w+\.(call|__call__)$)"),
)
_CAUSES = {
    "picture": "pictures",
    "garbage": "garbage collection",
    "checkpoint": "checkpoints",
    "summary": "summaries",
    "printing": "printing",
    "network": "network",
    "host copy": "waiting for the GPU",
    "loss scale": "waiting for the GPU",
    "own code": "own code on the processor",
    "callback": "callbacks",
}


def parts_of(training: Training) -> list[tuple[str, float]]:
    """Names, and seconds of a step; together they are the step."""
    stacks = stacks_of_steps(training)
    total = sum(stack.wall_s for stack in stacks)
    seconds = {DATA: training.wait_s} if training.knows_wait else {}
    if total:
        scale = training.shown_s / total
        rest = []
        for stack in stacks:
            name = part_of(stack, training)
            if name is None:
                rest.append(stack)
            else:
                seconds[name] = seconds.get(name, 0.0) + scale * stack.wall_s
        for call, cause in calls_with_causes(rest, training.loop["counts"], "step", training.has_gpu):
            name = _CAUSES.get(cause.name, _OTHER) if cause else _OTHER
            seconds[name] = seconds.get(name, 0.0) + scale * call.wall_s
        if training.is_compiled and COMPILED in seconds:  # it takes its batch by itself
            seconds[COMPILED] = max(seconds[COMPILED] - training.wait_s, 0.0)
        if COMPILED in seconds:
            compiled_s = seconds.pop(COMPILED)
            for name, share in _parts_of_compiled(training).items():
                seconds[name] = seconds.get(name, 0.0) + share * compiled_s
    told = {name: value for name, value in seconds.items() if value >= _SMALL * training.step_s and name != _OTHER}
    names = sorted(told, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), -told[name]))
    other = training.step_s - sum(told.values())
    return [(name, told[name]) for name in names] + ([(_OTHER, other)] if other >= _SMALL * training.step_s else [])


def _parts_of_compiled(training: Training) -> dict[str, float]:
    """Shares of it, by the time of its operations."""
    profile = training.profile
    total = sum(profile.parts.values())
    if profile.xla_s > total:
        return {XLA: 1.0}
    if not total or set(profile.parts) == {""}:
        return {COMPILED: 1.0}
    return {name or _OTHER: seconds / total for name, seconds in profile.parts.items()}


def part_of(stack: Stack, training: Training) -> str | None:
    if validates(stack.path, training):
        return "validation"
    callback = callback_of(stack.path)
    path = stack.path[: callback[0]] if callback else stack.path
    # An optimizer may be given the model to call, as Lightning's is.
    closure = max((number for number, place in enumerate(path) if "closure" in place.function.lower()), default=-1)
    name = next(filter(None, map(_part_named, path[closure + 1 :])), None)
    if name in (None, "forward") and _is_in_own_loss(stack):
        return "loss"
    return name


def _part_named(place: Place) -> str | None:
    return next((part for part, pattern in _PARTS if re.search(pattern, place.name)), None)


def _is_in_own_loss(stack: Stack) -> bool:
    """In a function of the trainer's own that is named for a loss, and runs no model."""
    own = [
        number for number, place in enumerate(stack.path) if place.kind == "own" and "loss" in place.function.lower()
    ]
    return bool(own) and not any(place.function.endswith("forward") for place in stack.path[own[0] :])
