"""What TensorFlow does in C++, or calls back: traces, stages of tf.data, Python functions."""

from __future__ import annotations

import re
from typing import Any

from .finding import WAIT_MIN, Finding, finding_at, time_of
from .recording import Place, Stack
from .samples import sample_stacks
from .training import FUNCTION_OF_STEP, Training, below, stacks_of_steps

_EAGER = r"tensorflow\.python\.eager\.backprop\.|tensorflow\.python\.eager\.execute\."
_COMPILED = r"tensorflow\.python\.eager\.(polymorphic_function|def_function)\b"
_KERAS_FIT = r"(keras|tf_keras)\b.*\.trainer\b.*\.fit$"


def of_traces(training: Training) -> list[Finding]:
    steps = training.loop["steps"]
    if not steps:
        return []
    begin, end = steps[0][0], steps[-1][0] + steps[-1][2]
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in training.trainer.facts["events"].get("trace", []):
        if begin <= row["at"] <= end:
            rows.setdefault(row["name"], []).append(row)
    findings = []
    for name, traces in rows.items():
        if len(traces) < 3:
            continue
        seconds = sum(row["seconds"] for row in traces) / len(steps)
        why, remedy = why_traced(traces)
        title = f"{name} is traced {len(traces)} times in {len(steps)} steps: {time_of(seconds)} of each step"
        more = {"call": name, "share": seconds / training.step_s, "evidence": [why]}
        place = _place_of(traces[-1], name, training)
        findings.append(finding_at(place, seconds, training, title, remedy, "traced again", **more))
    return findings


def is_eager(training: Training) -> bool:
    """Whether a step of TensorFlow calls no tf.function. That may be meant so: not each step can be traced."""
    names = _names_in(training)
    is_tensorflow = training.loop["facts"]["kind"] == "tf.data" and any(re.match(_EAGER, name) for name in names)
    return is_tensorflow and not any(re.match(_COMPILED, name) for name in names)


def _names_in(training: Training) -> set[str]:
    return {place.name for stack in stacks_of_steps(training) for place in stack.path}


def of_eager(training: Training) -> list[Finding]:
    """Keras compiles its steps, unless it is told not to."""
    if not is_eager(training) or not any(re.match(_KERAS_FIT, name) for name in _names_in(training)):
        return []
    title = f"the step runs eagerly, operation by operation: {time_of(training.work_s)} of each step"
    remedy = "Leave out run_eagerly=True, which is for searches of errors."
    words = ["no tf.function was called within the steps"]
    return [finding_at(training.place, training.work_s, training, title, remedy, "eager", evidence=words)]


def why_traced(traces: list[dict[str, Any]]) -> tuple[str, str]:
    functions = {row["function"] for row in traces}
    if len(functions) > 1 and len(functions) >= len(traces) - 1:
        return (
            "the tf.function is made anew each time",
            "Make the tf.function once, outside of the loop: each new one is traced from nothing.",
        )
    plain = [", ".join(row["values"]["plain"]) for row in traces]
    if len(set(plain)) > 1:
        return (
            f"a Python value among its arguments is another one each time: {plain[-1]}",
            "Give numbers that change as tensors (tf.constant, tf.Variable): a new Python value is a new trace.",
        )
    return (
        f"the shapes of its arguments change: {', '.join(traces[-1]['values']['shapes'])}",
        "Pad batches to a fixed length, or give the tf.function an input_signature with None where shapes change.",
    )


