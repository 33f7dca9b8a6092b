"""A number that is known to lie between two others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from . import words


@dataclasses.dataclass(frozen=True)
class Range:
    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def wider(self, margin: float) -> Range:
        """margin: a share, on both sides."""
        return Range(self.low * (1 - margin), self.high * (1 + margin))

    def times(self, factor: float) -> Range:
        return Range(self.low * factor, self.high * factor)

    def over(self, other: Range) -> Range:
        return Range(self.low / other.high, self.high / other.low)

    def spanned(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))

    def text(self, unit: str = "") -> str:
        low, high = words.short(self.low), words.short(self.high)
        return (low if low == high else f"{low} to {high}") + unit


def middle_of(rounds: list[float], margin: float) -> Range:
    """The span of the middle third of five rounds or more, else of all, wider by `margin`."""
    ordered = sorted(rounds)
    out = len(ordered) // 3 if len(ordered) >= 5 else 0
    middle = ordered[out : len(ordered) - out]
    return Range(middle[0], middle[-1]).wider(margin)


def range_of(rounds: Iterable[float], margin: float = 0.0) -> Range | None:
    """The span of measured rounds, wider by `margin`; None: no round is above 0."""
    positive = [one for one in rounds if one > 0]
    return Range(min(positive), max(positive)).wider(margin) if positive else None
