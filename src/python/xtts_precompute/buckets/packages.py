"""The packages of the extra `[buckets]`, when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any

from .._base.errors import MissingPackageError


def package(name: str) -> Any:
    """Returns a module of the extra, or raises an error that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackageError(
            f"caches in object stores need {name}: pip install 'xtts-precompute[buckets]'", name=name
        ) from None
