"""Draws charts as SVG. Equal charts give equal texts, and values of any size give finite places.

A picture is 360 units wide, so that its letters are readable on a phone. Colours are classes of style.css, and nothing
is said by colour alone.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import Any

from ..charts import Bars, Chart, Histogram, Series, Stack
from ..picture.plot import Axis, draw_plot
from ..picture.svg import Svg, fitting, width_of
from ..words import counted, fine_percent, short

WIDTH, LEFT, RIGHT = 360.0, 54.0, 350.0  # a plot lies between LEFT and RIGHT
PLOT_TOP, PLOT_HEIGHT, LINE_HEIGHT, BAR_HEIGHT = 24.0, 140.0, 13.0, 36.0
COLUMNS_MAX = 148
LARGEST = 1e300  # differences and sums of values stay finite


@dataclasses.dataclass
class Picture(Svg):
    """An SVG; without pieces, there is nothing to draw. `rows` are its numbers, for those who cannot see it."""

    height: float = 0.0
    description: str = ""
    remarks: list[str] = dataclasses.field(default_factory=list)
    rows: list[tuple[str, str]] = dataclasses.field(default_factory=list)


def picture_of(chart: Chart) -> Picture:
    content, picture = chart.content, Picture()
    if isinstance(content, Bars):
        values = [bar.value for bar in content.bars]
    else:
        values = [value for _, value in content.parts] if isinstance(content, Stack) else content.values
    finite = [min(max(value, -LARGEST), LARGEST) for value in values if math.isfinite(value)]
    if finite and isinstance(content, Bars):
        _draw_bars(picture, content)
    elif finite and isinstance(content, Stack):
        _draw_stack(picture, content)
    elif finite and isinstance(content, Series):
        _draw_series(picture, content, finite)
    elif finite and isinstance(content, Histogram):
        _draw_histogram(picture, content, finite)
    if not picture.pieces:
        picture.remarks.append("There is nothing to draw.")
    if left_out := len(values) - len(finite):
        picture.remarks.append(f"{counted(left_out, 'value is', 'values are')} not finite and left out.")
    return picture


def _bold_width(text: str) -> float:
    return 1.12 * width_of(text)


def _with_unit(value: float, unit: str) -> str:
    return f"{short(value)} {unit}".rstrip()


def _ends_from_zero(values: list[float]) -> tuple[float, float]:
    low, high = min(0.0, min(values)), max(0.0, max(values))
    return low, high if high - low > 1e-300 else low + 1.0


def _describe(picture: Picture, values: list[float], unit: str) -> None:
    ordered, mean = sorted(values), statistics.fmean(values)

    def at_most(share: float) -> str:
        return _with_unit(ordered[max(math.ceil(share * len(ordered)) - 1, 0)], unit)

    picture.rows += [("values", f"{len(values):,}"), ("smallest", at_most(0)), ("half are at most", at_most(0.5))]
    picture.rows += [("mean", _with_unit(mean, unit)), ("95 % are at most", at_most(0.95)), ("largest", at_most(1))]
    span = f"{counted(len(values), 'value', 'values')} from {short(ordered[0])} to {at_most(1)}"
    picture.description = f"{span}, {_with_unit(mean, unit)} on average."


def _draw_plot(picture: Picture, x: dict[str, Any], y: dict[str, Any], columns: list[dict[str, Any]]) -> None:
    panel = {"width": RIGHT - LEFT, "height": PLOT_HEIGHT, "x": x, "y": y, "columns": columns}
    picture.height = PLOT_TOP + draw_plot(picture, panel, LEFT, PLOT_TOP)


def _draw_bars(picture: Picture, chart: Bars) -> None:
    bars = []  # (low, value, high); without a range, all three are the value
    for bar in chart.bars:
        if not math.isfinite(bar.value):
            continue
        ends = [bar.value if end is None or not math.isfinite(end) else end for end in (bar.low, bar.high)]
        low, value, high = sorted(min(max(one, -LARGEST), LARGEST) for one in (bar.value, *ends))
        bars.append((low, value, high))
        words = f" ({short(low)} to {short(high)})" if low < high else ""
        picture.rows.append((bar.label, _with_unit(value, chart.unit) + words))
    left, right = _ends_from_zero([end for bar in bars for end in bar] + [level.at for level in chart.levels])
    x_of = Axis(left, right, 2.0, WIDTH - 2).place

    for i, ((low, value, high), (label, words)) in enumerate(zip(bars, picture.rows)):
        top, words = BAR_HEIGHT * i, fitting(words, WIDTH * 0.6)
        picture.text(2, top + 11, label, room=WIDTH - 12 - _bold_width(words))
        picture.text(WIDTH - 2, top + 11, words, "strong", "end")
        picture.rect(2, top + 17, WIDTH - 4, 12, "band")
        start, end = sorted((x_of(0), x_of(low if low > 0 else min(high, 0))))
        picture.rect(start, top + 17, end - start, 12, "mark")
        picture.rect(x_of(low), top + 17, x_of(high) - x_of(low), 12, "mark-soft")
        picture.rect(min(max(x_of(value) - 1, 2), WIDTH - 4), top + 17, 2, 12, "middle")
    named = "; ".join(f"{label} {words}" for label, words in picture.rows[:4])
    picture.description = f"{counted(len(bars), 'bar', 'bars')}: {named}" + ("; and more." if len(bars) > 4 else ".")
    picture.height = BAR_HEIGHT * len(bars)
    for level in chart.levels:
        x = x_of(level.at)
        for i in range(len(bars)):
            picture.rect(x - 2, BAR_HEIGHT * i + 14, 4, 18, "paper")
            picture.rect(x - 1, BAR_HEIGHT * i + 14, 2, 18, "level")
        anchor, room = ("end", x) if x > WIDTH / 2 else ("start", WIDTH - x)
        picture.text(x, picture.height + 9, level.name, "level", anchor, room)
        picture.rows.append((level.name, _with_unit(level.at, chart.unit)))
        picture.height += LINE_HEIGHT
    if any(low < high for low, _, high in bars):
        picture.remarks.append("The pale part is the range in which the value lies.")


def _draw_stack(picture: Picture, chart: Stack) -> None:
    parts = [(label, min(max(value, 0.0), LARGEST)) for label, value in chart.parts if math.isfinite(value)]
    whole = sum(value for _, value in parts)
    if whole <= 0:
        return
    x, y = 2.0, 46.0
    for i, (label, value) in enumerate(parts):
        colour, share = f"part-{i % 6 + 1}", value / whole
        width = share * (WIDTH - 4)
        picture.rect(x, 2, width - 1, 26, colour)
        if width >= 18:
            picture.text(x + width / 2, 19, str(i + 1), "on-part", "middle")
        x += width
        words = fitting(f"{_with_unit(value, chart.unit)}, {fine_percent(share)}", WIDTH * 0.5)
        picture.rect(2, y - 10, 16, 13, colour)
        picture.text(10, y, str(i + 1), "on-part", "middle")
        picture.text(24, y, label, room=WIDTH - 34 - _bold_width(words))
        picture.text(WIDTH - 2, y, words, "strong", "end")
        y += 17
        picture.rows.append((label, words))
    picture.description = "; ".join(f"{label} {words}" for label, words in picture.rows) + "."
    picture.rows.append(("in all", _with_unit(whole, chart.unit)))
    picture.height = y - 8


def _draw_series(picture: Picture, chart: Series, values: list[float]) -> None:
    """A value below 0 counts as 0."""
    _describe(picture, values, chart.unit)
    count = len(values)
    if chart.period is not None and 1 <= chart.period <= count:
        _mark_period(picture, chart, chart.period, count)
    size = min(count, COLUMNS_MAX)
    heights = [max(value, 0.0) for value in values]
    groups = [heights[i * count // size : (i + 1) * count // size] for i in range(size)]
    means = [statistics.fmean(group) for group in groups]
    columns: list[dict[str, Any]] = [{"colour": "mark", "values": means}]
    if size < count:
        rests = [max(group) - mean for group, mean in zip(groups, means)]
        columns.append({"colour": "mark-soft", "values": rests})
        picture.remarks.append("A column stands for several values: dark to their mean, pale to the largest.")
    x = {"name": chart.x_name, "low": 0.5, "high": count + 0.5, "counts_things": True}
    _draw_plot(picture, x, {"name": chart.unit, "low": 0.0, "high": _ends_from_zero(heights)[1]}, columns)


def _mark_period(picture: Picture, chart: Series, period: float, count: int) -> None:
    """A band behind every second period, and a bracket over the first."""
    length, x = period * (RIGHT - LEFT) / count, LEFT
    while x < RIGHT and length >= 3:
        picture.rect(x, PLOT_TOP, min(length, RIGHT - x), PLOT_HEIGHT, "band")
        x += 2 * length
    picture.path(f"M{LEFT} {PLOT_TOP}v-5H{LEFT + length:.1f}v5", "bracket")
    words = f"{period:.1f}".removesuffix(".0")
    name = f"repeats every {words} {chart.x_name}".rstrip()
    picture.text(RIGHT, PLOT_TOP - 10, name, "strong", "end", RIGHT - LEFT - 20)
    picture.rows.append(("repeat every", words))
    picture.description += f" They repeat every {words}."


def _draw_histogram(picture: Picture, chart: Histogram, values: list[float]) -> None:
    _describe(picture, values, chart.unit)
    low, high = min(values), max(values)
    if high - low <= max(abs(low) * 1e-9, 1e-300):
        margin = max(abs(low) * 0.05, 1e-6)
        low, high = low - margin, low + margin
    bins = Axis(low, high, 0.0, min(max(math.isqrt(len(values)), 5), 24))
    counts = [0] * int(bins.end)
    for value in values:
        counts[min(int(bins.place(value)), len(counts) - 1)] += 1
    y = {"name": "count", "low": 0, "high": max(counts), "counts_things": True}
    _draw_plot(picture, {"name": chart.unit, "low": low, "high": high}, y, [{"colour": "mark", "values": counts}])
