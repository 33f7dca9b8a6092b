"""Judges what was measured, one check after the other."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator

from ..findings import Check, Finding
from ..probe import Program
from ..words import Failure, counted, short, size
from . import clock, code, formats, frameworks, gpu, help, memory, real_batches, storage, sweep, trace_file
from .in_python import scratch_folder
from .measuring import Measured
from .prediction import will_it_help
from .request import Numbers, Request

_USUAL_RECORD_BYTES = 800 * 80 * 4


@dataclasses.dataclass
class Diagnosis:
    checks: list[Check]
    machine: list[str]  # facts in words


def diagnose(request: Request, program: Program, begin: Callable[[str], None]) -> Diagnosis:
    """begin: told of each step, "reading the storage of ./data"."""
    for path in (request.config, request.code, request.profile, request.trace):
        if path and not os.path.exists(path):
            raise Failure("not_found", f"examining {path}: No such file or directory")
    with scratch_folder() as scratch:
        measured = Measured(request, program, begin, scratch)
        checks = list(_checks(measured))
        if help.says_no(checks[0]):
            for finding in (one for check in checks[1:] for one in check.findings):
                _without_a_cache(finding)
        return Diagnosis(checks, _machine_in_words(measured))


def _checks(measured: Measured) -> Iterator[Check]:
    request = measured.request
    yield will_it_help(measured)
    yield gpu.check(measured.machine)
    if measured.trace:
        yield trace_file.check(measured.trace)
    if request.sweeps and isinstance(measured.own, dict):
        workers = measured.worker_count if measured.own["workers"] is None else measured.own["workers"]
        yield sweep.check(measured.own["sweep"], measured.batch_size, workers)
    if request.configuration:
        yield request.configuration()
    if request.code:
        yield code.check(measured.scan_code(), request.code)
    if measured.corpus:
        yield _formats(measured.corpus)
    if request.runs_frameworks:
        yield from frameworks.check(measured.run_frameworks(), measured.has_gpu())
    yield clock.check(measured.clocks)
    record_bytes = (measured.cache or measured.corpus or {"record_bytes": _USUAL_RECORD_BYTES})["record_bytes"]
    yield memory.check(
        measured.machine, batch_size=measured.batch_size, record_bytes=record_bytes, worker_count=measured.worker_count
    )
    if measured.corpus:
        yield _storage(measured, measured.corpus)
    if request.cache and measured.cache:
        yield storage.check(
            measured.cache["storage"],
            folder=request.cache,
            batch_size=measured.batch_size,
            whole_bytes=measured.cache["shard_bytes"],
            memory_available_bytes=measured.machine["memory_available_bytes"],
            is_cache=True,
        )
    if measured.corpus or measured.cache:
        yield _real_batches(measured)


def _without_a_cache(finding: Finding) -> None:
    """What a cache would spare costs nothing where steps do not wait for it."""
    if "`xtts-precompute DATA CACHE" in finding.remedy and finding.gain is None:
        finding.status, finding.remedy = "pass", ""
        finding.text += " Your steps hardly wait for it."


def _formats(corpus: Numbers) -> Check:
    """The sample shows only clips that the plan kept. A build counts those of the plan, too."""
    made = formats.check(corpus["sound"], corpus["recipe"]["sample_rate"])
    faults = corpus["faults"]
    if faults["count"] > faults["allowed"]:
        made.findings.insert(
            0,
            Finding(
                "fail",
                f"A build would stop: {counted(faults['count'], 'clip', 'clips')} cannot be used, and "
                f"{faults['allowed']:,} may be. One of them is {faults['first']}.",
                "`xtts-precompute build DATA CACHE --dry-run` lists them; --max-rejects accepts them.",
            ),
        )
        made.conclude("")
    return made


def _storage(measured: Measured, corpus: Numbers) -> Check:
    return storage.check(
        corpus["storage"],
        folder=measured.request.data,
        batch_size=measured.batch_size,
        whole_bytes=corpus["source_bytes"],
        memory_available_bytes=measured.machine["memory_available_bytes"],
        padded_record_bytes=corpus["record_bytes"],
        packed_half_record_bytes=int(2 * corpus["recipe"]["n_mels"] * corpus["sound"]["mean_frames"]),
    )


def _real_batches(measured: Measured) -> Check:
    step = measured.profile.step_ms
    return real_batches.check(
        batch_size=measured.batch_size,
        step_ms=measured.request.step_ms or (step.middle if step else 0.0),
        own=measured.own["all"] if isinstance(measured.own, dict) else None,
        librosa=None if isinstance(measured.librosa, str) else measured.librosa,
        ours=measured.corpus["rates"] if measured.corpus else None,
        cache=measured.cache,
        is_sample=not measured.request.cache,
        no_cache=measured.corpus["no_cache"] if measured.corpus else "",
    )


def _machine_in_words(measured: Measured) -> list[str]:
    machine = measured.machine
    cores = counted(machine["core_count"], "processor", "processors")
    if machine["cpu_limit"]:
        cores += f", of which a container may use {short(machine['cpu_limit'])}"
    return [
        cores,
        f"{size(machine['memory_total_bytes'])} of memory",
        machine["gpus"][0]["name"] if measured.has_gpu() else "no GPU",
        measured.python if isinstance(measured.python, str) else f"Python {measured.python.version}",
    ]
