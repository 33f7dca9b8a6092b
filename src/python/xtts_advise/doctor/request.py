"""What a doctor is asked: what to look at, and what the user says of the training."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..findings import Check

Numbers = dict[str, Any]


@dataclasses.dataclass
class Request:
    data: str = ""
    cache: str = ""
    config: str = ""  # the trainer's config.yaml
    code: str = ""  # the trainer's folder
    profile: str = ""
    trace: str = ""  # a file, or what `tracing` returned
    tracing: Callable[[], Numbers] | None = None  # runs the training, and records it
    step: str = ""  # "train:step", the user's own; profiled with `loader`
    loader: str = ""  # "train:loader", the user's own
    sweeps: bool = False  # times the loader with other sizes and workers, too
    recipe: str = ""
    python: str = ""
    batch_size: int | None = None
    worker_count: int | None = None  # of the trainer's loader
    step_ms: float | None = None  # of the user's training step, without waiting for data
    trains_on_cpu: bool = False
    runs_frameworks: bool = True
    writable: str = ""  # where a sync is timed
    configuration: Callable[[], Check] | None = None  # judges `config`
