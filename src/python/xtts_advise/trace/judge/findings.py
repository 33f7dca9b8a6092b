"""What a training waits for, ranked by what a step would gain."""

from __future__ import annotations

import os
import re
import statistics
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .calls import Call, calls_of
from .causes import Cause, cause_of
from .recording import Place, Recording, Stack
from .training import Training, below, find_training, is_of_loop, stacks_of_steps

_SHARE_MIN = 0.06  # of a step: what is less is not worth a change
_WAIT_MIN = 0.15  # of a step: a shorter wait is no fault (users count up to 30 % as good)
_MANY_CALLS = 300  # small calls on one line, in a step
_PATH = re.compile(r"'([^' ]*[^' /]\.[A-Za-z0-9]{2,5})'")  # of a file, among the words of a call
_ERROR = 0.25  # of a call's seconds: samples, and what runs beside it


@dataclass
class Finding:
    title: str
    call: str
    file: str
    line: int
    function: str
    seconds_per_step: float
    share: float  # of a step
    remedy: str
    cache: str
    evidence: list[str]
    gain: tuple[float, float] = (1.0, 1.0)
    cause: str = ""

    def to_json(self, rank: int) -> dict[str, Any]:
        return {"rank": rank, **self.__dict__, "gain": list(self.gain)}


@dataclass
class Report:
    training: Training | None
    findings: list[Finding]
    notes: list[str]
    recordings: list[Recording]


def judge(recordings: list[Recording]) -> Report:
    training = find_training(recordings)
    if training is None:
        return Report(None, [], [_nothing_found(recordings)], recordings)
    findings = [
        *_of_samples(training),
        *_of_steps(training),
        *_of_traces(training),
        *_of_stages(training),
        *_of_python_functions(training),
        *_of_worker_starts(training),
        *_of_batches(training),
    ]
    findings = [finding for finding in findings if finding.share >= _SHARE_MIN]
    for finding in findings:
        if finding.cause != "batch":  # what more clips in a step would gain was not measured
            finding.gain = gain_of(training.step_s, finding.seconds_per_step)
    findings.sort(key=lambda finding: -finding.seconds_per_step)
    return Report(training, findings, _notes(training), recordings)


def gain_of(step_s: float, seconds: float) -> tuple[float, float]:
    """How many times as fast a step becomes without these seconds, as a range."""

    def without(share: float) -> float:
        return step_s / max(step_s - share * seconds, 0.02 * step_s)

    return without(1 - _ERROR), without(min(1 + _ERROR, step_s / seconds if seconds else 1))


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


# --- samples ---------------------------------------------------------------------------------


def sample_stacks(training: Training) -> list[Stack]:
    found = []
    for recording in training.makers:
        for stack in recording.stacks:
            inner = below(stack, "Unit.measured")
            if inner is not None:
                found.append(inner)
    return found


def _of_samples(training: Training) -> list[Finding]:
    if training.unit is None or training.wait_s < _WAIT_MIN * training.step_s:
        return []
    stacks = sample_stacks(training)
    total = sum(stack.wall_s for stack in stacks)
    if not total:
        return []
    findings = []
    readers = _readers_of_files(training.unit["counts"])
    for call in calls_of(stacks, training.unit["counts"]):
        cause = cause_of(call, "sample")
        if cause is None:
            continue
        share = call.wall_s / total
        per_sample = training.sample_s * share
        seconds = training.wait_s * share
        words = [f"{_time(per_sample)} and {share:.0%} of a sample"]
        words += _count_words(call, training.unit["counts"]["units"], "sample")
        words += _other_readers(call, readers)
        if call.waits > 0.7:
            words.append(f"it stands still for {call.waits:.0%} of this time: storage, a lock or another process")
        findings.append(_finding(call, cause, seconds, training, words, "sample"))
    return _merged(findings)


def _count_words(call: Call, units: float, unit: str) -> list[str]:
    """How often, and whether always with the same arguments."""
    words = []
    if call.count >= 1.5:
        words.append(f"called {call.count:.0f} times in a {unit}")
    last = call.name.rpartition(".")[2]
    for edge in call.edges:
        if edge["function"].rpartition(".")[2] not in (last, "__init__"):
            continue
        calls = sum(edge["examples"].values()) + edge["others"]
        arguments = next(iter(edge["examples"]), "")
        if calls >= 4 and len(edge["examples"]) == 1 and not edge["others"] and arguments and "~" not in arguments:
            words.append(f"always with the same arguments ({arguments[:60]})")
            break
    return words


