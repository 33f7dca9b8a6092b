"""How much of the processors other programs take while something is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

# Above this share, a measurement is disturbed.
DISTURBING = 0.15


class Others:
    """Asks the kernel at its creation and in `share()`; on systems without /proc there is no answer.

    A process of ours that has ended and was not waited for counts as another program.
    """

    def __init__(self, root: str = "/proc") -> None:
        self._root = Path(root)
        self._begin = time.monotonic()
        self._busy, self._own = self._busy_ticks(), self._own_ticks()

    def share(self) -> float | None:
        """Returns the share of all processors' time, 0 to 1, since the creation."""
        busy, own = self._busy_ticks(), self._own_ticks()
        if None in (busy, own, self._busy, self._own):
            return None
        assert busy is not None and own is not None and self._busy is not None and self._own is not None
        ticks = (time.monotonic() - self._begin) * os.sysconf("SC_CLK_TCK") * (os.cpu_count() or 1)
        return min(max((busy - self._busy) - (own - self._own), 0) / max(ticks, 1.0), 1.0)

    def _busy_ticks(self) -> int | None:
        """Returns what all processors have worked, stolen time included; waiting is no work."""
        try:
            words = (self._root / "stat").read_text().splitlines()[0].split()
            user, nice, system, _, _, irq, softirq, steal = (int(word) for word in words[1:9])
        except (OSError, ValueError, IndexError):
            return None
        return user + nice + system + irq + softirq + steal

    def _own_ticks(self) -> int | None:
        """Returns what this process, its children and theirs have worked."""
        parents: dict[int, int] = {}
        ticks: dict[int, int] = {}
        for number, fields in self._processes():
            try:
                parents[number] = int(fields[1])
                ticks[number] = sum(int(one) for one in fields[11:15])  # with children that were waited for
            except (ValueError, IndexError):
                continue
        own = os.getpid()
        if own not in ticks:
            return None
        return sum(worked for number, worked in ticks.items() if self._is_below(number, own, parents))

    def _processes(self) -> Iterator[tuple[int, list[str]]]:
        for entry in os.listdir(self._root) if self._root.is_dir() else ():
            if entry.isdigit():
                try:
                    text = (self._root / entry / "stat").read_text()
                except OSError:
                    continue  # it has ended
                # The name, in parentheses, may hold anything. The fields after it begin with the state.
                yield int(entry), text.rpartition(")")[2].split()

    @staticmethod
    def _is_below(number: int, ancestor: int, parents: dict[int, int]) -> bool:
        seen = set()
        while number not in seen:
            if number == ancestor:
                return True
            seen.add(number)
            number = parents.get(number, 0)
        return False
