"""Converts arguments of build(), verify() and runtime() to the options of the compiled builder.

It takes texts and numbers in the command line's form. Wrong arguments raise InvalidArgumentError.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, Union

from .._base.choices import number, one_of, switch, text, whole
from .._base.errors import InvalidArgumentError

Path = Union[str, "os.PathLike[str]"]


def builder_options(**given: Any) -> dict[str, Any]:
    """Options of src/python/builder_options.cpp, from the arguments of these names that are not None."""
    options = {}
    for name, value in given.items():
        if value is not None:
            converted, member = _OPTIONS[name]
            options[member or name] = converted(name, value)
    return options


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


def is_digest(value: Any) -> TypeGuard[str]:
    """Returns whether the value has the form of `cache.digest`: 32 hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def _text_or_whole(name: str, value: Any) -> str:
    return text(name, value) if isinstance(value, str) else str(whole(name, value, 0, 2**63))


def _text_or_number(name: str, value: Any) -> str:
    return text(name, value) if isinstance(value, str) else repr(number(name, value))


def _reject_limit(name: str, limit: Any) -> str:
    return f"{100 * limit:.12g}%" if isinstance(limit, float) else _text_or_whole(name, limit)


def _percentage(name: str, share: Any) -> str:
    return text(name, share) if isinstance(share, str) else f"{100 * number(name, share):.12g}%"


def _part(name: str, partition: Any) -> str:
    if isinstance(partition, str):
        return text(name, partition)
    try:
        index, count = partition
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"partition must be (i, n), part i of n, not {partition!r}") from None
    return f"{whole('the part', index, 1, 2**32 - 1)}/{whole('the number of parts', count, 1, 2**32 - 1)}"


def _layout(_: str, value: Any) -> str:
    return one_of("layout of storage (that of DATA is layout_of_data)", value, ("padded", "packed"))


def _choice(*choices: str) -> Callable[[str, Any], str]:
    return lambda name, value: one_of(name, value, choices)


# name of an argument -> how it is converted, and the option's name where it has another
_OPTIONS: dict[str, tuple[Callable[[str, Any], Any], str | None]] = {
    "data": (path_bytes, None),
    "cache": (path_bytes, None),
    "recipe": (path_bytes, None),
    "settings": (lambda _, value: settings_texts(value), None),
    "config": (path_bytes, None),
    "layout_of_data": (text, None),
    "audio_roots": (paths_bytes, None),
    "language": (text, None),
    "speakers": (path_bytes, "speakers_file"),
    "store": (_choice("lmdb", "hdf5"), None),
    "layout": (_layout, None),
    "dtype": (_choice("float32", "float16", "bfloat16"), None),
    "device": (text, None),
    "isa": (text, None),
    "memory": (_text_or_whole, None),
    "max_rejects": (_reject_limit, None),
    "max_dropped": (_percentage, None),
    "max_gone": (_percentage, None),
    "no_text": (switch, None),
    "partition": (_part, None),
    "part": (path_bytes, None),
    "threads": (lambda name, value: whole(name, value, 1, 1024), "thread_count"),
    "retry_rejects": (switch, None),
    "allow_mixed": (switch, None),
    "discard_unfinished": (switch, None),
    "dry_run": (switch, None),
    "level": (_choice("quick", "full", "deep"), None),
    "sample": (_text_or_number, None),
    "seed": (lambda name, value: str(whole(name, value, 0, 2**64 - 1)), None),
    "repair": (switch, None),
    "index": (text, None),
}