def _paths_in(edge: dict[str, Any]) -> set[str]:
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
        if paths and edge["repeats"] >= 2 and len(edge["examples"]) > 1:
            return [f"the same file {edge['repeats']} times in one batch"]
        others = {place for path in paths for place in readers[path]} - {(edge["file"], edge["line"])}
        if others and not words:
            file, line = min(others)
            words = [f"the same file is read in {os.path.basename(file)}:{line}, too"]
    return words


def _merged(findings: list[Finding]) -> list[Finding]:
    """One finding for each cause and line; one for each of the trainer's functions that compute."""
    kept: dict[tuple[str, int | str, str], Finding] = {}
    for finding in findings:
        place = finding.function if finding.cause == "own code" else finding.line
        key = (finding.file, place, finding.cause)
        first = kept.get(key)
        if first is None:
            kept[key] = finding
        else:
            first.seconds_per_step += finding.seconds_per_step
            first.share += finding.share
    return list(kept.values())


def _finding(call: Call, cause: Cause, seconds: float, training: Training, words: list[str], unit: str) -> Finding:
    return Finding(
        title=f"{call.title}: {words[0]}",
        call=call.title,
        file=call.place.file,
        line=call.place.line,
        function=call.place.function,
        seconds_per_step=seconds,
        share=seconds / training.step_s,
        remedy=cause.remedy.replace("{unit}", unit),
        cache=cause.cache,
        evidence=words[1:],
        cause=cause.name,
    )


# --- steps -----------------------------------------------------------------------------------


def _of_steps(training: Training) -> list[Finding]:
    stacks = stacks_of_steps(training)
    steps = len(training.loop["steps"])
    total = sum(stack.wall_s for stack in stacks)
    if not total or not steps:
        return []
    findings = []
    for call in calls_of(stacks, training.loop["counts"]):
        share = call.wall_s / total
        seconds = training.work_s * share
        cause = cause_of(call, "step")
        many = sum(often for name, often in call.c_names.items() if name.startswith("torch"))
        if cause is None and many >= _MANY_CALLS and not _is_of_model(call):
            cause = _SMALL_CALLS
        if cause is None:
            continue
        words = [f"{_time(seconds)} and {seconds / training.step_s:.0%} of a step"]
        words += _count_words(call, training.loop["counts"]["units"], "step")
        period = _period_of(training, call)
        if period is not None:
            words.append(f"in every {period[0]} steps, {_time(period[1])} each time")
        findings.append(_finding(call, cause, seconds, training, words, "step"))
    return [*_merged(findings), *_every_nth(training, stacks, findings), *_validation(training)]


_SMALL_CALLS = Cause(
    "small calls",
    "",
    "Hundreds of small calls a step: torch._foreach_* and fused optimizers do the work of all weights in a few.",
)


def _is_of_model(call: Call) -> bool:
    return any(place.function.endswith(".forward") for place in (*call.outer, call.place))


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
    hits = [number for number, seconds in enumerate(times) if seconds > max(max(times) / 3, 1e-9)]
    if len(hits) < 2 or len(hits) > len(times) / 2:
        return None
    gaps = Counter(later - earlier for earlier, later in pairwise(hits))
    gap, often = gaps.most_common(1)[0]
    if gap < 2 or often < 0.6 * (len(hits) - 1):
        return None
    return gap, statistics.fmean(times[number] for number in hits)


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
        place = _deepest_common(below_line, others)
        if place is None or any(
            finding.seconds_per_step > seconds / 2 for finding in told if _is_below(finding, below_line)
        ):
            continue
        name = place.function.rpartition(".")[2]
        findings.append(
            Finding(
                title=f"{name} in every {period[0]} steps: {_time(period[1])} each time, {_time(seconds)} of each step",
                call=place.name,
                file=place.file,
                line=place.line,
                function=place.function,
                seconds_per_step=seconds,
                share=seconds / training.step_s,
                remedy="Do it more seldom, or on less: the training stands still meanwhile.",
                cache="no",
                evidence=[f"called from {os.path.basename(loop['file'])}:{line}"],
                cause="every Nth step",
            )
        )
    return findings


