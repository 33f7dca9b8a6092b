"""Draws charts as SVG. Equal charts give equal texts, and values of any size give finite places.

A picture is 360 units wide, so that its letters are readable on a phone. Colours are classes of style.css, and nothing
is said by colour alone.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math
import statistics

from markupsafe import Markup

from ..charts import Bars, Chart, Histogram, Series, Stack
from ..words import counted, fine_percent, short, visible

WIDTH, LEFT, RIGHT = 360.0, 54.0, 350.0  # a plot lies between LEFT and RIGHT
PLOT_HEIGHT, LINE_HEIGHT, BAR_HEIGHT = 140.0, 13.0, 36.0
COLUMNS_MAX = 148
LARGEST = 1e300  # differences and sums of values stay finite


@dataclasses.dataclass
class Picture:
    """Pieces of an SVG; without any, there is nothing to draw. `rows` are its numbers, for those who cannot see it."""

    svg: Markup = dataclasses.field(default_factory=Markup)
    height: float = 0.0
    description: str = ""
    remarks: list[str] = dataclasses.field(default_factory=list)
    rows: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        numbers = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
        self.svg += Markup(f'<rect {numbers} class="{kind}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.svg += Markup(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" class="{kind}"/>')

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start", room: float = WIDTH) -> None:
        start = Markup(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">')
        self.svg += start + fitting(text, room) + Markup("</text>")


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
    if not picture.svg:
        picture.remarks.append("There is nothing to draw.")
    if left_out := len(values) - len(finite):
        picture.remarks.append(f"{counted(left_out, 'value is', 'values are')} not finite and left out.")
    return picture


def fitting(text: str, room: float) -> str:
    """Returns the text, or its beginning and "…", no wider than `room`."""
    text = visible(text)
    ends = list(itertools.accumulate(_letter_width(c) for c in text[:101]))
    return text if not ends or ends[-1] <= room else text[: bisect.bisect_right(ends, room - 11)] + "…"


def _letter_width(letter: str) -> float:
    """Of letters of 11 units in a wide font (DejaVu Sans). Other fonts need less room."""
    if letter in " ilj.,:;'|!I":
        return 3.6
    if letter >= "\u0800" or letter in "mwMW@%<>=+~":
        return 11.0
    return 8.0 if "A" <= letter <= "Z" else 7.0


def _bold_width(text: str) -> float:
    return 1.12 * sum(map(_letter_width, text))


def _with_unit(value: float, unit: str) -> str:
    return f"{short(value)} {unit}".rstrip()


@dataclasses.dataclass(frozen=True)
class _Scale:
    low: float
    high: float

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def ticks(self) -> list[float]:
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= rough)
        first = math.ceil(self.low / step)
        return [tick for i in range(6) if (tick := (first + i) * step) <= self.high]


def _scale_from_zero(values: list[float]) -> _Scale:
    low, high = min(0.0, min(values)), max(0.0, max(values))
    return _Scale(low, high if high - low > 1e-300 else low + 1.0)


def _tick_label(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def _describe(picture: Picture, values: list[float], unit: str) -> None:
    ordered, mean = sorted(values), statistics.fmean(values)

    def at_most(share: float) -> str:
        return _with_unit(ordered[max(math.ceil(share * len(ordered)) - 1, 0)], unit)

    picture.rows += [("values", f"{len(values):,}"), ("smallest", at_most(0)), ("half are at most", at_most(0.5))]
    picture.rows += [("mean", _with_unit(mean, unit)), ("95 % are at most", at_most(0.95)), ("largest", at_most(1))]
    span = f"{counted(len(values), 'value', 'values')} from {short(ordered[0])} to {at_most(1)}"
    picture.description = f"{span}, {_with_unit(mean, unit)} on average."


def _draw_axis(picture: Picture, scale: _Scale, top: float, unit: str) -> None:
    for tick in scale.ticks():
        y = top + PLOT_HEIGHT * (1 - scale.share(tick))
        picture.line(LEFT, y, RIGHT, y, "axis")
        picture.text(LEFT - 5, y + 3.5, _tick_label(tick), "small", "end")
    picture.text(LEFT - 5, top - 8, unit, "small", "end", LEFT - 5)


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
    scale = _scale_from_zero([end for bar in bars for end in bar] + [level.at for level in chart.levels])

    def x_of(value: float) -> float:
        return 2 + scale.share(value) * (WIDTH - 4)

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
    _describe(picture, values, chart.unit)
    scale, top, count = _scale_from_zero(values), 22.0, len(values)
    bottom = top + PLOT_HEIGHT

    def y_of(value: float) -> float:
        return bottom - PLOT_HEIGHT * scale.share(value)

    if chart.period is not None and 1 <= chart.period <= count:
        _mark_period(picture, chart, chart.period, top, count)
    _draw_axis(picture, scale, top, chart.unit)
    columns = min(count, COLUMNS_MAX)
    width = (RIGHT - LEFT) / columns
    for i in range(columns):
        group = values[i * count // columns : (i + 1) * count // columns]
        heights = [(statistics.fmean(group), "mark")]
        if len(group) > 1:
            heights = [(max(*group, 0), "mark-soft"), (min(*group, 0), "mark-soft"), *heights]
        for value, kind in heights:
            high, low = y_of(max(value, 0)), y_of(min(value, 0))
            picture.rect(LEFT + i * width, high, width * 0.85, low - high, kind)
    if columns < count:
        picture.remarks.append("A column stands for several values: dark to their mean, pale to the largest.")
    picture.text(LEFT, bottom + 14, "1", "small")
    picture.text((LEFT + RIGHT) / 2, bottom + 14, chart.x_name, "small", "middle", 200)
    picture.text(RIGHT, bottom + 14, f"{count:,}", "small", "end")
    picture.height = bottom + 20


def _mark_period(picture: Picture, chart: Series, period: float, top: float, count: int) -> None:
    """A band behind every second period, and a bracket over the first."""
    length, x = period * (RIGHT - LEFT) / count, LEFT
    while x < RIGHT and length >= 3:
        picture.rect(x, top, min(length, RIGHT - x), PLOT_HEIGHT, "band")
        x += 2 * length
    picture.svg += Markup(f'<path d="M{LEFT} {top}v-5H{LEFT + length:.1f}v5" class="bracket"/>')
    words = f"{period:.1f}".removesuffix(".0")
    name = f"repeats every {words} {chart.x_name}".rstrip()
    picture.text(RIGHT, top - 8, name, "strong", "end", RIGHT - LEFT - 20)
    picture.rows.append(("repeat every", words))
    picture.description += f" They repeat every {words}."


def _draw_histogram(picture: Picture, chart: Histogram, values: list[float]) -> None:
    _describe(picture, values, chart.unit)
    low, high = min(values), max(values)
    if high - low <= max(abs(low) * 1e-9, 1e-300):
        margin = max(abs(low) * 0.05, 1e-6)
        low, high = low - margin, low + margin
    scale = _Scale(low, high)
    counts = [0.0] * min(max(math.isqrt(len(values)), 5), 24)
    for value in values:
        counts[min(int(scale.share(value) * len(counts)), len(counts) - 1)] += 1
    top, of_counts = 18.0, _scale_from_zero(counts)
    bottom = top + PLOT_HEIGHT
    _draw_axis(picture, of_counts, top, "count")
    width = (RIGHT - LEFT) / len(counts)
    for i, count in enumerate(counts):
        height = PLOT_HEIGHT * of_counts.share(count)
        picture.rect(LEFT + i * width, bottom - height, width - 1, height, "mark")
    for tick in scale.ticks():
        x = LEFT + scale.share(tick) * (RIGHT - LEFT)
        at_end = x > RIGHT - 20
        picture.text(RIGHT if at_end else x, bottom + 14, _tick_label(tick), "small", "end" if at_end else "middle")
    picture.text(RIGHT, bottom + 27, chart.unit, "small", "end", 200)
    picture.height = bottom + 32
