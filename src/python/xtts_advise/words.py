"""What all commands say things with: failures with an exit code, numbers and names in words."""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Iterable

# The packages that bring a library, on Debian and elsewhere.
PACKAGES = {"ruamel.yaml": ("python3-ruamel.yaml", "ruamel.yaml"), "jinja2": ("python3-jinja2", "jinja2")}
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

    def __init__(self, code: str, message: str, is_told: bool = False) -> None:
        """is_told: the user has read the message already."""
        super().__init__(message)
        self.code, self.is_told = code, is_told


def bringing(libraries: list[str]) -> str:
    """Returns "`apt-get install python3-jinja2` brings it"."""
    is_debian = os.path.exists("/etc/debian_version")
    names = " ".join(PACKAGES.get(one, (one, one))[0 if is_debian else 1] for one in libraries)
    return f"`{'apt-get' if is_debian else 'pip'} install {names}` brings it"


def visible(text: str) -> str:
    """Returns the text without characters that steer a terminal or turn the direction of writing."""
    return "".join(_shown(c) for c in text)


def _steers(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") or c in "\ufffe\uffff"  # XML forbids these two


def _shown(c: str) -> str:
    if not _steers(c):
        return c
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return named.get(c) or (f"\\x{ord(c):02x}" if ord(c) < 0x100 else f"\\u{ord(c):04x}")


def counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def listed(names: Iterable[str], last: str) -> str:
    """Returns "a, b and c"."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def percent(share: float, digits: int = 0) -> str:
    """Returns "41 %" for a share of 1."""
    return f"{100 * share:.{digits}f} %"


def fine_percent(share: float) -> str:
    """Returns "41 %", "4.1 %" or "0.41 %"."""
    size = abs(100 * share)
    return percent(share, 0 if size == 0 or size >= 9.95 else 1 if size >= 0.995 else 2)


def short(value: float) -> str:
    """Returns three digits, or all in front of the point: "0.0123", "1.23", "12.3", "123", "1,234"."""
    if not math.isfinite(value):
        return "-"
    magnitude = abs(value)
    if magnitude >= 999.5:
        return f"{value:,.0f}" if magnitude < 1e15 else f"{value:.3g}"
    if magnitude >= 99.95 or value == 0:
        return f"{value:.0f}"
    if magnitude >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if magnitude >= 0.9995 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Returns "under 1 s", "5.5 s", "42 s", "3 min 5 s", "2 h 10 min" or "4 d 3 h"."""
    if seconds < 0.9995:
        return "under 1 s"
    if seconds < 59.95:
        return f"{seconds:.{0 if seconds >= 9.995 else 1}f} s"
    if seconds < 3599.5:
        return _pair(round(seconds), 60, "min", "s")
    minutes = round(seconds / 60)
    return _pair(minutes, 60, "h", "min") if minutes < 24 * 60 else _pair(round(minutes / 60), 24, "d", "h")


def _pair(whole: int, of: int, large: str, small: str) -> str:
    return f"{whole // of:,} {large}" + (f" {whole % of} {small}" if whole % of else "")


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


def number_of(option: str, text: str, low: float, high: float, is_whole: bool = False) -> float | None:
    """Returns the number of an option; None: it was not given."""
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise Failure("invalid_argument", f"{option} is a number from {low:,g} to {high:,.0f}, not '{text}'")
    if is_whole and value != int(value):
        raise Failure("invalid_argument", f"{option} is a whole number, not '{text}'")
    return value


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