def _calls_from(stack: Stack, line: int, function: str) -> bool:
    inner = next((place for place in stack.path[1:] if place.kind == "own"), stack.path[0])
    return stack.path[0].line == line and inner.function == function


def _is_below(finding: Finding, stacks: list[Stack]) -> bool:
    return any(place.file == finding.file and place.line == finding.line for stack in stacks for place in stack.path)


def _deepest_common(stacks: list[Stack], others: set[tuple[str, str]]) -> Place | None:
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


def _validation(training: Training) -> list[Finding]:
    """Another loop over batches within the steps of the one that trains."""
    findings = []
    begin = min((step[0] for step in training.loop["steps"]), default=0.0)
    end = max((step[0] + step[2] for step in training.loop["steps"]), default=0.0)
    for other in training.others:
        inside = [step for step in other["steps"] if begin <= step[0] <= end]
        if not inside or other["trains"] or other["facts"]["kind"] == "tf.function":
            continue
        seconds = sum(whole for _, _, whole in inside)
        per_step = seconds / max(1, len(training.loop["steps"]))
        findings.append(
            Finding(
                title=f"validation within the training: {_time(per_step)} of each step",
                call="validation",
                file=other["file"],
                line=other["line"],
                function=other["function"],
                seconds_per_step=per_step,
                share=per_step / training.step_s,
                remedy="Validate more seldom, on fewer clips, or with more workers: training stands still meanwhile.",
                cache="part" if sum(wait for _, wait, _ in inside) > seconds / 2 else "no",
                evidence=[f"{len(inside)} batches of {other['function']}"],
                cause="validation",
            )
        )
    return findings


# --- TensorFlow's traces ---------------------------------------------------------------------


def _of_traces(training: Training) -> list[Finding]:
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
        findings.append(
            Finding(
                title=f"{name} is traced {len(traces)} times in {len(steps)} steps: {_time(seconds)} of each step",
                call=name,
                file=traces[-1].get("file") or training.loop["file"],
                line=traces[-1].get("line") or training.loop["line"],
                function=name,
                seconds_per_step=seconds,
                share=seconds / training.step_s,
                remedy=remedy,
                cache="no",
                evidence=[why],
                cause="traced again",
            )
        )
    return findings


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


def _of_stages(training: Training) -> list[Finding]:
    """tf.data's own work, in C++, that a step waits for."""
    if training.loop["facts"]["kind"] != "tf.data" or training.wait_s < _WAIT_MIN * training.step_s:
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
        title = f"tf.data: {at['name']} runs for one clip at a time, and a step waits {_time(training.wait_s)} for it"
        remedy = f"{at['name']}(..., num_parallel_calls=tf.data.AUTOTUNE), and prefetch(tf.data.AUTOTUNE) last."
    elif not ends_ahead:
        title = f"tf.data: nothing is made ahead, and a step waits {_time(training.wait_s)} for its batch"
        remedy = "End the pipeline with .prefetch(tf.data.AUTOTUNE): the next batch is then made during the step."
    else:
        title = f"tf.data: a step waits {_time(training.wait_s)} for what its stages compute"
        remedy = "The processors are busy with it. A cache holds it, computed once: xtts-precompute DATA CACHE."
    return [
        Finding(
            title=title,
            call=f"tf.data.Dataset.{at['name']}",
            file=at.get("file") or training.loop["file"],
            line=at.get("line") or training.loop["line"],
            function=at["name"],
            seconds_per_step=training.wait_s,
            share=training.wait_s / training.step_s,
            remedy=remedy,
            cache="yes",
            evidence=[f"tf.data's threads used {busy:.1f} s of processor"],
            cause="tf.data",
        )
    ]


