"""Starts xtts-draw, the program that makes pictures, and takes one from it."""

from __future__ import annotations

import json
import subprocess
import warnings
from pathlib import Path
from typing import Any

from .._base.errors import InternalError, UnsupportedError

PROGRAM = Path(__file__).parent.with_name("xtts-draw")
_OWN_WORDS = "xtts-draw: "  # how the program's own lines begin: libraries write to stderr, too


def draw(figure: dict[str, Any], kind: str) -> bytes:
    """Returns the picture of a figure.

    `figure` is as src/figure/README.md describes its JSON; `kind` is "png" or "svg". Warns of
    letters that no font of this machine has. Raises UnsupportedError where the installation has
    no xtts-draw, and InternalError where it fails.
    """
    if not PROGRAM.is_file():
        raise UnsupportedError(
            "this installation of xtts_precompute cannot draw pictures: when it was built, Pango was missing. "
            "As root: apt-get install libpango1.0-dev; then install xtts-precompute again"
        )
    done = subprocess.run([PROGRAM, kind], input=json.dumps(figure).encode(), capture_output=True, check=False)
    said = done.stderr.decode(errors="replace").splitlines()
    notes = [line.removeprefix(_OWN_WORDS) for line in said if line.startswith(_OWN_WORDS)]
    if done.returncode != 0 or not done.stdout:
        why = [*notes, *said, f"exit code {done.returncode}"][0]
        raise InternalError(f"no picture could be drawn ({PROGRAM}): {why}")
    for note in notes:
        warnings.warn(note, stacklevel=4)
    return done.stdout
