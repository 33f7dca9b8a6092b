"""How workers start, and how many clips a batch has."""

from __future__ import annotations

from .calls import calls_of
from .finding import Finding, finding_at, time_of
from .recording import Place
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
    title = f"{slowest.name} in each worker: {time_of(per_worker)} for each of {len(workers)} workers"
    more = {"call": slowest.name, "evidence": ["workers are started anew in each epoch"]}
    return [finding_at(slowest.place, seconds, training, title, remedy, "import", **more)]


def of_iterators(training: Training) -> list[Finding]:
    """A loader that is begun anew for each batch or two: what it had made ahead is thrown away."""
    loop = training.loop
    if loop["iterators"] < 4 or loop["iterators"] < 0.4 * loop["batches"]:
        return []
    file, line, function = loop["asks"]
    title = f"the loader is begun anew {loop['iterators']} times for {loop['batches']} batches: iter()"
    remedy = "Make the iterator once, and take batch after batch from it: what it makes ahead is then used."
    more = {"call": "iter", "share": training.wait_s / training.step_s}
    place = Place(file, line, "", function, "own")
    return [finding_at(place, training.wait_s, training, title, remedy, "iterator made anew", **more)]


def of_batches(training: Training) -> list[Finding]:
    if training.samples_of_step > 1.0 or training.unit is None or training.has_python_functions:
        return []
    # The gain of a batch of 8 cannot be measured from batches of 1: it is at least the fixed part of a step.
    seconds = training.step_s * 0.5
    title = "batches of 1 clip: a step's fixed cost is paid for each clip"
    remedy = "Raise the loader's batch_size (8 or more, as memory allows)."
    words = ["not measured: how long a step with more clips takes"]
    more = {"call": "batch of 1", "share": 0.5, "evidence": words}
    return [finding_at(training.place, seconds, training, title, remedy, "batch", **more)]
