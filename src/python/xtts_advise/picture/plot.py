"""Draws a panel: axes with round numbers, and what is between them."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

from .heat_map import data_uri
from .svg import Svg, width_of

LINE = 18.0  # from one line of text to the next
BESIDE = 8.0  # between the plot and what is beside it
BAR_WIDTH, BAR_END = 12.0, 26.0  # of the bar that says what colours mean; its end, from that of the plot
LEVEL_NAME_MAX = 320.0


@dataclasses.dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, which lie `start` and `end` units from the picture's corner."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Values beyond the ends are drawn at the ends."""
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return self.start + share * (self.end - self.start)


def round_step(least: float) -> float:
    """Returns the smallest of 1, 2 or 5 times a power of ten that is not below `least`."""
    unit = 10.0 ** math.floor(math.log10(least) + 1e-9)
    return next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= least * (1 - 1e-9))


def ticks_of(axis: dict[str, Any], most: int) -> list[tuple[float, str]]:
    """Returns values and their labels, at most so many, or the axis' own ones.

    They are multiples of a round number, with the digits that it needs. Where the axis counts things, they are whole,
    and 1 is among them where the axis begins above 0.
    """
    low, high, counts_things = axis["low"], axis["high"], axis.get("counts_things", False)
    if "ticks" in axis:
        return [(one["at"], one["label"]) for one in axis["ticks"] if low <= one["at"] <= high]
    if not 0 < high - low < math.inf:
        return []
    step = round_step((high - low) / most)
    step = max(step, 1.0) if counts_things else step
    while (first := math.ceil(low / step - 1e-9)) + most <= (last := math.floor(high / step + 1e-9)):
        step = round_step(1.5 * step)
    if step < 1e-12 * max(abs(low), abs(high)):  # floats cannot tell such multiples apart
        return []
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    values = [number * step for number in range(first, last + 1)]
    if counts_things and 0 < low <= 1 and values[:1] != [1.0]:
        values = [1.0, *values][:most]
    return [(value, _label(value, digits)) for value in values]


def _label(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}" if abs(value) < 1e15 and digits <= 9 else f"{value:.3g}"


def vertical_ticks(axis: dict[str, Any], height: float) -> list[tuple[float, str]]:
    return ticks_of(axis, min(max(int(height / 32), 2), 8))


def widest(ticks: list[tuple[float, str]]) -> float:
    return max((width_of(label) for _, label in ticks), default=0.0)


def draw_plot(out: Svg, panel: dict[str, Any], left: float, top: float) -> float:
    """Draws what README.md describes, but for titles and legend; (left, top) is the plot's corner.

    Returns the height of the plot and of what is below it. The name of the vertical axis stands above the labels.
    """
    height: float = panel["height"]
    x = Axis(panel["x"]["low"], panel["x"]["high"], left, left + panel["width"])
    y = Axis(panel["y"]["low"], panel["y"]["high"], top + height, top)
    heat_map = panel.get("heat_map")
    if heat_map:
        _draw_map(out, heat_map, x, y)
    _draw_vertical_axis(out, panel["y"], y, x.start, -1, None if heat_map else x.end)
    _draw_columns(out, panel.get("columns", []), x, y)
    for series in panel.get("outlines", []):
        _draw_outline(out, series, x, y)
    _draw_levels(out, panel.get("levels", []), x, y)
    out.line(x.start, y.start, x.end, y.start, "tick")
    return height + _draw_horizontal_axis(out, panel["x"], x, y.start)


def _draw_map(out: Svg, heat_map: dict[str, Any], x: Axis, y: Axis) -> None:
    """Draws the map, and a bar that says what its colours mean."""
    all_colours = [f"{254 - level:02x}" for level in range(255)]
    height = y.start - y.end
    for rows, start, width in (
        (heat_map["rows"], x.start, x.end - x.start),
        (all_colours, x.end + BAR_END - BAR_WIDTH, BAR_WIDTH),
    ):
        uri = data_uri(rows, round(2 * width), round(2 * height))
        place = f'x="{start:.1f}" y="{y.end:.1f}" width="{width:.1f}" height="{height:.1f}"'
        out.pieces.append(f'<image {place} preserveAspectRatio="none" href="{uri}"/>')
    values = Axis(heat_map["low"], heat_map["high"], y.start, y.end)
    named = {"name": heat_map["value_name"], "low": values.low, "high": values.high}
    _draw_vertical_axis(out, named, values, x.end + BAR_END, 1)


