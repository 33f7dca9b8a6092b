"""Which process trains, which make its samples, and how long a step takes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..inside.modes import GPU
from .profile import Profile, read_profile
from .recording import Place, Recording, Stack

PYTHON_FUNCTION = "tf.py_function"  # the unit of Python functions that tf.data calls
FUNCTION_OF_STEP = "tf.py_function of a step"
_WARM_STEPS = 2  # the first of a loop, which load libraries and fill queues


@dataclass
class Training:
    trainer: Recording
    loop: dict[str, Any]
    others: list[dict[str, Any]]  # loops of the same process, such as a validation
    makers: list[Recording]  # processes that make samples; the trainer itself without workers
    unit: dict[str, Any] | None  # of the samples, all makers together
    steps: list[tuple[float, float]] = field(default_factory=list)  # (wait, whole) in seconds
    knows_wait: bool = True
    profile: Profile = field(default_factory=Profile)  # of some compiled steps

    @cached_property
    def validations(self) -> set[tuple[str, str]]:
        """File and name of the functions with other loops over batches."""
        others = [one for one in self.others if not one["trains"] and one["facts"]["kind"] != "tf.function"]
        found = {function_of(other, self.trainer.places) for other in others}
        return found - {(self.loop["file"], self.loop["function"])}

    @property
    def place(self) -> Place:
        """Where the loop is."""
        return Place(self.loop["file"], self.loop["line"], "", self.loop["function"], "own")

    @property
    def is_compiled(self) -> bool:
        """The step takes its batch by itself, as Keras's does."""
        return bool(self.loop["facts"]["kind"] == "tf.function")

    @property
    def step_s(self) -> float:
        return statistics.fmean(whole for _, whole in self.steps)

    @property
    def wait_s(self) -> float:
        return statistics.fmean(wait for wait, _ in self.steps)

    @property
    def work_s(self) -> float:
        return self.step_s - self.wait_s

    @property
    def gap_s(self) -> float:
        """Between two epochs; the first of them may load libraries."""
        return statistics.median(self.loop["gaps"]) if self.loop["gaps"] else 0.0

    @property
    def gap_error(self) -> float:
        """How far gaps differ, as a share of gap_s."""
        if len(self.loop["gaps"]) < 2 or not self.gap_s:
            return 0.0
        low, _, high = statistics.quantiles(self.loop["gaps"], n=4)
        return min(float(high - low) / 2 / self.gap_s, 0.9)

    @property
    def steps_of_epoch(self) -> float:
        """By the data set's length; where it is not known, by the steps that were traced."""
        facts = self.loop["facts"]
        if facts.get("clips") and facts.get("batch"):
            return max(1.0, float(facts["clips"] / facts["batch"]))
        steps = self.loop["steps"]
        ends = [
            number for number, (one, next_one) in enumerate(pairwise(steps), 1) if next_one[0] > sum(one[::2]) + 1e-4
        ]
        if ends:  # the epoch that the trace ended in is not whole
            return ends[-1] / len(ends)
        return max(1.0, len(steps) / (len(self.loop["gaps"]) + 1))

    @property
    def whole_s(self) -> float:
        """A step with its part of what runs between epochs."""
        return self.step_s + self.gap_s / self.steps_of_epoch

    @property
    def shown_s(self) -> float:
        """What the stacks of a step cover: in a compiled one, its wait too."""
        return self.step_s if self.is_compiled else self.work_s

    @property
    def workers(self) -> int:
        return int(self.loop["facts"].get("workers") or 0)

    @property
    def has_gpu(self) -> bool:
        return GPU in self.trainer.facts["modes"]

    @property
    def has_python_functions(self) -> bool:
        return bool(self.unit and self.unit["name"] == PYTHON_FUNCTION)

    @property
    def samples_of_step(self) -> float:
        """Without a count of fetches, the loader's batch size."""
        if self.unit and self.unit["calls"]:
            batches = self.loop["batches"] if self.has_python_functions else self.unit["calls"]
            return float(self.unit["samples"] / max(1, batches))
        return float(self.loop["facts"].get("batch") or 1)

    @property
    def sample_s(self) -> float:
        if not self.unit or not self.unit["samples"]:
            return 0.0
        return float(self.unit["seconds"] / self.unit["samples"])


def find_training(recordings: list[Recording]) -> Training | None:
    """The loop that trains for the longest time; None where no loop took batches."""
    loops = [
        (_rank(loop), recording.process, number, recording, loop)
        for recording in recordings
        for number, loop in enumerate(recording.facts["loops"])
        if len(loop["steps"]) > _WARM_STEPS
    ]
    if not loops:
        return None
    *_, trainer, loop = max(loops, key=lambda row: row[:3])
    family = _family(trainer, recordings)
    data = loop["facts"].get("data")
    makers, units = [], []
    for recording in family:
        own = [unit for unit in recording.facts["units"] if unit["name"] in (data, PYTHON_FUNCTION)]
        if own:
            makers.append(recording)
            units += own
    steps = [(wait, whole) for _, wait, whole in loop["steps"][_WARM_STEPS:]]
    others = [other for other in trainer.facts["loops"] if other is not loop]
    rows = trainer.facts["events"].get("profile", [])
    profile = read_profile(trainer.profile, {scope for row in rows for scope in row["scopes"]})
    training = Training(trainer, loop, others, makers, _sum_of(units), steps, profile=profile)
    if training.is_compiled:
        wait_s = _wait_of_compiled(training)
        training.knows_wait = wait_s is not None
        training.steps = [(min(wait_s or 0.0, whole), whole) for _, whole in steps]
    return training


