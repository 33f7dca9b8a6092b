"""Starts xtts-draw, the program that makes pictures, and takes one from it."""

from __future__ import annotations

import json
import subprocess
import warnings
from pathlib import Path
from typing import Any

from .._base.errors import InternalError, ResourceError, UnsupportedError

PROGRAM = Path(__file__).parent.with_name("xtts-draw")
_OWN_WORDS = "xtts-draw: "  # how the program's own lines begin: libraries write to stderr, too


def draw(figure: dict[str, Any], kind: str) -> bytes:
    """Returns the picture of a figure.

    `figure` is as src/figure/README.md describes its JSON; `kind` is "png" or "svg". Warns of
    letters that no font of this machine has. Raises UnsupportedError where the installation has
    no xtts-draw or the machine no font, ResourceError where memory does not suffice, and
    InternalError where the program fails otherwise.
    """
    if not PROGRAM.is_file():
        raise UnsupportedError(
            "this installation of xtts_precompute cannot draw pictures: when it was built, Pango was missing. "
            "As root: apt-get install libpango1.0-dev; then install xtts-precompute again"
        )
    given = json.dumps(figure, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    try:
        done = subprocess.run([PROGRAM, kind], input=given, capture_output=True, check=False)
    except OSError as error:
        raise UnsupportedError(f"{PROGRAM} cannot be started: {error}") from error
    said = done.stderr.decode(errors="replace").splitlines()
    notes = [line.removeprefix(_OWN_WORDS) for line in said if line.startswith(_OWN_WORDS)]
    if done.returncode != 0 or not done.stdout:
        why = [*notes, *said, f"exit code {done.returncode}"][0]
        # The exit codes of src/draw/main.cpp; 127 is the system's loader, which lacks a library.
        kinds = {2: UnsupportedError, 3: ResourceError, 127: UnsupportedError}
        raise kinds.get(done.returncode, InternalError)(f"no picture could be drawn ({PROGRAM}): {why}")
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return done.stdout
