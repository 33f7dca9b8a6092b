"""The epoch of a BatchDataset's next pass, which the workers of a DataLoader share."""

from __future__ import annotations

import os
from typing import Any

from .._base.choices import whole
from .._base.frameworks import framework

torch: Any = framework("torch", "torch")

_RANKS = 64  # that may share the memory: those that a process has forked
_WORKERS = 256
_PLACING_BITS, _PASS_BITS, _COUNT_BITS = 15, 24, 24


class SharedEpoch:
    """Counts passes: one that nobody has placed is of the epoch after the last one.

    A worker that lives for one pass knows nothing of those before. So each worker notes in shared
    memory which pass it has begun, and the how-many-eth it is. A worker that comes later joins its
    pass; the first one of another pass counts on. A pass is known by the seed that the DataLoader
    draws for its workers, and workers that persist count their own.

    Each worker writes one number of its own, in one piece, and workers that begin at the same time
    come to the same count. So no lock is needed.
    """

    def __init__(self) -> None:
        # By rank: the epoch that was placed, and the number of that placing, 1 before any; then, by
        # worker, the placing that it found, its pass, and the passes before it.
        self._numbers = torch.ones(_RANKS, 1 + _WORKERS, dtype=torch.int64)
        self._numbers[:, 1:] = 0
        self._numbers.share_memory_()
        self._copied_by: int | None = None  # the process that has made this memory as a copy
        self._passes = 0  # of a worker that persists

    def place(self, epoch: int, share: tuple[int, int] | None) -> None:
        """Makes the next pass one of this epoch; `share` is this process's (rank, world size)."""
        epoch = whole("epoch", epoch, 0, 2**48 - 1)
        ranks = [share[0] % _RANKS] if share is not None and share[1] > 1 else range(_RANKS)
        placing = max(int(self._numbers[rank, 0]) % 2**_PLACING_BITS for rank in ranks) + 1
        for rank in ranks:
            self._numbers[rank, 0] = (epoch << _PLACING_BITS) + max(placing % 2**_PLACING_BITS, 2)

    def begin(self, rank: int, worker: Any) -> int:
        """Returns the epoch of the pass that begins in this process; `worker` is get_worker_info()'s."""
        row = self._numbers[rank % _RANKS]
        epoch, placing = self._placed(row)
        begun = self._begun(row, placing)
        number, name, before = 0, 0, -1
        if worker is not None:
            self._passes += 1
            number = worker.id % _WORKERS
            name = 1 + hash((worker.seed - worker.id, self._passes)) % (2**_PASS_BITS - 1)
            before = max((count for place, _, count in begun if place == number), default=-1)
        # A seed may be drawn twice. A worker begins each pass once, so it joins none of its own.
        joined = [count for _, other, count in begun if name and other == name and count > before]
        count = max(joined or [1 + max((count for _, _, count in begun), default=-1)])
        row[1 + number] = (((placing << _PASS_BITS) + name) << _COUNT_BITS) + count
        return epoch + count

    def last(self, rank: int) -> tuple[int, bool]:
        """Returns the epoch of the last pass, or the one that was placed since; and whether that has begun."""
        row = self._numbers[rank % _RANKS]
        epoch, placing = self._placed(row)
        counts = [count for _, _, count in self._begun(row, placing)]
        return epoch + max(counts, default=0), bool(counts)

    def is_new(self, rank: int) -> bool:
        """Returns whether nobody has placed a pass or begun one."""
        return int(self._numbers[rank % _RANKS, 0]) == 1 and not self.last(rank)[1]

    @property
    def is_known_to_none(self) -> bool:
        """Whether this process has memory of its own, which nobody else sees."""
        return self._copied_by == os.getpid()

    @staticmethod
    def _placed(row: Any) -> tuple[int, int]:
        epoch, placing = divmod(int(row[0]), 2**_PLACING_BITS)
        return epoch, placing

    @staticmethod
    def _begun(row: Any, placing: int) -> list[tuple[int, int, int]]:
        """Returns (worker, pass, passes before it) of all that have begun one since the placing."""
        begun = []
        for number, noted in enumerate(row[1:].tolist()):
            rest, count = divmod(noted, 2**_COUNT_BITS)
            found, name = divmod(rest, 2**_PASS_BITS)
            if found == placing:
                begun.append((number, name, count))
        return begun

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not self._numbers.is_shared():  # pickled by something that shares no memory
            self._numbers.share_memory_()
            self._copied_by = os.getpid()
