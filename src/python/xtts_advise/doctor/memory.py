"""Is there memory for the batches that are on their way?"""

from __future__ import annotations

from typing import Any

from .. import words
from ..findings import Check, Evidence, Finding, cannot_tell

_SLOTS = 4  # batches that our reader holds at once
_BATCHES_AHEAD = 2  # of each worker of a DataLoader
_MIB = 1 << 20
# The least memory that a trainer itself needs beside its batches.
_SPARE_BYTES = 512 * _MIB
# The users' own limit for loading without a cache. Kernels and firmware keep a part of 16 GiB.
_USUAL_MEMORY_BYTES = 15 * 1024 * _MIB


def check(machine: dict[str, Any], *, batch_size: int, record_bytes: int, worker_count: int | None) -> Check:
    """record_bytes: of one clip in a batch, padded. worker_count: of the trainer's own loader; None: not known."""
    if not machine["memory_total_bytes"] or not machine["memory_available_bytes"]:
        return cannot_tell("memory", "Memory", "The system does not tell how much memory there is.")
    ring_bytes = batch_size * record_bytes * _SLOTS
    available, shm_free = machine["memory_available_bytes"], machine["shm_free_bytes"]
    batches = f"{words.counted(_SLOTS, 'batch', 'batches')} of {words.counted(batch_size, 'clip', 'clips')}, padded"
    rows = [
        _bytes_row("memory", machine["memory_total_bytes"], "/proc/meminfo"),
        _bytes_row("memory that can be used now", available, "/proc/meminfo, and the limits of the control group"),
        _bytes_row("/dev/shm", machine["shm_total_bytes"], "statvfs"),
        _bytes_row("/dev/shm, free", shm_free, "statvfs"),
        _bytes_row("locked memory, limit", machine["lock_limit_bytes"], "ulimit -l")
        or Evidence("locked memory, limit", "none", "ulimit -l"),
        _bytes_row("the reader's batches", ring_bytes, batches),
    ]
    found = _of_ram(machine["memory_total_bytes"], available, ring_bytes)
    if shm_free is not None and worker_count:
        found += _of_shm(shm_free, batch_size * record_bytes, worker_count)
    otherwise = f"There is memory for the batches: {words.size(ring_bytes)} of {words.size(available)}."
    return Check("memory", "Memory", findings=found, evidence=[row for row in rows if row]).conclude(otherwise)


def _bytes_row(what: str, value: int | None, source: str) -> Evidence | None:
    return None if value is None else Evidence(what, words.size(value), source, value, "bytes")


def _of_ram(total: int, available: int, ring_bytes: int) -> list[Finding]:
    if available < ring_bytes + _SPARE_BYTES:
        text = (
            f"Only {words.size(available)} of memory can be used, and the reader's batches alone take "
            f"{words.size(ring_bytes)}."
        )
        return [Finding("fail", text, "End other programs, or use a smaller batch or a lower prefetch.")]
    if total >= _USUAL_MEMORY_BYTES:
        return []
    text = (
        f"The machine has {words.size(total)} of memory. Loaders that compute features on the fly are usually given "
        "16 GiB."
    )
    remedy = f"Read from a cache, which needs {words.size(ring_bytes)} for its batches, or use fewer workers."
    return [Finding("warn", text, remedy)]


def _of_shm(free: int, batch_bytes: int, workers: int) -> list[Finding]:
    """PyTorch's workers hand their batches over in /dev/shm, and die of a bus error where it is full."""
    needed = batch_bytes * workers * _BATCHES_AHEAD
    if free >= needed:
        return []
    holds_one_each = free >= batch_bytes * workers
    text = (
        f"/dev/shm has {words.size(free)} free, and {words.counted(workers, 'worker', 'workers')} of a PyTorch "
        f"DataLoader need up to {words.size(needed)} there. A worker that finds it full dies of a bus error."
    )
    remedy = (
        f"Give the container a larger one (docker's option shm-size={needed * 2 // _MIB + 1}m), or read from a cache, "
        "which does without workers."
    )
    return [Finding("warn" if holds_one_each else "fail", text, remedy)]
