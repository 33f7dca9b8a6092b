"""Asks the program for numbers: `xtts-precompute probe WHAT ... --json`."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

from .words import Failure

_LIMIT_S = 60


class Program:
    handing_over: str | None = None
    """The program that handed this command over; None: the one on PATH answers."""

    def __init__(self) -> None:
        self._path = self.handing_over or shutil.which("xtts-precompute")

    def probe(self, *arguments: str) -> Any:
        if self._path is None:
            raise Failure("not_found", "no program xtts-precompute is on PATH: it knows the machine and the cache")
        try:
            done = subprocess.run(
                [self._path, "probe", *arguments, "--json"], capture_output=True, timeout=_LIMIT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure("resource", f"{self._path} probe: {error}") from None
        try:
            document = json.loads(done.stdout)
        except ValueError:
            raise Failure("internal", f"{self._path} probe: {done.stderr.decode(errors='replace').strip()}") from None
        if "error" in document:
            raise Failure(document["error"]["code"], document["error"]["message"])
        return document
