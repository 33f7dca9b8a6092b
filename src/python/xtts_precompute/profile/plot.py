"""Turns a ProfileReport into a figure, which xtts_advise/picture draws (its README.md says what a figure is).

From top to bottom: a panel of the steps with real data, one of the steps with data for free, and
one that counts steps by their time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from xtts_advise.picture.plot import round_step

from .text import utilization

if TYPE_CHECKING:
    from .report import ProfileReport, Steps

_COLUMNS_MAX = 400  # more steps are drawn as the means of neighbours
_BINS_MIN, _BINS_MAX = 5, 40
_COLOURS = {
    "data": "vermilion",  # the one that warns
    "to_device": "orange",
    "forward": "blue",
    "loss": "purple",
    "backward": "sky",
    "optimizer": "green",
    "other": "grey",
}
_MORE_COLOURS = ("yellow", "violet", "brown", "teal")
_KIND_COLOURS = ("ink", "green")


def figure(report: ProfileReport) -> dict[str, Any]:
    """Returns the figure of a report."""
    count = len(report.real.by_phase)
    kinds = [("real data", report.real)]
    if report.synthetic:
        kinds.append(("the same batch again and again: data for free", report.synthetic))
    stacks = [[_means(steps.seconds(phase.name)) for phase in steps.phases] for _, steps in kinds]
    end = round_up(max(float(np.sum(stack, axis=0).max()) for stack in stacks), 5)
    colours = _colours([phase.name for _, steps in kinds for phase in steps.phases])
    panels = [_steps_panel(name, steps, stack, end, colours) for (name, steps), stack in zip(kinds, stacks)]
    return {
        "title": f"{count:,} step{'' if count == 1 else 's'}, mean {report.real.times.mean_ms:,.1f} ms",
        "aside": f"waiting for data {100 * report.data_share:.1f} %, variation {100 * report.variation:.1f} %"
        + ("" if report.gpu is None or report.gpu.utilization is None else f", GPU busy {utilization(report.gpu)}"),
        "panels": [*panels, _histogram_panel(kinds)],
    }


def round_up(most: float, count: int) -> float:
    """Returns the first round number that is not below `most`, for an axis of about `count` labels."""
    most = most if most > 0 else 1.0
    step = round_step(most / count)
    return step * math.ceil(most / step - 1e-9)


def bins_of(least: float, most: float, count: int) -> npt.NDArray[np.float64]:
    """Returns the edges of bins of a round width.

    There are about as many bins as the root of `count`, so that a few steps are not alone in forty.
    """
    wanted = min(max(math.ceil(math.sqrt(count)), _BINS_MIN), _BINS_MAX)
    if most - least < 1e-3 * max(most, 1e-9):  # all the same: one bin around them
        middle = (least + most) / 2
        least, most = middle * 0.95, middle * 1.05 if middle > 0 else 1.0
    width = round_step((most - least) / wanted)
    first, last = math.floor(least / width + 1e-9), math.ceil(most / width - 1e-9)
    return np.array([width * number for number in range(first, max(last, first + 1) + 1)], np.float64)


def _colours(names: list[str]) -> dict[str, str]:
    """Gives a phase of the user's own a colour that no other phase has, as long as there is one."""
    free = [*_MORE_COLOURS, *(colour for name, colour in _COLOURS.items() if name not in names), "ink"]
    own = [name for name in dict.fromkeys(names) if name not in _COLOURS]
    return {**_COLOURS, **{name: free[number % len(free)] for number, name in enumerate(own)}}


def _means(seconds: list[float]) -> npt.NDArray[np.float64]:
    """Returns times in ms; of neighbours, their mean, where there are more steps than columns."""
    parts = np.array_split(1e3 * np.asarray(seconds), min(len(seconds), _COLUMNS_MAX))
    return np.array([part.mean() for part in parts])


def _steps_panel(
    kind: str, steps: Steps, stack: list[npt.NDArray[np.float64]], end: float, colours: dict[str, str]
) -> dict[str, Any]:
    count = len(steps.by_phase)
    shared = "" if count <= _COLUMNS_MAX else f", {_COLUMNS_MAX} means of neighbours"
    columns = [
        {"name": phase.name, "colour": colours[phase.name], "values": values.tolist()}
        for phase, values in zip(steps.phases, stack)
    ]
    return {
        "title": f"Time of each step, {kind}{shared}",
        "width": 800,
        "height": 210,
        "x": {"name": "step", "low": 0.5, "high": count + 0.5, "counts_things": True},
        "y": {"name": "ms", "low": 0, "high": end},
        "columns": columns,
    }


def _histogram_panel(kinds: list[tuple[str, Steps]]) -> dict[str, Any]:
    totals = [np.sum([steps.seconds(phase.name) for phase in steps.phases], axis=0) * 1e3 for _, steps in kinds]
    least, most = min(float(one.min()) for one in totals), max(float(one.max()) for one in totals)
    edges = bins_of(least, most, min(len(one) for one in totals))
    counts = [np.histogram(np.clip(one, edges[0], edges[-1]), edges)[0] for one in totals]
    outlines = [
        {"name": name, "colour": colour, "values": one.tolist()}
        for (name, _), one, colour in zip(kinds, counts, _KIND_COLOURS)
    ]
    highest = max(int(one.max()) for one in counts)
    return {
        "title": "How many steps took how long",
        "width": 800,
        "height": 210,
        "x": {"name": "ms", "low": float(edges[0]), "high": float(edges[-1])},
        "y": {"name": "steps", "low": 0, "high": max(round_up(highest, 5), 1), "counts_things": True},
        "outlines": outlines,
    }
