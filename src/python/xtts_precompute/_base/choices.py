"""Arguments: what is not there is an error that lists what is, and names the nearest."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import InvalidArgumentError


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
        is_truth = isinstance(value, (bool, np.bool_))
        number = 0 if is_truth else operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be a whole number, not {value!r}") from None
    if is_truth or not least <= number <= most:
        raise InvalidArgumentError(f"{name} is {value!r}, but must be from {least} to {most}")
    return number


def number(name: str, value: Any) -> float:
    """A number, of any kind."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InvalidArgumentError(f"{name} must be a number, not {value!r}")


def switch(name: str, value: Any) -> bool:
    """True or False; a text such as "no" would be true."""
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, int) and value in (0, 1)):
        raise InvalidArgumentError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def text(name: str, value: Any) -> str:
    """A text that has UTF-8, as all that a cache holds."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"{name} holds {value!r}, which is no valid Unicode") from None
        return value
    raise InvalidArgumentError(f"{name} must be a text, not {value!r}")


def listed(name: str, value: Any) -> list[Any]:
    """What can be gone through."""
    try:
        return list(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be a list, not {value!r}") from None
