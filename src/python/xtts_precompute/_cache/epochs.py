"""How many batches an epoch has, and where it ends. All that counts them in Python asks here, and the reader library's
own arithmetic answers (include/xtts/order.hpp)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import _core
from .options import DEFAULTS


class Epoch(NamedTuple):
    """An epoch as it is cut into steps: one batch on every rank."""

    samples: int
    """Over all ranks."""
    batch_size: int
    world_size: int
    drop_last: bool

    @classmethod
    def of(cls, reader: Any, options: Mapping[str, Any], world_size: int) -> Epoch | None:
        """That of a reader and its options. None with buckets: their batches have several sizes, which the reader alone counts."""
        given = {**DEFAULTS, **options}
        return (
            None
            if given["buckets"]
            else cls(reader.samples_per_epoch, int(given["batch_size"]), world_size, bool(given["drop_last"]))
        )

    def steps(self, consumed: int = 0) -> int:
        """Those that are left where so many samples have been consumed."""
        return _core.count_batches(
            sample_count=self.samples,
            batch_size=self.batch_size,
            rank=0,
            world_size=self.world_size,
            drop_last=self.drop_last,
            first_place=min(consumed, self.samples),
        )

    def steps_of_worker(self, consumed: int, workers: int, number: int) -> int:
        """Of the steps that are left, worker `number` takes each `workers`-th, from its own number on."""
        return max(self.steps(consumed) - number + workers - 1, 0) // workers

    def is_over(self, consumed: int) -> bool:
        """The last batch of an epoch that has any has been handed out."""
        return consumed > 0 and self.steps() > 0 and self.steps(consumed) == 0

    def clips_of_last_step(self) -> int:
        """Where the end is kept and does not fill a batch on every rank; else 0."""
        return 0 if self.drop_last else self.samples % (self.batch_size * self.world_size)

    def ranks_without_clips(self) -> int:
        """In that step."""
        left = self.clips_of_last_step()
        return self.world_size - -(-left // self.batch_size) if left else 0


def begin_next_epoch(state: dict[str, Any]) -> None:
    """Puts the state of a reader to the beginning of the epoch after its own."""
    state["epoch"] += 1
    state["samples_consumed"] = 0
    state["bucket_samples_consumed"] = [0] * len(state["bucket_samples_consumed"])


def warn_of_no_batch(sample_count: int, options: Mapping[str, Any]) -> None:
    """To who asks for the batches of an epoch that has none."""
    given = {**DEFAULTS, **options}
    warnings.warn(
        f"an epoch has no batch: {sample_count} clips do not fill one of {given['batch_size']} on each of "
        f"{given['world_size']} ranks; drop_last=False keeps them",
        stacklevel=3,
    )
