"""Warnings that show the user's line, however deep in the package they arise."""

from __future__ import annotations

import inspect
import warnings


def warn(message: str) -> None:
    """Warns, with the line of the code that called this package."""
    level, frame = 1, inspect.currentframe()
    package = __name__.split(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in (package, "contextlib"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
