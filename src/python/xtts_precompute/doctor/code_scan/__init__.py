"""Finds patterns that starve a GPU in a trainer's Python files, by parsing them.

The files are never imported or run. `scan()` returns what `python -m
xtts_precompute.doctor.code_scan DIR` prints: a dictionary for JSON.

A line that ends in `# xtts: ignore RULE` hides the finds of that rule there; without a rule, all.
"""

from .scan import scan

__all__ = ["scan"]
