"""The documented settings for one GPU, or for two, from the trainer's gpus.yaml. Nothing in it was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .. import words
from ..words import Failure
from .trainer import Trainer

# The memory that NVML tells is a little less than that of the box.
_TOLERANCE = 0.1
Gpu = dict[str, Any]


def named(trainer: Trainer, text: str) -> Gpu:
    """Returns the settings of "RTX 4090", "4090", "24GB" or "24"."""
    if not trainer.gpus:
        raise Failure("invalid_argument", f"no settings by GPU are known for {trainer.title}: leave out --gpu")
    known = _row_of_name(trainer, text)
    if known:
        return known
    size = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(?:gib|gb|g)?", text.lower())
    if size and 1 <= float(size[1]) <= 4096:
        return _of_size(trainer, float(size[1]))
    names = [row["name"] for row in trainer.gpus["gpus"]]
    near = words.nearest(text, names)
    meant = f" (did you mean '{near}'?)" if near else ""
    raise Failure(
        "invalid_argument",
        f"no settings are known for the GPU '{text}'{meant}: give its memory, as --gpu 24GB, or one of "
        + ", ".join(names),
    )


def of_driver(trainer: Trainer, name: str, memory_bytes: float, cores: float) -> Gpu:
    """Returns the settings of a GPU that the driver names.

    The name counts only where the memory agrees: a laptop's GPU has the name of a larger one. The trainer's documents
    mean machines with many processors, so there are no more workers than `cores`.
    """
    memory_gb = memory_bytes / 2**30
    gpu = _row_of_name(trainer, name)
    if gpu is None or abs(gpu["memory_gb"] - memory_gb) > _TOLERANCE * gpu["memory_gb"]:
        gpu = _of_size(trainer, memory_gb)
    workers = min(gpu["num_workers"], max(1, int(cores)))
    return {**gpu, "name": name or gpu["name"], "memory_gb": memory_gb, "num_workers": workers}


def two_of(trainer: Trainer, memory_gb: float) -> Gpu:
    """Returns the settings of two such GPUs, one for the data and one for the model."""
    return _row_of_size(trainer.gpus["two_gpus"], memory_gb)


def _row_of_name(trainer: Trainer, text: str) -> Gpu | None:
    for row in trainer.gpus["gpus"]:
        known = row["name"].lower()
        if text.lower() in (known, known.rpartition(" ")[2], f"nvidia geforce {known}"):
            return _numbers(row)
    return None


def _of_size(trainer: Trainer, memory_gb: float) -> Gpu:
    shown = words.number(round(memory_gb, 1)) if memory_gb < 1000 else f"{memory_gb:.0f}"
    return {**_row_of_size(trainer.gpus["sizes"], memory_gb), "memory_gb": memory_gb, "name": f"a GPU of {shown} GB"}


def _row_of_size(rows: list[dict[str, str]], memory_gb: float) -> Gpu:
    """Returns the last row whose memory is there, else the first."""
    fitting = [row for row in rows if float(row["memory_gb"]) <= memory_gb * (1 + _TOLERANCE)]
    return _numbers((fitting or rows[:1])[-1])


def _numbers(row: Mapping[str, str]) -> Gpu:
    return {key: int(value) if value.isdigit() else value for key, value in row.items()}