def _of_python_functions(training: Training) -> list[Finding]:
    """Python functions that TensorFlow calls: while it makes a batch, or within the compiled step."""
    if not training.has_python_functions or training.unit is None:
        return []
    function = _outermost(sample_stacks(training))
    if function is None:
        return []
    in_step = training.unit["seconds"] / max(1, training.loop["batches"])
    makes_batches = training.wait_s >= _WAIT_MIN * training.step_s
    seconds = training.wait_s if makes_batches else min(in_step, training.work_s)
    name = function.function.rpartition(".")[2]
    if makes_batches:
        title = f"tf.py_function: {name} runs in Python for each clip, and a step waits {_time(seconds)} for it"
        remedy = (
            "Python's lock lets one such function run at a time. Write it with TensorFlow's own operations, or take "
            "it out of the training: a cache holds what it computes (xtts-precompute DATA CACHE)."
        )
    else:
        title = f"tf.numpy_function: {name} runs in Python within the step, {_time(seconds)} of each"
        remedy = "The compiled step waits for Python's lock. Write it with TensorFlow's own operations."
    return [
        Finding(
            title=title,
            call="tf.py_function" if makes_batches else "tf.numpy_function",
            file=function.file,
            line=function.line,
            function=function.function,
            seconds_per_step=seconds,
            share=seconds / training.step_s,
            remedy=remedy,
            cache="yes" if makes_batches else "no",
            evidence=[f"{training.samples_of_step:.0f} calls in a step, {_time(training.sample_s)} each"],
            cause="python function",
        )
    ]


def _outermost(stacks: list[Stack]) -> Place | None:
    """The own function that the most time is spent below."""
    seconds: dict[Place, float] = {}
    for stack in stacks:
        first = next((place for place in stack.path if place.kind == "own"), None)
        if first is not None:
            seconds[first] = seconds.get(first, 0.0) + stack.wall_s
    return max(seconds, key=seconds.__getitem__) if seconds else None


# --- workers and batches ---------------------------------------------------------------------


def _of_worker_starts(training: Training) -> list[Finding]:
    """Imports in workers, before their first sample and within it."""
    workers = [maker for maker in training.makers if maker is not training.trainer]
    if not workers or not training.workers:
        return []
    stacks = [stack for worker in workers for stack in worker.stacks if below(stack, "Unit.measured") is None]
    imports = [call for call in calls_of(stacks, None) if call.name.startswith("import ")]
    if not imports:
        return []
    slowest = imports[0]
    per_worker = sum(call.wall_s for call in imports) / len(workers)
    starts = len(workers) / training.workers  # how often all workers were started
    seconds = per_worker * starts / max(1, len(training.loop["steps"]))
    is_anew = starts > 1.5
    remedy = (
        "Import it where the workers' parent loads it, so that forked workers have it already."
        if not is_anew or training.loop["facts"].get("persistent")
        else "persistent_workers=True keeps the workers, and what they imported, from epoch to epoch."
    )
    return [
        Finding(
            title=f"{slowest.name} in each worker: {_time(per_worker)} for each of {len(workers)} workers",
            call=slowest.name,
            file=slowest.place.file,
            line=slowest.place.line,
            function=slowest.place.function,
            seconds_per_step=seconds,
            share=seconds / training.step_s,
            remedy=remedy,
            cache="no",
            evidence=["workers were started anew in each epoch"] if is_anew else [],
            cause="import",
        )
    ]


def _of_batches(training: Training) -> list[Finding]:
    if training.samples_of_step > 1.0 or training.unit is None or training.has_python_functions:
        return []
    # What a batch of 8 would spare cannot be measured from batches of 1: at least the fixed part of a step.
    seconds = training.step_s * 0.5
    return [
        Finding(
            title="batches of 1 clip: a step's fixed cost is paid for each clip",
            call="batch of 1",
            file=training.loop["file"],
            line=training.loop["line"],
            function=training.loop["function"],
            seconds_per_step=seconds,
            share=0.5,
            remedy="Raise the loader's batch_size (8 or more, as memory allows).",
            cache="no",
            evidence=["not measured: how long a step with more clips takes"],
            cause="batch",
        )
    ]


def _notes(training: Training) -> list[str]:
    family = training_family(training)
    cost = sum(recording.facts["cost_s"] for recording in family)
    seconds = training.trainer.facts["seconds"]
    faults = sorted({fault for recording in family for fault in recording.facts["faults"]})
    return [
        f"Recording took {cost / seconds:.1%} of one processor's time.",
        *(f"A part was not recorded, which is a fault of this program: {fault}" for fault in faults),
    ]


def training_family(training: Training) -> list[Recording]:
    return [training.trainer, *[maker for maker in training.makers if maker is not training.trainer]]


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
