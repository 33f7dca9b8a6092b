"""Asks the program for numbers: `xtts-precompute probe WHAT ... --json`."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from types import FrameType
from typing import Any, NoReturn

from .words import Failure, visible

_LIMIT_S = 60


class Program:
    handing_over: str | None = None
    """The program that handed this command over; None: the one on PATH answers."""

    def __init__(self) -> None:
        self._path = self.handing_over or shutil.which("xtts-precompute")
        self.is_quiet = False

    def probe(self, *arguments: str) -> Any:
        """Asks what is known at once."""
        return _document(self._run(["probe", *arguments, "--json"], _LIMIT_S))

    def measure(self, *arguments: str) -> Any:
        """Asks what takes a while. The program tells its steps, its warnings and its failure by itself."""
        words = ["probe", *arguments, "--json", *(["--quiet"] if self.is_quiet else [])]
        before = signal.signal(signal.SIGTERM, _interrupt)
        child = subprocess.Popen([self._known_path(), *words], stdout=subprocess.PIPE)
        try:
            output, _ = child.communicate()
        except BaseException:
            child.terminate()  # it takes away what it has made
            child.wait()
            raise
        finally:
            signal.signal(signal.SIGTERM, before)
        if child.returncode == 130:
            raise KeyboardInterrupt
        return _document(subprocess.CompletedProcess(words, child.returncode, output, b""), is_told=True)

    def version(self) -> str:
        """Returns what --version prints."""
        return self._run(["--version"], _LIMIT_S).stdout.decode(errors="replace")

    def inform(self, message: str) -> None:
        if not self.is_quiet:
            sys.stderr.write(f"{visible(message)}\n")

    def warn(self, message: str) -> None:
        if not self.is_quiet:
            sys.stderr.write(f"warning: {visible(message)}\n")

    def _known_path(self) -> str:
        if self._path is None:
            raise Failure("not_found", "no program xtts-precompute is on PATH: it knows the machine and the cache")
        return self._path

    def _run(self, words: list[str], limit_s: float) -> subprocess.CompletedProcess[bytes]:
        path = self._known_path()
        try:
            return subprocess.run([path, *words], capture_output=True, timeout=limit_s, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure("resource", f"{path} {words[0]}: {error}") from None


def _document(done: subprocess.CompletedProcess[bytes], is_told: bool = False) -> Any:
    try:
        document = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode(errors="replace").strip() or f"it ended with {done.returncode}"
        raise Failure("internal", f"the program has no answer: {said}") from None
    if "error" in document:
        raise Failure(document["error"]["code"], document["error"]["message"], is_told)
    return document


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
