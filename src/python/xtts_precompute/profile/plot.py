"""A ProfileReport as a picture in SVG, written by hand: no package is needed, and every browser shows it.

From top to bottom: a title, the colours, a panel of steps (real data, then data for free) and a panel that counts them by their time. Each panel has both
axes, with their units and round numbers.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .report import ProfileReport, Steps

_WIDTH, _LEFT, _PLOT, _HEIGHT = 960, 90, 830, 220
_UNDER = 92  # a panel: its axis' numbers and name, and the next panel's title
_COLUMNS_MAX = 415  # of two pixels; more steps are drawn as the means of neighbours
_BINS_MIN, _BINS_MAX = 5, 40
_CHARACTER = 0.62  # of the font's size; no sans-serif's digits are wider
# Told apart by the colour-blind, too (Okabe and Ito), data in the one that warns.
_COLORS = {
    "data": "#d55e00",
    "to_device": "#e69f00",
    "forward": "#0072b2",
    "loss": "#cc79a7",
    "backward": "#56b4e9",
    "optimizer": "#009e73",
    "other": "#bbbbbb",
}
_MORE_COLORS = ("#f0e442", "#7f5fa8", "#8c6d31", "#3b6e5a")
_KIND_COLORS = ("#000000", "#009e73")


class Axis(NamedTuple):
    """From 0, or from the first of the ticks, to `end`."""

    begin: float
    end: float
    ticks: list[tuple[float, str]]

    def place(self, value: float) -> float:
        """0 at its beginning, 1 at its end."""
        return (value - self.begin) / (self.end - self.begin)


def draw(report: ProfileReport) -> str:
    """The whole file."""
    count = len(report.real.by_phase)
    title = (f"{count:,} step{'' if count == 1 else 's'}, mean {report.real.times.mean_ms:,.1f} ms, variation {100 * report.variation:.1f} %, "
             f"waiting for data {100 * report.data_share:.1f} %")  # fmt: skip
    kinds = [("real data", report.real)] + (
        [("the same batch again and again: data for free", report.synthetic)] if report.synthetic else []
    )
    scale = up_to(
        max(
            float(np.sum([_means(steps.seconds(phase.name)) for phase in steps.phases], axis=0).max())
            for _, steps in kinds
        ),
        5,
    )
    colors = _colors([phase.name for _, steps in kinds for phase in steps.phases])
    parts = [_text(_LEFT, 26, title, size=15)]
    legend, top = _legend(colors, 48)
    parts += legend
    top += 34
    for name, steps in kinds:
        columns = min(len(steps.by_phase), _COLUMNS_MAX)
        means = "" if columns == len(steps.by_phase) else f", {columns} means of neighbours"
        parts += _panel(top, f"time of each step, {name}{means}", scale, "ms", _step_axis(len(steps.by_phase)), "step")
        parts += _stack(top, scale, steps, colors)
        top += _HEIGHT + _UNDER
    parts += _histogram(top, kinds)
    height = top + _HEIGHT + 70
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


# ---- axes


def round_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten that has at most so many steps in `span`."""
    unit = 10.0 ** math.floor(math.log10(span / most))
    return next(factor * unit for factor in (1, 2, 5, 10, 20) if span / (factor * unit) <= most * (1 + 1e-9))


def ticks(begin: float, end: float, most: int) -> list[tuple[float, str]]:
    """About so many round numbers from begin to end, with the digits that tell them apart."""
    step = round_step(end - begin, most)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(begin / step - 1e-9), math.floor(end / step + 1e-9)
    return [(number * step, f"{number * step:,.{digits}f}") for number in range(first, last + 1)]


def up_to(most: float, count: int) -> Axis:
    """From 0 to the first round number that is not below `most`."""
    most = most if most > 0 else 1.0
    step = round_step(most, count)
    end = step * math.ceil(most / step - 1e-9)
    return Axis(0.0, end, ticks(0.0, end, count + 1))


def _step_axis(count: int) -> Axis:
    """Steps count from 1; each has its number under its middle."""
    every = max(1, round(round_step(count, 10))) if count > 10 else 1
    numbers = sorted({1, *range(every, count + 1, every)})
    return Axis(0.5, count + 0.5, [(float(number), f"{number:,}") for number in numbers])


def _panel(top: float, title: str, vertical: Axis, unit: str, horizontal: Axis, name: str) -> list[str]:
    """Lines across at the numbers of the vertical axis; the horizontal one below, with its name."""
    floor = top + _HEIGHT
    parts = [_text(_LEFT, top - 10, title, size=13)]
    for value, label in vertical.ticks:
        y = floor - _HEIGHT * vertical.place(value)
        parts += [
            f'<path d="M{_LEFT} {y:.1f}h{_PLOT}" stroke="#dddddd"/>',
            _text(_LEFT - 8, y + 4, label, anchor="end"),
        ]
    parts.append(f'<path d="M{_LEFT} {floor}h{_PLOT}" stroke="#444444"/>')
    for value, label in horizontal.ticks:
        x = _LEFT + _PLOT * horizontal.place(value)
        parts += [f'<path d="M{x:.1f} {floor}v5" stroke="#444444"/>', _text(x, floor + 19, label, anchor="middle")]
    middle = top + _HEIGHT / 2
    parts.append(
        f'<text x="22" y="{middle}" font-size="12" text-anchor="middle" fill="#444444" transform="rotate(-90 22 {middle})">{escape(unit)}</text>'
    )
    parts.append(_text(_LEFT + _PLOT / 2, floor + 38, name, anchor="middle", color="#444444"))
    return parts


