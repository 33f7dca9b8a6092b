"""Pieces of an SVG, and texts that fit into their room.

Colours and sizes of letters are classes of a style sheet, which is not here. The reader's program sets the texts, in
every script that its fonts have; how wide they are is estimated, for a wide font.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math
import unicodedata
from html import escape

from ..words import visible

LETTERS_MAX = 2000  # of one text
_JOINERS = "\u200c\u200d"  # they shape Persian words, and turn nothing


@dataclasses.dataclass
class Svg:
    pieces: list[str] = dataclasses.field(default_factory=list)

    @property
    def svg(self) -> str:
        return "".join(self.pieces)

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        numbers = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
        self.pieces.append(f'<rect {numbers} class="{kind}"/>')

    def path(self, steps: str, kind: str) -> None:
        self.pieces.append(f'<path d="{steps}" class="{kind}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.path(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", kind)

    def text(
        self, x: float, y: float, text: str, kind: str = "", anchor: str = "start", room: float = math.inf
    ) -> None:
        """`room` is that of letters of 11 units."""
        self._write(x, y, fitting(text, room), f'class="{kind}" text-anchor="{anchor}"')

    def lines(self, x: float, y: float, width: float, text: str, kind: str, size: float) -> float:
        """Writes up to two lines and returns their height. Scripts that go leftwards begin at the right."""
        is_leftwards = next((c for c in map(unicodedata.bidirectional, text) if c in ("L", "R", "AL")), "L") != "L"
        kind = f'class="{kind}"' + (' direction="rtl"' if is_leftwards else "")
        texts = wrapped(text, width * 11 / size)
        for i, line in enumerate(texts):
            self._write(x + width * is_leftwards, y + (1.3 * i + 1) * size, line, kind)
        return 1.3 * size * len(texts)

    def _write(self, x: float, y: float, text: str, attributes: str) -> None:
        if text:
            self.pieces.append(f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(text)}</text>')


def shown(text: str) -> str:
    """Returns what a picture may say: no letter of it steers the reader, and XML allows all of them."""
    return "".join(c if c in _JOINERS else visible(c) for c in text[:LETTERS_MAX])


def width_of(text: str) -> float:
    return sum(map(_letter_width, shown(text)))


def fitting(text: str, room: float) -> str:
    """Returns the text, or its beginning and "…", no wider than `room`."""
    text = shown(text)
    ends = _ends(text)
    return text if not ends or ends[-1] <= room else text[: bisect.bisect_right(ends, room - 11)] + "…"


def wrapped(text: str, room: float) -> list[str]:
    """Returns one or two lines, none wider than `room`; none for no text."""
    text = shown(" ".join(text[:LETTERS_MAX].split()))
    ends = _ends(text)
    if not ends or ends[-1] <= room:
        return [text] if text else []
    most = max(bisect.bisect_right(ends, room), 1)
    end = text.rfind(" ", 1, most + 1)
    end = most if end < 0 else end
    return [text[:end], fitting(text[end:].lstrip(), room)]


def _ends(text: str) -> list[float]:
    return list(itertools.accumulate(map(_letter_width, text)))


def _letter_width(letter: str) -> float:
    """Of letters of 11 units in a wide font (DejaVu Sans). Other fonts need less room."""
    if letter in " ilj.,:;'|!I":
        return 3.6
    if letter in _JOINERS or unicodedata.combining(letter):
        return 0.0
    if letter >= "\u0800" or letter in "mwMW@%<>=+~":
        return 11.0
    return 8.0 if "A" <= letter <= "Z" else 7.0
