"""Arguments: what is not there is an error that lists what is, and names the nearest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from ._errors import InvalidArgumentError


def no_such(kind: str, name: object, known: Iterable[str]) -> str:
    """The sentence about a name that does not exist."""
    names = list(known)
    nearest = difflib.get_close_matches(str(name), names, n=1)
    hint = f" (did you mean '{nearest[0]}'?)" if nearest else ""
    return f"there is no {kind} '{name}'{hint}; there are: {', '.join(names)}"


def one_of(kind: str, name: object, known: Iterable[str]) -> str:
    """`name`, if it is one of the known."""
    names = tuple(known)
    if not isinstance(name, str) or name not in names:
        raise InvalidArgumentError(no_such(kind, name, names))
    return name


def no_others(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Complains about the first given name that is not known."""
    names = tuple(known)
    for name in given:
        one_of(kind, name, names)


def whole(name: str, value: Any, least: int, most: int) -> int:
    """An integer (also NumPy's) in [least, most]."""
    try:
        number = value.__index__()
    except AttributeError:
        raise InvalidArgumentError(f"{name} must be a whole number, not {value!r}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise InvalidArgumentError(f"{name} is {value!r}, but must be from {least} to {most}")
    return int(number)
