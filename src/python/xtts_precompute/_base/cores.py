"""How many cores this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path


def usable_cores(root: str = "/") -> int:
    """Returns the cores of the affinity mask, or fewer if a control group's quota allows fewer.

    A quota of 2.5 cores counts as 3. At least 1 is returned. `root` is where /proc and /sys are.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    quotas = [math.ceil(quota) for quota in _quotas(Path(root))]
    return max(1, min([cores, *quotas]))


def _quotas(root: Path) -> Iterator[float]:
    """Yields the quotas of this process's control group and of all groups above it, in cores."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, group = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:  # version 2
            for folder in _upwards(root / "sys/fs/cgroup", group):
                yield from _ratio(_text(folder / "cpu.max").split())
        elif "cpu" in controllers.split(","):  # version 1
            for mount in ("cpu", "cpu,cpuacct"):
                for folder in _upwards(root / "sys/fs/cgroup" / mount, group):
                    quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
                    yield from _ratio([*quota.split(), *period.split()])


def _upwards(mount: Path, group: str) -> Iterator[Path]:
    # A container may see a path of its host, which does not exist in it; its own group is the mount.
    folder = mount / group.strip("/")
    yield folder
    while folder != mount:
        folder = folder.parent
        yield folder


def _ratio(words: list[str]) -> Iterator[float]:
    """Yields quota / period, or nothing for "max", -1 and what is no pair of numbers."""
    if len(words) == 2 and all(word.isdigit() for word in words) and int(words[0]) > 0 and int(words[1]) > 0:
        yield int(words[0]) / int(words[1])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
