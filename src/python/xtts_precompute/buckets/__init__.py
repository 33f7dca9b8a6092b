"""Caches and sets in object stores: `publish()` writes one there, `xp.open(URL, local=DIR)` reads it.

`python -m xtts_precompute.buckets` is the command. docs/buckets.md says how to use it.
"""

from .fetch import fetch
from .publish import Published, publish

__all__ = ["Published", "fetch", "publish"]
