"""Makes a PNG of an SVG, by a program of this machine.

librsvg and Chromium set every script and know the style sheet; CairoSVG and ImageMagick's own reader do not, so nothing
is asked of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_LIMIT_S = 60.0
_SCALE = 2  # pixels a point, so that letters are sharp on today's screens
_SIGN = b"\x89PNG\r\n"


class NoPng(Exception):
    """No PNG could be made; says why, and what helps."""


def png_of(svg: str) -> bytes:
    """Returns the first PNG that one of the programs makes."""
    why = "this machine has neither rsvg-convert nor Chromium"
    for names, convert in ((("rsvg-convert",), _by_librsvg), (BROWSERS, _by_browser)):
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            continue
        try:
            png, said = convert(program, svg)
        except (OSError, subprocess.TimeoutExpired) as error:
            png, said = b"", str(error)
        if png.startswith(_SIGN):
            return png
        why = f"{program} failed: {said.strip()[-200:] or 'it wrote nothing'}"
    raise NoPng(f"{why} (as root: apt-get install librsvg2-bin)")


def _by_librsvg(program: str, svg: str) -> tuple[bytes, str]:
    done = _run([program, f"--zoom={_SCALE}"], svg)
    return done.stdout, done.stderr.decode(errors="replace")


def _by_browser(program: str, svg: str) -> tuple[bytes, str]:
    width, height = svg.partition('viewBox="0 0 ')[2].partition('"')[0].split()
    with tempfile.TemporaryDirectory(prefix="xtts-picture-") as folder:
        page, picture = Path(folder, "picture.svg"), Path(folder, "picture.png")
        page.write_text(svg, encoding="utf-8")
        options = ["--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", f"--user-data-dir={folder}"]
        options += ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses root otherwise
        options += [f"--force-device-scale-factor={_SCALE}", f"--window-size={width},{height}"]
        done = _run([program, *options, f"--screenshot={picture}", page.as_uri()])
        return picture.read_bytes() if picture.is_file() else b"", done.stderr.decode(errors="replace")


def _run(words: list[str], text: str = "") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, input=text.encode(), capture_output=True, check=False, timeout=_LIMIT_S)
