"""What other programs used of the processors while a training was traced."""

from __future__ import annotations

import os
import resource
from pathlib import Path

_MUCH = 0.2


class Processors:
    def __init__(self) -> None:
        self._begin = self._now()

    def share_of_others(self) -> float | None:
        """Of all processors' time since the object was made. None: the system does not tell."""
        now = self._now()
        if now is None or self._begin is None:
            return None
        busy, all_s, own = (after - before for after, before in zip(now, self._begin))
        return max(0.0, busy - own) / all_s if all_s > 0 else None

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        """Seconds of all processors, busy and all; of this process and its children that have ended."""
        try:
            words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
            ticks = [int(word) for word in words[1:9]]
        except (OSError, ValueError):
            return None
        whole, idle = sum(ticks), sum(ticks[3:5])  # idle, and idle while a disk works
        per_second = os.sysconf("SC_CLK_TCK")
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return (whole - idle) / per_second, whole / per_second, sum(one.ru_utime + one.ru_stime for one in used)


def note_of(share: float | None) -> list[str]:
    if share is None or share < _MUCH:
        return []
    return [f"Other programs used {share:.0%} of the processors meanwhile: what waits for them is slower here."]
