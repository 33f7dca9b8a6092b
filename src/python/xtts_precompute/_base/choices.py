"""Checks of arguments. The error for an unknown name lists the known ones and names the nearest."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import InvalidArgumentError

# Of difflib: 'lmbd' is as near as this to 'lmdb'. 'pin_memory' is less near to 'device_memory', and
# does not mean it.
_NEAR = 0.75


def no_such(kind: str, name: object, known: Iterable[str]) -> str:
    """Returns the sentence about a name that does not exist."""
    names = list(known)
    in_lower_case = {one.lower(): one for one in names}
    nearest = difflib.get_close_matches(str(name).lower(), in_lower_case, n=1, cutoff=_NEAR)
    hint = f" (did you mean '{in_lower_case[nearest[0]]}'?)" if nearest else ""
    return f"there is no {kind} '{name}'{hint}; there are: {', '.join(names)}"


def one_of(kind: str, name: object, known: Iterable[str]) -> str:
    """Returns `name` if it is one of `known`, else raises InvalidArgumentError."""
    names = tuple(known)
    if not isinstance(name, str) or name not in names:
        raise InvalidArgumentError(no_such(kind, name, names))
    return name


def no_others(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises InvalidArgumentError for the first given name that is not in `known`."""
    names = tuple(known)
    for name in given:
        one_of(kind, name, names)


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Returns `value` as an int in [least, most]; NumPy's integers are accepted, truth values are not."""
    try:
        is_truth = isinstance(value, (bool, np.bool_))
        number = 0 if is_truth else operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be a whole number, not {value!r}") from None
    if is_truth or not least <= number <= most:
        raise InvalidArgumentError(f"{name} is {value!r}, but must be from {least} to {most}")
    return number


def number(name: str, value: Any) -> float:
    """Returns `value` as a float; texts are not accepted."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InvalidArgumentError(f"{name} must be a number, not {value!r}")


def switch(name: str, value: Any) -> bool:
    """Returns True or False. A text is refused, because even "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, int) and value in (0, 1)):
        raise InvalidArgumentError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def text(name: str, value: Any) -> str:
    """Returns a text that can be encoded as UTF-8, as all texts in a cache are."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"{name} holds {value!r}, which is no valid Unicode") from None
        return value
    raise InvalidArgumentError(f"{name} must be a text, not {value!r}")


def listed(name: str, value: Any) -> list[Any]:
    """Returns the items of an iterable as a list."""
    try:
        return list(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be a list, not {value!r}") from None
