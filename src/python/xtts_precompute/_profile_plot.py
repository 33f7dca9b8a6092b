"""A ProfileReport as a picture in SVG, written by hand: no package is needed, and every browser shows it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._profile_report import ProfileReport, Steps

_WIDTH, _LEFT, _PLOT, _HEIGHT, _GAP = 960, 70, 860, 220, 70
_COLUMNS_MAX = 430  # of two pixels; more steps are drawn as the means of neighbours
_BINS = 40
# Told apart by the colour-blind, too (Okabe and Ito), data in the one that warns.
_COLORS = {"data": "#d55e00", "to_device": "#e69f00", "forward": "#0072b2", "loss": "#cc79a7", "backward": "#56b4e9", "optimizer": "#009e73", "other": "#bbbbbb"}
_MORE_COLORS = ("#f0e442", "#7f5fa8", "#8c6d31", "#3b6e5a")


def draw(report: ProfileReport) -> str:
    """The whole file."""
    parts = [_text(_LEFT, 24, f"{len(report.real.by_phase):,} steps, mean {report.real.times.mean_ms:.1f} ms, variation {100 * report.variation:.1f} %, "
                              f"data {100 * report.data_share:.1f} %: {report.data_verdict}", size=15)]  # fmt: skip
    kinds = [("real data", report.real)] + ([("the same batch, data for free", report.synthetic)] if report.synthetic else [])
    most = max(float(np.sum([_means(steps.seconds(phase.name)) for phase in steps.phases], axis=0).max()) for _, steps in kinds)
    colors = _colors([phase.name for _, steps in kinds for phase in steps.phases])
    top = 70
    parts += _legend(colors)
    for title, steps in kinds:
        parts += [_text(_LEFT, top - 6, f"ms of each step, {title}"), *_scale(top, most), *_stack(top, most, steps, colors)]
        top += _HEIGHT + _GAP
    parts += [_text(_LEFT, top - 6, "how many steps took how long (ms)"), *_histogram(top, kinds)]
    height = top + _HEIGHT + 50
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _colors(names: list[str]) -> dict[str, str]:
    more = 0
    found = {}
    for name in dict.fromkeys(names):
        found[name] = _COLORS.get(name) or _MORE_COLORS[more % len(_MORE_COLORS)]
        more += name not in _COLORS
    return found


def _means(seconds: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """In ms, of neighbours where there are more steps than columns."""
    parts = np.array_split(1e3 * np.asarray(seconds), min(len(seconds), _COLUMNS_MAX))
    return np.array([part.mean() for part in parts])


def _stack(top: int, most: float, steps: Steps, colors: dict[str, str]) -> list[str]:
    """A path for each phase, between the sum of those below it and that sum with it."""
    below = np.zeros(min(len(steps.by_phase), _COLUMNS_MAX))
    edges = _LEFT + _PLOT * np.arange(len(below) + 1) / len(below)
    parts = []
    for phase in steps.phases:
        above = below + _means(steps.seconds(phase.name))
        outline = [(x, level) for i, level in enumerate(above) for x in edges[i : i + 2]]
        outline += [(x, below[i]) for i in range(len(below) - 1, -1, -1) for x in edges[i : i + 2][::-1]]
        points = " ".join(f"{x:.1f},{top + _HEIGHT * (1 - level / most):.1f}" for x, level in outline)
        parts.append(f'<polygon points="{points}" fill="{colors[phase.name]}"><title>{escape(phase.name)}</title></polygon>')
        below = above
    return parts


def _scale(top: int, most: float) -> list[str]:
    return [
        part
        for share in (0.0, 0.5, 1.0)
        for part in (
            f'<path d="M{_LEFT} {top + _HEIGHT * (1 - share):.1f}h{_PLOT}" stroke="#dddddd"/>',
            _text(_LEFT - 6, top + _HEIGHT * (1 - share) + 4, f"{most * share:.3g}", end=True),
        )
    ]


def _legend(colors: dict[str, str]) -> list[str]:
    step = _PLOT / max(len(colors), 1)
    return [
        part
        for i, (name, color) in enumerate(colors.items())
        for part in (f'<rect x="{_LEFT + i * step:.1f}" y="36" width="10" height="10" fill="{color}"/>', _text(_LEFT + i * step + 14, 45, name))
    ]


def _histogram(top: int, kinds: list[tuple[str, Steps]]) -> list[str]:
    """Lines, so that two of them can lie over each other."""
    totals = [np.sum([steps.seconds(phase.name) for phase in steps.phases], axis=0) * 1e3 for _, steps in kinds]
    least, most = min(float(one.min()) for one in totals), max(float(one.max()) for one in totals)
    edges = np.linspace(least, most if most > least else least + 1.0, _BINS + 1)
    counts = [np.histogram(one, edges)[0] for one in totals]
    highest = max(int(one.max()) for one in counts)
    parts = _scale(top, highest)
    for (title, _), one, color in zip(kinds, counts, ("#000000", "#009e73")):
        steps = "".join(f"V{top + _HEIGHT * (1 - count / highest):.1f}h{_PLOT / _BINS:.2f}" for count in one)
        parts.append(f'<path d="M{_LEFT} {top + _HEIGHT}{steps}" fill="none" stroke="{color}" stroke-width="2"><title>{escape(title)}</title></path>')
    parts += [_text(_LEFT + _PLOT * share, top + _HEIGHT + 18, f"{least + (edges[-1] - least) * share:.3g}") for share in (0.0, 0.5, 1.0)]
    named = " and ".join(f"{title} ({color})" for (title, _), color in zip(kinds, ("black", "green")))
    return [*parts, _text(_LEFT, top + _HEIGHT + 36, named)]


def _text(x: float, y: float, words: str, size: int = 12, end: bool = False) -> str:
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{anchor}>{escape(words)}</text>'
