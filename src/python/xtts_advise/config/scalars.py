"""How PyYAML's safe_load reads a plain scalar: by YAML 1.1, whose words and numbers differ from those of YAML 1.2.

`no` is a boolean there, and 1e-4 is a text, because a float needs a point and a signed exponent.
"""

from __future__ import annotations

import math
import re

# PyYAML 6.0, yaml/resolver.py, Resolver.add_implicit_resolver.
_INT = re.compile(
    r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+"
)
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_NULL = ("", "~", "null", "Null", "NULL")
_BOOLS = {
    spelled: value
    for word, value in (("yes", True), ("true", True), ("on", True), ("no", False), ("false", False), ("off", False))
    for spelled in (word, word.capitalize(), word.upper())
}
_DECIMAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_BYTES_MAX = 64  # a longer text is no number


def kind_of(text: str) -> str:
    """Returns "null", "bool", "int", "float" or "text"."""
    if text in _NULL:
        return "null"
    if text in _BOOLS:
        return "bool"
    if len(text) <= _BYTES_MAX:
        if _INT.fullmatch(text):
            return "int"
        if _FLOAT.fullmatch(text):
            return "float"
    return "text"


def bool_of(text: str) -> bool | None:
    return _BOOLS.get(text)


def number_of(text: str) -> float | None:
    """Returns the value of an integer or float; numbers to base 60 are read as absent."""
    kind = kind_of(text)
    digits = text.replace("_", "")
    if kind == "float":
        return _decimal(digits)
    if kind != "int":
        return None
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    try:
        if digits.startswith(("0b", "0x")):
            return float(sign * int(digits, 0))
        if len(digits) > 1 and digits.startswith("0"):
            return float(sign * int(digits, 8))
    except ValueError:
        return None
    value = _decimal(digits)
    return None if value is None else sign * value


def _decimal(text: str) -> float | None:
    if len(text) > _BYTES_MAX or not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def as_float(text: str) -> str:
    """Writes what a person means by a number so that PyYAML reads it: "1e-4" as "1.0e-4"; "" if it is none."""
    if number_of(text):
        return text
    if not _decimal(text):
        return ""
    mantissa, e, exponent = text.replace("E", "e").partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    mantissa = re.sub(r"^(-?)\.", r"\g<1>0.", mantissa)
    if not e:
        return mantissa
    return f"{mantissa}e{'-' if exponent.startswith('-') else '+'}{exponent.lstrip('+-')}"


def as_int(text: str) -> str:
    value = number_of(text)
    if value is None:
        value = _decimal(text)
    # Above 2**53, doubles skip whole numbers.
    return str(int(value)) if value is not None and value == int(value) and abs(value) <= 2**53 else ""