def of_stages(training: Training) -> list[Finding]:
    """tf.data's own work, in C++, that a step waits for."""
    if training.loop["facts"]["kind"] not in ("tf.data", "tf.function") or training.wait_s < WAIT_MIN * training.step_s:
        return []
    stages = training.trainer.facts["events"].get("stage", [])
    if not stages:
        return []
    threads = training.trainer.facts["threads"]
    busy = sum(seconds for name, seconds in threads.items() if name.startswith("tf_data"))
    single = [row for row in stages if row["name"] in ("map", "interleave") and not row["parallel"]]
    ends_ahead = stages[-1]["name"] == "prefetch"
    if training.unit is not None and training.unit["seconds"] > 0.5 * busy:
        return []  # Python functions take the time, and are told as samples
    at = (single or stages)[-1]
    if single:
        title = f"tf.data: {at['name']} runs for one clip at a time, and a step waits {time_of(training.wait_s)} for it"
        remedy = f"{at['name']}(..., num_parallel_calls=tf.data.AUTOTUNE), and prefetch(tf.data.AUTOTUNE) last."
    elif not ends_ahead:
        title = f"tf.data: nothing is made ahead, and a step waits {time_of(training.wait_s)} for its batch"
        remedy = "End the pipeline with .prefetch(tf.data.AUTOTUNE): the next batch is then made during the step."
    else:
        title = f"tf.data: a step waits {time_of(training.wait_s)} for what its stages compute"
        remedy = "The processors are busy with it. A cache holds it, computed once: `xtts-precompute DATA CACHE`."
    more = {"call": f"tf.data.Dataset.{at['name']}", "share": training.wait_s / training.step_s, "cache": "yes"}
    words = [f"tf.data's threads used {busy:.1f} s of processor"]
    place = _place_of(at, at["name"], training)
    return [finding_at(place, training.wait_s, training, title, remedy, "tf.data", evidence=words, **more)]


def _place_of(row: dict[str, Any], function: str, training: Training) -> Place:
    """Where an event was noted, else the loop's place."""
    loop = training.loop
    return Place(row.get("file") or loop["file"], row.get("line") or loop["line"], "", function, "own")


def of_python_functions(training: Training) -> list[Finding]:
    """Python functions that TensorFlow calls: while it makes a batch, or within the compiled step."""
    findings = []
    function = _outermost(sample_stacks(training))
    if training.has_python_functions and function and training.wait_s >= WAIT_MIN * training.step_s:
        title = f"runs in Python for each clip, and a step waits {time_of(training.wait_s)} for it"
        remedy = (
            "Python's lock lets one such function run at a time. Write it with TensorFlow's own operations, or take "
            "it out of the training: a cache holds what it computes (`xtts-precompute DATA CACHE`)."
        )
        words = f"{training.samples_of_step:.0f} calls in a step, {time_of(training.sample_s)} each"
        findings.append(_of_function(training, function, training.wait_s, "tf.py_function", title, remedy, words))
    in_step = [below(stack, "function_of_step") for stack in training.trainer.stacks]
    function = _outermost([stack for stack in in_step if stack is not None])
    unit = next((unit for unit in training.trainer.facts["units"] if unit["name"] == FUNCTION_OF_STEP), None)
    if unit is not None and function is not None:
        calls = unit["calls"] / max(1, training.loop["batches"])
        seconds = min(unit["seconds"] / max(1, training.loop["batches"]), training.work_s)
        title = f"runs in Python within the step, {time_of(seconds)} of each"
        remedy = "The compiled step waits for Python's lock. Write it with TensorFlow's own operations."
        words = f"called {calls:.0f} times in a step"
        findings.append(_of_function(training, function, seconds, "tf.numpy_function", title, remedy, words))
    return findings


def _of_function(
    training: Training, place: Place, seconds: float, call: str, title: str, remedy: str, words: str
) -> Finding:
    title = f"{call}: {place.function.rpartition('.')[2]} {title}"
    more = {"call": call, "share": seconds / training.step_s, "cache": "yes" if "a cache" in remedy else "no"}
    return finding_at(place, seconds, training, title, remedy, "python function", evidence=[words], **more)


def _outermost(stacks: list[Stack]) -> Place | None:
    """The own function that the most time is spent below."""
    seconds: dict[Place, float] = {}
    for stack in stacks:
        first = next((place for place in stack.path if place.kind == "own"), None)
        if first is not None:
            seconds[first] = seconds.get(first, 0.0) + stack.wall_s
    return max(seconds, key=seconds.__getitem__) if seconds else None
