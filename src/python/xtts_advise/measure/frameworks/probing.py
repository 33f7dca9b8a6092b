"""The probe: what is installed, then one child process for each framework."""

from __future__ import annotations

import os
import platform
import time
from typing import Any

from . import cuda
from .child import Ended, run_child
from .installed import Installed, look_at, nvidia_libraries
from .measurements import MEASUREMENTS

# All children together: the doctor's checks are to take a minute.
LIMIT_S = 38.0
# The first import after the machine's start reads gigabytes, which takes a rotating disk so long.
READING_S = 45.0
NAMES = ("tensorflow", "torch", "jax")
# JAX only says what it sees. What one framework leaves of its time goes to the next.
_WEIGHTS = {"tensorflow": 5.0, "torch": 5.0, "jax": 2.0}
OUTPUT_LINES = 12


def probe(limit_s: float = LIMIT_S, driver_cuda: str | None = None) -> dict[str, Any]:
    """Returns the answer that the package's docstring describes, after at most about limit_s.

    Time in which a framework's files come from a disk does not count, up to READING_S.
    """
    begin = time.monotonic()
    load = _load()
    libraries = nvidia_libraries()
    installed = {name: look_at(name, libraries) for name in NAMES}
    waiting = [name for name in NAMES if installed[name].is_there]
    ended: dict[str, Ended] = {}
    read_s = 0.0
    while waiting:
        name = waiting[0]
        left = limit_s + read_s - (time.monotonic() - begin)
        share = left * _WEIGHTS[name] / sum(_WEIGHTS[one] for one in waiting)
        ended[name] = run_child(name, max(share, 0.1), READING_S - read_s)
        read_s += ended[name].read_s
        del waiting[0]
    return {
        "format": 1,
        "python": platform.python_version(),
        "driver_cuda": driver_cuda,
        "load": load,
        "frameworks": [_told(name, installed[name], ended.get(name), driver_cuda) for name in NAMES],
        "seconds": round(time.monotonic() - begin, 1),
    }


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0] / len(os.sched_getaffinity(0)), 2)
    except OSError:
        return None


def _told(name: str, files: Installed, ended: Ended | None, driver_cuda: str | None) -> dict[str, Any]:
    parts = ended.parts if ended is not None else {}
    told: dict[str, Any] = {
        "name": name,
        "installed": "no",
        "reason": None,
        "version": parts.get("version") or files.version,
        "distribution": files.distribution,
        "cuda": {**files.cuda, "needs": None},
        "gpus": parts.get("gpus"),
        "gpus_reason": parts.get("gpus_reason"),
        "import_seconds": parts.get("import_seconds"),
        "device": parts.get("device"),
        "measurements": [],
        "output": None,
    }
    if ended is None:
        needs = {"status": "cannot_tell", "text": "it is not installed", "source": ""}
        told["cuda"].update(is_cpu_build=None, source="it is not installed", needs=needs)
        return told
    told["cuda"]["needs"] = cuda.needs(name, files.cuda, driver_cuda)
    reason = parts.get("import_seconds_reason") or parts.get("version_reason")
    if reason is None and "version" not in parts:
        reason = ended.failure or "it told nothing"
    if reason is not None and ended.timed_out:
        told["installed"] = "unclear"
        reason += ": it hangs, or its files come from a slow disk"
    else:
        told["installed"] = "yes" if reason is None else "broken"
    told["reason"] = reason
    if reason is None:
        told["measurements"] = _measurements(name, parts, ended)
    sees_none = not parts.get("gpus") and files.cuda["is_cpu_build"] is False
    if reason is not None or ended.failure is not None or sees_none:
        told["output"] = "\n".join(ended.output.splitlines()[-OUTPUT_LINES:]) or None
    return told


def _measurements(name: str, parts: dict[str, Any], ended: Ended) -> list[dict[str, Any]]:
    found = []
    for one, (base, what) in MEASUREMENTS[name].items():
        told = {
            "name": one, "base": base, "what": what, "status": "measured", "reason": None,
            "speedup": None, "ms": None, "first_ms": None, "traces": None,
        }  # fmt: skip
        told.update(parts.get("measurement:" + one, {}))
        if told["speedup"] is None:
            crashed = ended.failure is not None and not ended.timed_out and ended.stage == what
            told["status"] = "failed" if crashed or told["status"] == "failed" else "cannot_tell"
            told["reason"] = told["reason"] or ended.failure or "what it is compared with failed"
        found.append(told)
    return found
