"""JAX in a child: its version and its devices."""

from __future__ import annotations

import importlib
import importlib.util
import time
from typing import Any

from .inside import Teller, attempt, reason_of


def run(teller: Teller) -> None:
    jax: Any = None

    def load() -> float:
        nonlocal jax
        begin = time.perf_counter()
        jax = importlib.import_module("jax")
        return round(time.perf_counter() - begin, 2)

    if attempt(teller, "import", "import_seconds", load) is None:
        return
    attempt(teller, "version", "version", lambda: str(jax.__version__))
    gpus = attempt(teller, "devices", "gpus", lambda: _gpus(teller, jax))
    teller.tell("device", "gpu" if gpus else "cpu")


def _gpus(teller: Teller, jax: Any) -> list[dict[str, Any]]:
    found = []
    for device in jax.devices():
        if device.platform in ("gpu", "cuda", "rocm"):
            capability = getattr(device, "compute_capability", None)
            found.append({
                "index": int(device.id),
                "name": str(device.device_kind),
                "capability": str(capability) if capability else None,
            })  # fmt: skip
    if not found and any(importlib.util.find_spec(f"jax_cuda{major}_plugin") for major in (12, 13)):
        try:
            jax.devices("cuda")
        except Exception as error:  # it says why
            teller.tell("gpus_reason", reason_of(error))
    return found
