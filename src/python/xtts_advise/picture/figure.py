"""Draws a figure (README.md): its titles, then its panels, one below the other."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from .plot import BAR_END, BESIDE, LEVEL_NAME_MAX, LINE, draw_plot, vertical_ticks, widest
from .svg import Svg, shown, width_of

_MARGIN = 16.0
_BETWEEN_PANELS = 22.0
_FONTS = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans Arabic', Vazirmatn, 'DejaVu Sans', sans-serif"
# Colours that the colour-blind tell apart (Okabe and Ito, and four more), on light and dark paper.
_COLOURS = {
    "blue": "#0072b2", "vermilion": "#d55e00", "green": "#009e73", "orange": "#e69f00", "sky": "#56b4e9",
    "purple": "#cc79a7", "grey": "#a0a0a5", "yellow": "#d6c828", "violet": "#7f5fa8", "brown": "#8c6d31",
    "teal": "#3b6e5a",
}  # fmt: skip
_LIGHT = {"paper": "#ffffff", "ink": "#222228", "small": "#60606b", "tick": "#60606b", "axis": "#dedee3"}
_DARK = {"paper": "#18181b", "ink": "#e8e8ec", "small": "#a8a8b2", "tick": "#a8a8b2", "axis": "#3a3a40"}


def draw(figure: dict[str, Any]) -> str:
    """Returns an SVG, which has dark colours for readers who prefer dark pages."""
    panels = figure["panels"]
    margins = [_margins(panel) for panel in panels]
    left = math.ceil(_MARGIN + max(one for one, _ in margins))
    width = left + max(panel["width"] for panel in panels) + math.ceil(max(one for _, one in margins) + _MARGIN)
    out, previous = Svg(), None
    y = _draw_titles(out, figure, width)
    for panel in panels:
        legend = _legend(panel)
        y = _draw_panel(out, panel, [] if legend == previous else legend, left, y, width) + _BETWEEN_PANELS
        previous = legend
    size = f"{width:.0f} {math.ceil(y - _BETWEEN_PANELS + _MARGIN)}"
    return _document(figure, size, out.svg)


def _margins(panel: dict[str, Any]) -> tuple[float, float]:
    """Returns the room left and right of the plot."""
    left = widest(vertical_ticks(panel["y"], panel["height"])) + BESIDE
    right = [BESIDE, *(BESIDE + min(width_of(level["name"]), LEVEL_NAME_MAX) for level in panel.get("levels", []))]
    if heat_map := panel.get("heat_map"):
        right.append(BAR_END + BESIDE + widest(vertical_ticks(heat_map, panel["height"])))
    return left, max(right)


def _draw_titles(out: Svg, figure: dict[str, Any], width: float) -> float:
    aside = figure.get("aside", "")
    room = width - 2 * _MARGIN
    beside = min(width_of(aside) * 12 / 11 + _MARGIN if aside else 0.0, 0.6 * room)
    out.text(width - _MARGIN, _MARGIN + 14, aside, "small aside", "end", beside)
    title = out.lines(_MARGIN, _MARGIN, room - beside, figure.get("title", ""), "ink title", 16)
    y = _MARGIN + max(title, LINE if aside else 0)
    return y + out.lines(_MARGIN, y + 3, room, figure.get("subtitle", ""), "ink name", 13) + 10


def _draw_panel(
    out: Svg, panel: dict[str, Any], legend: list[tuple[str, str, str]], left: float, y: float, width: float
) -> float:
    """Returns where the panel ends."""
    y += out.lines(_MARGIN, y, width - 2 * _MARGIN, panel.get("title", ""), "ink name", 13)
    y = _draw_legend(out, legend, left, y, panel["width"])
    top = round(y + LINE + 4)  # the names of the vertical axes are in this line
    return top + draw_plot(out, panel, left, top)


def _legend(panel: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Returns the name, the colour and the kind of all that has one; nothing where the title says what it is."""
    entries = [
        (series.get("name", ""), series["colour"], kind)
        for kind in ("columns", "outlines")
        for series in panel.get(kind, [])
    ]
    return entries if len(entries) > 1 else []


def _draw_legend(out: Svg, entries: list[tuple[str, str, str]], left: float, y: float, width: float) -> float:
    """Takes as many rows as the names need, and returns where they end."""
    x = left
    for name, colour, kind in entries:
        mark, height = (10.0, 10.0) if kind == "columns" else (18.0, 2.0)
        name_width = min(width_of(name), 0.4 * width)
        if x > left and x + mark + 5 + name_width > left + width:
            x, y = left, y + LINE
        out.rect(x, y + LINE / 2 - height / 2, mark, height, colour)
        out.text(x + mark + 5, y + LINE / 2 + 4, name, "ink", room=name_width + 1)
        x += mark + 5 + name_width + 14
    return y + (LINE if entries else 0)


def _document(figure: dict[str, Any], size: str, content: str) -> str:
    width, height = size.split()
    words = "".join(
        f"<{tag}>{escape(shown(text))}</{tag}>\n"
        for tag, text in (("title", figure.get("title", "")), ("desc", figure.get("subtitle", "")))
        if text
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {size}">\n'
        f'{words}<style>{_style()}</style>\n<rect width="100%" height="100%" class="paper"/>\n{content}\n</svg>\n'
    )


def _style() -> str:
    def rules(colours: dict[str, str]) -> str:
        return "".join(f".{name}{{color:{colour}}}" for name, colour in colours.items())

    return (
        "image{image-rendering:pixelated}rect,path{fill:currentColor}"
        f"text{{fill:currentColor;font-size:11px;font-family:{_FONTS}}}"
        ".title{font-size:15px;font-weight:bold}.name{font-size:13px}.aside{font-size:12px}"
        ".axis,.tick{stroke:currentColor;shape-rendering:crispEdges}.crisp{shape-rendering:crispEdges}"
        ".outline{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linejoin:round}"
        f"{rules({**_LIGHT, **_COLOURS})}\n@media (prefers-color-scheme: dark){{{rules(_DARK)}}}"
    )
