"""What a check shows as a picture. Plain values; page/ draws them.

Values may be of any size. Those that are not finite are left out, and the picture says how many.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Level:
    """A line across the picture, with its name: "bad from 200 ms"."""

    name: str
    at: float


@dataclasses.dataclass(frozen=True)
class Bar:
    """A value, which is known to lie between two others where these are given."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclasses.dataclass(frozen=True)
class Bars:
    """Horizontal bars: before and after."""

    unit: str
    bars: list[Bar]
    levels: list[Level] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Stack:
    """A whole and its parts: the split of a training step. A part below 0 counts as 0."""

    unit: str
    parts: list[tuple[str, float]]


@dataclasses.dataclass(frozen=True)
class Series:
    """One value after the other: times of batches. They are alike after each `period` of them."""

    x_name: str
    unit: str
    values: list[float]
    period: float | None = None


@dataclasses.dataclass(frozen=True)
class Histogram:
    """How often which values occur."""

    unit: str
    values: list[float]


@dataclasses.dataclass(frozen=True)
class Chart:
    title: str
    content: Bars | Stack | Series | Histogram
    note: str = ""  # how it is known
