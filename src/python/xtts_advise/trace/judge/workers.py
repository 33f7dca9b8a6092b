"""How workers start, and how many clips a batch has."""

from __future__ import annotations

from .calls import calls_of
from .finding import Finding, time_of
from .training import Training, below


def of_worker_starts(training: Training) -> list[Finding]:
    """Imports in workers, which a loader without persistent workers pays in each epoch."""
    workers = [maker for maker in training.makers if maker is not training.trainer]
    if not workers or not training.workers:
        return []
    stacks = [stack for worker in workers for stack in worker.stacks]
    calls = calls_of([below(stack, "Unit.measured") or stack for stack in stacks], None)
    imports = [call for call in calls if call.is_import]
    starts = len(workers) / training.workers  # how often all workers were started
    is_persistent = bool(training.loop["facts"].get("persistent"))
    if not imports or (is_persistent and starts < 1.5):
        return []
    slowest = imports[0]
    per_worker = sum(call.wall_s for call in imports) / len(workers)
    seconds = per_worker / training.steps_of_epoch
    remedy = (
        "Import it where the workers' parent loads it, so that forked workers have it already."
        if is_persistent
        else "persistent_workers=True keeps the workers, and what they imported, from epoch to epoch."
    )
    return [
        Finding(
            title=f"{slowest.name} in each worker: {time_of(per_worker)} for each of {len(workers)} workers",
            call=slowest.name,
            file=slowest.place.file,
            line=slowest.place.line,
            function=slowest.place.function,
            seconds_per_step=seconds,
            share=seconds / training.whole_s,
            remedy=remedy,
            cache="no",
            evidence=["workers are started anew in each epoch"],
            cause="import",
        )
    ]


def of_iterators(training: Training) -> list[Finding]:
    """A loader that is begun anew for each batch or two: what it had made ahead is thrown away."""
    loop = training.loop
    if loop["iterators"] < 4 or loop["iterators"] < 0.4 * loop["batches"]:
        return []
    file, line, function = loop["asks"]
    return [
        Finding(
            title=f"the loader is begun anew {loop['iterators']} times for {loop['batches']} batches: iter()",
            call="iter",
            file=file,
            line=line,
            function=function,
            seconds_per_step=training.wait_s,
            share=training.wait_s / training.step_s,
            remedy="Make the iterator once, and take batch after batch from it: what it makes ahead is then used.",
            cache="no",
            evidence=[],
            cause="iterator made anew",
        )
    ]


def of_batches(training: Training) -> list[Finding]:
    if training.samples_of_step > 1.0 or training.unit is None or training.has_python_functions:
        return []
    # The gain of a batch of 8 cannot be measured from batches of 1: it is at least the fixed part of a step.
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