# ---- what is in the panels


def _colors(names: list[str]) -> dict[str, str]:
    more = 0
    found = {}
    for name in dict.fromkeys(names):
        found[name] = _COLORS.get(name) or _MORE_COLORS[more % len(_MORE_COLORS)]
        more += name not in _COLORS
    return found


def _legend(colors: dict[str, str], top: int) -> tuple[list[str], int]:
    """As many rows as the names need; and where the last one ends."""
    parts, x = [], float(_LEFT)
    for name, color in colors.items():
        shown = name if len(name) <= 40 else name[:39] + "…"
        width = 14 + _CHARACTER * 12 * len(shown) + 18
        if x > _LEFT and x + width > _LEFT + _PLOT:
            x, top = float(_LEFT), top + 20
        parts += [f'<rect x="{x:.1f}" y="{top - 9}" width="10" height="10" fill="{color}"/>', _text(x + 14, top, shown)]
        x += width
    return parts, top


def _means(seconds: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """In ms, of neighbours where there are more steps than columns."""
    parts = np.array_split(1e3 * np.asarray(seconds), min(len(seconds), _COLUMNS_MAX))
    return np.array([part.mean() for part in parts])


def _stack(top: int, scale: Axis, steps: Steps, colors: dict[str, str]) -> list[str]:
    """A path for each phase, between the sum of those below it and that sum with it."""
    below = np.zeros(min(len(steps.by_phase), _COLUMNS_MAX))
    edges = _LEFT + _PLOT * np.arange(len(below) + 1) / len(below)
    parts = []
    for phase in steps.phases:
        above = below + _means(steps.seconds(phase.name))
        outline = [(x, level) for i, level in enumerate(above) for x in edges[i : i + 2]]
        outline += [(x, below[i]) for i in range(len(below) - 1, -1, -1) for x in edges[i : i + 2][::-1]]
        points = " ".join(f"{x:.1f},{top + _HEIGHT * (1 - scale.place(float(level))):.1f}" for x, level in outline)
        parts.append(
            f'<polygon points="{points}" fill="{colors[phase.name]}"><title>{escape(phase.name)}</title></polygon>'
        )
        below = above
    return parts


def bins_of(least: float, most: float, count: int) -> npt.NDArray[np.float64]:
    """Edges of round width: about the root of so many times, so that a few steps are not alone in forty bins."""
    wanted = min(max(math.ceil(math.sqrt(count)), _BINS_MIN), _BINS_MAX)
    if most - least < 1e-3 * max(most, 1e-9):  # all the same: one bin around them
        middle = (least + most) / 2
        least, most = middle * 0.95, middle * 1.05 if middle > 0 else 1.0
    width = round_step(most - least, wanted)
    first, last = math.floor(least / width + 1e-9), math.ceil(most / width - 1e-9)
    return np.array([width * number for number in range(first, max(last, first + 1) + 1)], np.float64)


def _histogram(top: int, kinds: list[tuple[str, Steps]]) -> list[str]:
    """Lines, so that two of them can lie over each other."""
    totals = [np.sum([steps.seconds(phase.name) for phase in steps.phases], axis=0) * 1e3 for _, steps in kinds]
    edges = bins_of(
        min(float(one.min()) for one in totals),
        max(float(one.max()) for one in totals),
        min(len(one) for one in totals),
    )
    counts = [np.histogram(np.clip(one, edges[0], edges[-1]), edges)[0] for one in totals]
    highest = max(int(one.max()) for one in counts)
    every = max(1, round(round_step(highest, 5)))  # of steps, there are no halves
    end = every * math.ceil(highest / every)
    vertical = Axis(0.0, float(end), [(float(number), f"{number:,}") for number in range(0, end + 1, every)])
    horizontal = Axis(float(edges[0]), float(edges[-1]), ticks(float(edges[0]), float(edges[-1]), 10))
    parts = _panel(top, "how many steps took how long", vertical, "steps", horizontal, "ms")
    for (title, _), one, color in zip(kinds, counts, _KIND_COLORS):
        bins = "".join(f"V{top + _HEIGHT * (1 - vertical.place(count)):.1f}h{_PLOT / len(one):.2f}" for count in one)
        parts.append(
            f'<path d="M{_LEFT} {top + _HEIGHT}{bins}V{top + _HEIGHT}" fill="none" stroke="{color}" stroke-width="2"><title>{escape(title)}</title></path>'
        )
    if len(kinds) > 1:
        x = float(_LEFT)
        for (title, _), color in zip(kinds, _KIND_COLORS):
            parts += [
                f'<path d="M{x:.1f} {top + _HEIGHT + 54}h18" stroke="{color}" stroke-width="2"/>',
                _text(x + 24, top + _HEIGHT + 58, title),
            ]
            x += 24 + _CHARACTER * 12 * len(title) + 24
    return parts


def _text(x: float, y: float, words: str, size: int = 12, anchor: str = "start", color: str = "black") -> str:
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    fill = "" if color == "black" else f' fill="{color}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{where}{fill}>{escape(words)}</text>'
