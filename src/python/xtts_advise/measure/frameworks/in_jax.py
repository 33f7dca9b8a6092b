"""JAX in a child: its version and its devices."""

from __future__ import annotations

import importlib.util
from typing import Any

from .inside import Teller, attempt, imported, reason_of


def run(teller: Teller) -> None:
    jax = imported(teller)
    if jax is None:
        return
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
