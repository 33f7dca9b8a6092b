"""Frameworks and other packages that are imported only when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingPackageError


def framework(name: str, install: str) -> Any:
    """The module of this name, or an error that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").split(".")[0] != name:
            raise  # it is there, and something that it needs is not
        raise MissingPackageError(f"xtts_precompute.{name} needs {name}: pip install {install}", name=name) from None
