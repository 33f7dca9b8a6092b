"""Converts arguments of build(), verify() and runtime() to what the compiled builder takes.

It takes texts and numbers in the command line's form. Wrong arguments raise InvalidArgumentError.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, Union

from .._base.choices import number, text, whole
from .._base.errors import InvalidArgumentError

Path = Union[str, "os.PathLike[str]"]

STORES = ("lmdb", "hdf5")
LAYOUTS = ("padded", "packed")
DTYPES = ("float32", "float16", "bfloat16")


def path_bytes(name: str, value: Path | None) -> bytes:
    if value is None:
        return b""
    try:
        path = os.fsencode(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be a path, not {value!r}") from None
    if not path or b"\0" in path:
        raise InvalidArgumentError(f"{name} is {value!r}, which is no path")
    return path


def paths_bytes(name: str, values: Path | Iterable[Path] | None) -> list[bytes]:
    if values is None:
        return []
    if isinstance(values, (str, bytes, os.PathLike)):
        return [path_bytes(name, values)]
    try:
        paths = list(values)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be a path or a list of them, not {values!r}") from None
    return [path_bytes(f"one of {name}", path) for path in paths]


def settings_texts(settings: Any) -> list[str]:
    if settings is None:
        return []
    if isinstance(settings, Mapping):
        return [f"{text('a key of settings', key)}={_yaml(key, value)}" for key, value in settings.items()]
    if isinstance(settings, str):
        raise InvalidArgumentError(f"settings must be a dict or a list of texts, not one text: settings=[{settings!r}]")
    return [text("one of settings", setting) for setting in settings]


def _yaml(key: str, value: Any) -> str:
    if isinstance(value, str):
        return text(f"setting {key}", value)
    try:
        return json.dumps(value)  # YAML can read JSON
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"setting {key} must be a text, a number, True, False, None or a list of them, not {value!r}"
        ) from None


def words(name: str, value: str | None) -> str:
    return "" if value is None else text(name, value)


def is_digest(value: Any) -> TypeGuard[str]:
    """Returns whether the value has the form of `cache.digest`: 32 hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def words_or_whole(name: str, value: Any) -> str:
    return text(name, value) if isinstance(value, str) else str(whole(name, value, 0, 2**63))


def words_or_number(name: str, value: Any) -> str:
    return text(name, value) if isinstance(value, str) else repr(number(name, value))


def reject_limit(max_rejects: Any) -> str:
    if isinstance(max_rejects, float):
        return f"{100 * max_rejects:.12g}%"
    return words_or_whole("max_rejects", max_rejects)


def percentage(name: str, share: Any) -> str:
    return text(name, share) if isinstance(share, str) else f"{100 * number(name, share):.12g}%"


def part(partition: Any) -> str:
    if partition is None or isinstance(partition, str):
        return words("partition", partition)
    try:
        index, count = partition
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"partition must be (i, n), part i of n, not {partition!r}") from None
    return f"{whole('the part', index, 1, 2**32 - 1)}/{whole('the number of parts', count, 1, 2**32 - 1)}"


def thread_count(threads: int | None) -> int:
    return 0 if threads is None else whole("threads", threads, 1, 1024)
