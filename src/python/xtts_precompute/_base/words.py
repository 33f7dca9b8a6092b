"""Words of messages."""

from __future__ import annotations


def counted(count: int, one: str, many: str) -> str:
    """Returns "1 clip" or "13,100 clips"."""
    return f"{count:,} {one if count == 1 else many}"