def _wait_of_compiled(training: Training) -> float | None:
    """The mean of a step; None where no step was profiled, or took no batch by itself."""
    rows = training.trainer.facts["events"].get("profile", [])
    steps = sum(row["began"] <= begin < row["ended"] for row in rows for begin, _, _ in training.loop["steps"])
    return training.profile.wait_s / steps if steps and training.profile.batches else None


def _rank(loop: dict[str, Any]) -> tuple[bool, bool, float]:
    return bool(loop["trains"]), loop["facts"]["kind"] != "tf.function", loop["step_s"]


def _family(trainer: Recording, recordings: list[Recording]) -> list[Recording]:
    """The trainer and all processes below it."""
    family = {trainer.process}
    while True:
        more = {recording.process for recording in recordings if recording.parent in family} - family
        if not more:
            break
        family |= more
    return [recording for recording in recordings if recording.process in family]


def _sum_of(units: list[dict[str, Any]]) -> dict[str, Any] | None:
    if not units:
        return None
    edges: dict[tuple[Any, ...], dict[str, Any]] = {}
    for unit in units:
        add_edges(edges, unit["counts"])
    return {
        "name": units[0]["name"],
        "calls": sum(unit["calls"] for unit in units),
        "samples": sum(unit["samples"] for unit in units),
        "seconds": sum(unit["seconds"] for unit in units),
        "counts": {"units": sum(unit["counts"]["units"] for unit in units), "edges": list(edges.values())},
    }


def add_edges(edges: dict[tuple[Any, ...], dict[str, Any]], counts: dict[str, Any]) -> None:
    for edge in counts["edges"]:
        key = (edge["file"], edge["line"], edge["module"], edge["function"])
        found = edges.get(key)
        if found is None:
            edges[key] = {**edge, "examples": dict(edge["examples"])}
            continue
        found["count"] += edge["count"]
        if edge["repeats"] > found["repeats"]:
            found["repeats"], found["repeated"] = edge["repeats"], edge["repeated"]
        found["others"] += edge["others"]
        for words, often in edge["examples"].items():
            found["examples"][words] = found["examples"].get(words, 0) + often


def below(stack: Stack, function: str) -> Stack | None:
    """The part of a stack within a function of the recording's own, such as "Unit.measured"."""
    for number, place in enumerate(stack.path):
        if place.kind == "trace" and place.function.endswith(function):
            inner = stack.path[number + 1 :]
            return Stack(stack.thread, tuple(p for p in inner if p.kind != "trace"), stack.wall_s, stack.processor_s)
    return None


def stacks_of_steps(training: Training) -> list[Stack]:
    """The stacks of the loop's steps without the waits for their batches, from the loop's function on."""
    found = []
    places = training.trainer.places
    for key, wall_s, processor_s in training.loop["stacks"]:
        path = [places[number] for number in reversed(key)]
        begin = next((number for number, place in enumerate(path) if is_of_loop(place, training.loop)), None)
        if begin is None or waits_for_batch(path):
            continue
        found.append(Stack("", tuple(p for p in path[begin:] if p.kind != "trace"), wall_s, processor_s))
    return found


_MOST = 0.9  # of a loop's time


def validates(path: tuple[Place, ...], training: Training) -> bool:
    """Whether a stack of the process that trains runs in another loop over batches."""
    return any((place.file, place.function.rpartition(".")[2]) in training.validations for place in path)


def function_of(loop: dict[str, Any], places: list[Place]) -> tuple[str, str]:
    """File and name of the innermost function that stays open from batch to batch, which may be a library's."""
    seconds: dict[tuple[str, str], float] = {}
    total = 0.0
    for key, wall_s, _ in loop["stacks"]:
        path = [places[number] for number in key]
        if not waits_for_batch(path):
            total += wall_s
            for function in {(place.file, place.function.rpartition(".")[2]) for place in path}:
                seconds[function] = seconds.get(function, 0.0) + wall_s
    through = [(file, function) for file, function in loop.get("through", [])]
    own = (loop["file"], loop["function"])
    return next((function for function in through if seconds.get(function, 0.0) > _MOST * total), own)


def is_of_loop(place: Place, loop: dict[str, Any]) -> bool:
    return bool(place.file == loop["file"]) and place.function.rpartition(".")[2] == loop["function"]


def waits_for_batch(path: list[Place]) -> bool:
    return any(place.kind == "trace" and place.function.endswith("__next__") for place in path)
