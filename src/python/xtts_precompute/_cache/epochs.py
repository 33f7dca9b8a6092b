"""How many batches an epoch has, and where it ends.

All Python code that counts batches asks here. The reader library's own arithmetic answers
(include/xtts/order.hpp).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import _core
from .._base.words import counted


class Epoch(NamedTuple):
    """An epoch, cut into steps. A step is one batch on every rank."""

    samples: int
    """Samples of the epoch, over all ranks."""
    batch_size: int
    world_size: int
    drop_last: bool

    @classmethod
    def of(cls, reader: Any, options: Mapping[str, Any], world_size: int) -> Epoch | None:
        """Returns the Epoch of a reader and all of its options, or None if it has buckets.

        Batches of buckets have several sizes, and only the reader can count them.
        """
        if options["buckets"]:
            return None
        return cls(reader.samples_per_epoch, int(options["batch_size"]), world_size, bool(options["drop_last"]))

    def steps(self, consumed: int = 0) -> int:
        """Returns the steps that are left after this many consumed samples."""
        return _core.count_batches(
            sample_count=self.samples,
            batch_size=self.batch_size,
            rank=0,
            world_size=self.world_size,
            drop_last=self.drop_last,
            first_place=min(consumed, self.samples),
        )

    def steps_of_worker(self, consumed: int, workers: int, number: int) -> int:
        """Returns the steps that are left for worker `number` of `workers`.

        Of the steps left, it takes each `workers`-th, from its own number on.
        """
        return max(self.steps(consumed) - number + workers - 1, 0) // workers

    def is_over(self, consumed: int) -> bool:
        """Returns whether the last batch has been handed out, in an epoch that has any."""
        return consumed > 0 and self.steps() > 0 and self.steps(consumed) == 0

    def clips_of_last_step(self) -> int:
        """Returns the clips of the last step if it is kept and not full, else 0."""
        return 0 if self.drop_last else self.samples % (self.batch_size * self.world_size)

    def ranks_without_clips(self) -> int:
        """Returns how many ranks have no clip in that last step."""
        left = self.clips_of_last_step()
        return self.world_size - -(-left // self.batch_size) if left else 0


def begin_next_epoch(state: dict[str, Any]) -> None:
    """Sets a reader's state to the beginning of the epoch after its own."""
    state["epoch"] += 1
    state["samples_consumed"] = 0
    state["bucket_samples_consumed"] = [0] * len(state["bucket_samples_consumed"])


def warn_of_no_batch(sample_count: int, options: Mapping[str, Any]) -> None:
    """Warns the caller who iterates over an epoch that has no batch. `options` has all of them."""
    why = (
        f"{counted(sample_count, 'clip does', 'clips do')} not fill one of {options['batch_size']} on each of "
        f"{counted(options['world_size'], 'rank', 'ranks')}; drop_last=False keeps them"
    )
    warnings.warn(f"an epoch has no batch: {why if sample_count else no_clips(options)}", stacklevel=3)


def no_clips(options: Mapping[str, Any]) -> str:
    """Returns why there is none, and how a build gives a split some."""
    split = options.get("split")
    if split is None:
        return "no clip is chosen"
    return (
        f"no clip of the split '{split}' is chosen: split=None takes those of all splits. A build keeps the corpus's "
        "own splits; where there are none, --overwrite --set corpus.train_split=0.6 --set corpus.validation_split=0.4 "
        "builds the cache with other shares"
    )