def _draw_vertical_axis(
    out: Svg, axis: dict[str, Any], y: Axis, x: float, direction: int, grid_end: float | None = None
) -> None:
    """Labels in the order of their importance: one that would touch another is left out."""
    ticks = vertical_ticks(axis, y.start - y.end)
    anchor = "end" if direction < 0 else "start"
    taken: list[float] = []
    for value, label in ticks:
        place = y.place(value)
        if any(abs(place - other) < 14 for other in taken):
            continue
        taken.append(place)
        if grid_end is not None:
            out.line(x, place, grid_end, place, "axis")
        out.line(x, place, x + 4 * direction, place, "tick")
        out.text(x + BESIDE * direction, place + 3.5, label, "small", anchor)
    # The name is at the labels' other side, so that it reaches over the plot where it is long.
    end = x + direction * (BESIDE + widest(ticks))
    out.text(end, y.end - 10, axis.get("name", ""), "small", "start" if direction < 0 else "end", LEVEL_NAME_MAX)


def _draw_horizontal_axis(out: Svg, axis: dict[str, Any], x: Axis, y: float) -> float:
    for value, label in _horizontal_ticks(axis, x):
        place = x.place(value)
        out.line(place, y, place, y + 4, "tick")
        out.text(_middle(x, value, label), y + 15, label, "small", "middle")
    name = axis.get("name", "")
    out.text((x.start + x.end) / 2, y + 15 + LINE, name, "small", "middle", x.end - x.start)
    return 15 + LINE * bool(name) + 4


def _middle(x: Axis, value: float, label: str) -> float:
    """Returns where the middle of a label is: it does not reach far beyond the axis."""
    return min(x.place(value), x.end + BESIDE - width_of(label) / 2)


def _horizontal_ticks(axis: dict[str, Any], x: Axis) -> list[tuple[float, str]]:
    for most in range(10, 1, -1):
        ticks = ticks_of(axis, most)
        boxes = [(_middle(x, *tick), width_of(tick[1]) / 2) for tick in ticks]
        if all(a + half + 12 < b - other for (a, half), (b, other) in itertools.pairwise(boxes)):
            return ticks
    return ticks_of(axis, 1)


def _draw_columns(out: Svg, columns: list[dict[str, Any]], x: Axis, y: Axis) -> None:
    """Each series is drawn from the floor to the sum of itself and those below it, the highest sum first.

    So no paper shines through where two meet.
    """
    sums: list[list[float]] = []
    for series in columns:
        below = sums[-1] if sums else [0.0] * len(series["values"])
        sums.append([a + b for a, b in zip(below, series["values"])])
    for series, tops in reversed(list(zip(columns, sums))):
        width = (x.end - x.start) / max(len(tops), 1)
        space = 0.14 * width if width >= 6 else 0.0
        steps = [
            f"M{x.start + i * width + space / 2:.1f} {y.start:.1f}V{place:.1f}h{width - space:.2f}V{y.start:.1f}z"
            for i, place in enumerate(map(y.place, tops))
            if place < y.start
        ]
        out.path("".join(steps), series["colour"] + ("" if space else " crisp"))


def _draw_outline(out: Svg, series: dict[str, Any], x: Axis, y: Axis) -> None:
    """A stair line over bins of one width."""
    width = (x.end - x.start) / max(len(series["values"]), 1)
    stairs = "".join(f"V{y.place(value):.1f}h{width:.2f}" for value in series["values"])
    out.path(f"M{x.start:.1f} {y.start:.1f}{stairs}V{y.start:.1f}", f"{series['colour']} outline")


def _draw_levels(out: Svg, levels: list[dict[str, Any]], x: Axis, y: Axis) -> None:
    """Lines with their names beside them, or as near as possible without touching another name."""
    seen = sorted((one for one in levels if y.low <= one["at"] <= y.high), key=lambda one: -one["at"])
    free = y.end  # the middle of the next name is here or below
    for i, level in enumerate(seen):
        place = y.place(level["at"])
        out.line(x.start, place, x.end, place, f"{level['colour']} outline")
        middle = min(max(place, free), y.start - (len(seen) - 1 - i) * 15)
        out.text(x.end + BESIDE, middle + 3.5, level["name"], "small", "start", LEVEL_NAME_MAX)
        free = middle + 15
