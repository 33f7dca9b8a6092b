"""Reads single keys of a trainer's YAML file, line by line: a child Python may have no YAML library."""

from __future__ import annotations

import re

_BYTES_MAX = 1 << 20


def switch_in(path: str | None, key: str) -> tuple[bool, int] | None:
    """Returns the last true or false value of a key, and its line; None where there is none."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read(_BYTES_MAX)
    except OSError:
        return None
    found: tuple[bool, int] | None = None
    pattern = re.compile(rf"(?:^|[{{,])\s*[\"']?{re.escape(key)}[\"']?\s*:\s*[\"']?(\w+)")
    for number, line in enumerate(text.splitlines(), 1):
        match = pattern.search(_without_comment(line))
        if match:
            value = match.group(1).lower()
            if value in ("true", "yes", "on", "false", "no", "off"):
                found = value in ("true", "yes", "on"), number
    return found


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*$", "", line)
