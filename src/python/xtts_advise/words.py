"""What all commands say things with: failures with an exit code, numbers and names in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Exit codes (docs/exit-codes.md), by the code that --json names.
EXIT_CODES = {
    "invalid_argument": 2,
    "not_found": 2,
    "unsupported": 2,
    "corrupt": 4,
    "resource": 6,
    "internal": 1,
}


class Failure(Exception):
    """Ends a command. `code` is a key of EXIT_CODES."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def visible(text: str) -> str:
    """Returns the text without characters that steer a terminal or turn the direction of writing."""
    return "".join(_shown(c) for c in text)


def _steers(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")


def _shown(c: str) -> str:
    if not _steers(c):
        return c
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return named.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 0x100 else f"\\u{ord(c):04x}")


def counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def percent(share: float, digits: int = 0) -> str:
    """Returns "41 %" for a share of 1."""
    return f"{100 * share:.{digits}f} %"


def size(size_bytes: float) -> str:
    """Returns "12.3 GiB" or "999 B"."""
    if size_bytes < 1024:
        return f"{int(size_bytes)} B"
    value, units = size_bytes / 1024, ["KiB", "MiB", "GiB", "TiB", "PiB"]
    while value >= 1023.5 and len(units) > 1:
        value /= 1024
        del units[0]
    unit = units[0]
    return f"{value:.1f} {unit}" if value < 99.95 else f"{value:.0f} {unit}"


def number(value: float) -> str:
    """Returns a number without a tail of zeros."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.3g}"


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Returns the candidate whose spelling is nearest; "" if none is within a third of the name's length."""
    if len(name) > 64:
        return ""
    best, best_distance = "", max(1, len(name) // 3) + 1
    for candidate in candidates:
        distance = _edit_distance(name.lower(), candidate.lower())
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def _edit_distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours cost one each."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        before, last, row = row, before, [i]
        for j in range(1, len(b) + 1):
            cost = min(before[j - 1] + (a[i - 1] != b[j - 1]), before[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
