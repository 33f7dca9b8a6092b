"""Runs a module of measure/ in the Python that the user trains with, in a process with a time limit.

It needs that Python's standard library alone. A framework that hangs or crashes ends its process, not this one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..words import Failure

_OUTPUT_BYTES_MAX = 64 << 20
_GRACE_S = 3.0  # for a child to end its own children
_LOOK_S = 20.0
_ASK_VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3]); sys.exit(sys.version_info < (3, 8))"
# The folder stands under a name of its own: what lies beside it may be packages of another Python. -c instead of -m:
# the current folder is then not searched first, so no file there can take the place of a module of Python's.
_START = """
import runpy, sys, types
folder, module = sys.argv[1:3]
sys.path[:] = filter(None, sys.path)
package = sys.modules["xtts_measure"] = types.ModuleType("xtts_measure")
package.__path__ = [folder]
sys.argv[:3] = [module]
runpy.run_module("xtts_measure." + module, run_name="__main__", alter_sys=True)
"""


class NotMeasured(Exception):
    """Why a module gave no answer."""


class TrainersPython:
    def __init__(self, program: str, version: str, scratch: str) -> None:
        """scratch: where its files go, which go with the folder, whatever ends it."""
        self.version = version
        self._program, self._scratch = program, scratch

    def run(self, module: str, *arguments: str, request: Any = None, limit_s: float = 30) -> Any:
        """Returns the JSON document that the module prints."""
        folder = str(Path(__file__).resolve().parents[1] / "measure")
        words = [self._program, "-B", "-c", _START, folder, module, *arguments]
        return self._answer(words, request, f"the check '{module}' in Python", limit_s)

    def run_installed(self, module: str, *arguments: str, limit_s: float) -> Any:
        """The same of a module that is installed there, or lies in the current folder."""
        return self._answer([self._program, "-m", module, *arguments], None, module, limit_s)

    def _answer(self, words: list[str], request: Any, name: str, limit_s: float) -> Any:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            code = self._wait(words, json.dumps(request).encode(), output, errors, name, limit_s)
            if code:
                how = f"was ended by signal {-code}" if code < 0 else f"failed: {_last_line(errors)}"
                raise NotMeasured(f"{name} {how}")
            output.seek(0)
            try:
                return json.loads(output.read())
            except (ValueError, RecursionError):
                raise NotMeasured(f"{name} printed something else than JSON") from None

    def _wait(
        self, words: list[str], request: bytes, output: IO[bytes], errors: IO[bytes], name: str, limit_s: float
    ) -> int:
        with tempfile.TemporaryFile() as wish:
            wish.write(request)
            wish.seek(0)
            environment = {**os.environ, "TMPDIR": self._scratch}
            child = subprocess.Popen(
                words, stdin=wish, stdout=output, stderr=errors, env=environment, start_new_session=True
            )
        try:
            end = time.monotonic() + limit_s
            while time.monotonic() < end:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return child.wait(0.05)
                if os.fstat(output.fileno()).st_size + os.fstat(errors.fileno()).st_size > _OUTPUT_BYTES_MAX:
                    raise NotMeasured(f"{name} printed without end")
            raise NotMeasured(f"{name} took longer than {limit_s:g} s")
        finally:
            _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and what it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None or number == signal.SIGKILL:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE_S)


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it says nothing")


def find(python: str, scratch: str) -> TrainersPython:
    """python: a path, or a name on PATH; "": XTTS_PYTHON where it is set, else the first of python3 and python."""
    chosen = python or os.environ.get("XTTS_PYTHON", "")
    failure = Failure("not_found", "there is no Python on PATH")
    for candidate in [chosen] if chosen else ["python3", "python"]:
        if chosen or shutil.which(candidate):
            try:
                return TrainersPython(candidate, _version_of(candidate), scratch)
            except Failure as error:
                failure = error
    raise failure


def _version_of(python: str) -> str:
    try:
        done = subprocess.run(
            [python, "-c", _ASK_VERSION], stdin=subprocess.DEVNULL, capture_output=True, timeout=_LOOK_S, check=False
        )
    except OSError as error:
        raise Failure("not_found", f"the program {python} cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Failure("not_found", f"{python} does not start within {_LOOK_S:g} s") from None
    version = done.stdout.decode(errors="replace").strip()
    if done.returncode == 0:
        return version
    if version:
        raise Failure("not_found", f"{python} is Python {version}, and 3.8 is needed")
    said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2] or "it says nothing"
    raise Failure("not_found", f"{python} is no Python that starts: {said}")


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A new folder, which goes afterwards. Its lock says that it is in use.

    Where this process is killed, the next doctor takes it away (src/probe/scratch_folder.hpp).
    """
    path = tempfile.mkdtemp(prefix="xtts-doctor-")
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)
