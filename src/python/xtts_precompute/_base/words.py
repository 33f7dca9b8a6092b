"""Words of messages, and of what is given."""

from __future__ import annotations

import re


def counted(count: int, one: str, many: str) -> str:
    """Returns "1 clip" or "13,100 clips"."""
    return f"{count:,} {one if count == 1 else many}"


def is_url(path: str) -> bool:
    """Tells whether a path is one of an object store, such as "s3://bucket/cache"."""
    return re.match("[A-Za-z][A-Za-z0-9+.-]*://", path) is not None
