"""What other trainers do with data sets and loaders: refusals, and batches by number."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .._base.errors import InvalidArgumentError
from .._base.warn import warn

_FRAMES = 60  # from a data set, in a forked worker too, up to the trainer that asks it
_TRAINERS = {
    "transformers": "Trainer of transformers",
    "lightning": "Lightning",
    "pytorch_lightning": "Lightning",
}


def _askers() -> Iterator[Any]:
    """Returns the objects whose methods ask the data set, from near to far."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return
        yield frame.f_locals.get("self")
        frame = frame.f_back


def refuse_batches_of_batches() -> None:
    """Raises if a DataLoader iterates over a BatchDataset and makes batches of its batches."""
    for asker in _askers():
        if type(asker).__name__ == "_IterableDatasetFetcher" and asker.auto_collation:
            raise InvalidArgumentError(
                "a BatchDataset gives whole batches, and this DataLoader makes batches of them: "
                "DataLoader(dataset, batch_size=None). Trainer of transformers makes such a DataLoader by itself: "
                "give it an xp.torch.ClipDataset, or let get_train_dataloader() return an xp.torch.Loader"
            )


def check_for_resumption(is_shuffled: bool) -> None:
    """Raises or warns if the data set's first pass is in a trainer that does not tell the epoch.

    Such a trainer would go on with another epoch than it was interrupted in.
    """
    for asker in _askers():
        if type(asker).__name__ == "SkipDataLoader":
            raise InvalidArgumentError(
                "skip_first_batches() does not say in which epoch: call dataset.set_epoch(epoch) before it. In Trainer "
                "of transformers, get_train_dataloader() returns self.accelerator.prepare(DataLoader(dataset, "
                "batch_size=None)), or an xp.torch.Loader"
            )
        named = [base.__module__.split(".")[0] for base in type(asker).__mro__ if base.__name__ == "Trainer"]
        for trainer in filter(_TRAINERS.get, named if is_shuffled else ()):
            warn(
                f"{_TRAINERS[trainer]} does not tell this BatchDataset its epoch: a run that goes on later would begin "
                "with epoch 0 again. xp.torch.Loader goes on where it was"
                + ("" if trainer != "transformers" else ", and so does self.accelerator.prepare(DataLoader(...))")
            )
            return


def refuse_second_share(world_size: int) -> None:
    """Raises if Accelerate shares among processes what the data set shares among them already."""
    names = ("DataLoaderDispatcher", "IterableDatasetShard")
    if world_size > 1 and any(type(asker).__name__ in names for asker in _askers()):
        raise InvalidArgumentError(
            f"Accelerate shares batches among {world_size} processes, and this BatchDataset does so, too: make it with "
            "rank=0, world_size=1, or take xp.torch.Loader, which prepare() leaves alone"
        )


class NumberedBatches:
    """A loader's batches by number, for `skip_first_batches()` of Accelerate.

    By that function Trainer of transformers goes on within an epoch. It makes a DataLoader of
    `loader.dataset` and of the later part of `loader.batch_sampler`; this object is both. Batches
    that are skipped are not read.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._epoch: int | None = None
        self._running: Iterator[Any] | None = None

    def set_epoch(self, epoch: int) -> None:
        """Makes the next pass by number one of this epoch; other passes are left alone."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[list[int]]:
        self._running = None
        return ([number] for number in range(len(self)))

    def __getitem__(self, number: int) -> Any:
        if self._running is None:
            self._running = self._from(number)
        return next(self._running)

    def _from(self, number: int) -> Iterator[Any]:
        if self._epoch is not None:
            self._loader.set_epoch(self._epoch)
        elif not self._loader._is_told:
            raise InvalidArgumentError(
                "skip_first_batches() does not say in which epoch: call loader.set_epoch(epoch) before it"
            )
        self._epoch = None
        return itertools.islice(self._loader._from_batch(number), len(self) - number)
