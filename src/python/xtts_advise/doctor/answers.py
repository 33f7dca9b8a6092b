"""JSON that another program wrote: what is missing, or of another type, is empty. Nothing here fails for its shape."""

from __future__ import annotations

import json
import os
from typing import Any

from .. import words
from ..words import Failure

_BYTES_MAX = 4 << 20


def at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: Any, *keys: str) -> str:
    found = at(value, *keys)
    # The name of a file need not be UTF-8, but all that we write is.
    return found.encode("utf-8", "backslashreplace").decode() if isinstance(found, str) else ""


def number(value: Any, *keys: str) -> float | None:
    found = at(value, *keys)
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return float(found) if is_number and abs(found) < 1e300 else None


def count(value: Any, *keys: str) -> int:
    found = at(value, *keys)
    return found if type(found) is int and 0 <= found < 2**64 else 0


def items(value: Any, *keys: str) -> list[Any]:
    found = at(value, *keys)
    return found if isinstance(found, list) else []


def read_object(path: str) -> dict[str, Any] | None:
    """None: the file is no JSON object. Fails where it cannot be read, or is larger than any answer."""
    if os.path.exists(path) and not os.path.isfile(path):  # opening a pipe would wait for its writer
        raise Failure("invalid_argument", f"{path} is not a regular file")
    try:
        with open(path, "rb") as file:
            data = file.read(_BYTES_MAX + 1)
    except OSError as error:
        is_missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        raise Failure("not_found" if is_missing else "resource", f"opening {path}: {error.strerror}") from None
    if len(data) > _BYTES_MAX:
        raise Failure("invalid_argument", f"{path} is too large: at most {words.size(_BYTES_MAX)} are read")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
