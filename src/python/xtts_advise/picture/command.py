"""`picture svg|png < FIGURE > PICTURE`: xtts-precompute starts it for its own pictures (cli/picture_files.cpp)."""

from __future__ import annotations

import json
import sys

from .figure import draw
from .png import NoPng, png_of


def main(words: list[str]) -> int:
    """Writes a PNG, or else the SVG and, to stderr, why there is no PNG."""
    svg = draw(json.load(sys.stdin.buffer))
    picture = svg.encode()
    if words == ["png"]:
        try:
            picture = png_of(svg)
        except NoPng as why:
            print(why, file=sys.stderr)
    sys.stdout.buffer.write(picture)
    return 0
