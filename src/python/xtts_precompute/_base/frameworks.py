"""Import of frameworks and other optional packages, when they are first asked for."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingPackageError


def framework(name: str, install: str) -> Any:
    """Returns the module of this name, or raises an error that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").split(".")[0] != name:
            raise  # the framework is there, but a module that it needs is missing
        raise MissingPackageError(f"xtts_precompute.{name} needs {name}: pip install {install}", name=name) from None
