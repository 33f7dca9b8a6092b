"""A child process that tells its answer in parts, and is ended with all that it has started.

What the child told before it hung or crashed is kept. Its stdout and stderr are never the answer,
because frameworks print.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

PARTS_BYTES_MAX = 1 << 20
OUTPUT_BYTES_KEPT = 4096
# A process that waits for a driver or a network disk may outlive SIGKILL.
DEATH_S = 2.0

# The child imports this folder under a name of its own: the package around it may need modules
# that a user's Python lacks. The current folder is not searched.
_START = """
import importlib, os, sys, types
folder, tell, parent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if sys.path[:1] == [""]:  # not so if PYTHONSAFEPATH is set
    del sys.path[0]
os.set_inheritable(tell, False)
name = "xtts_framework_probe"
package = sys.modules[name] = types.ModuleType(name)
package.__path__ = [folder]
inside = importlib.import_module(name + ".inside")
inside.main(tell, parent, sys.argv[4], float(sys.argv[5]), float(sys.argv[6]))
"""


class Ended(NamedTuple):
    """How a child ended, and what it told before."""

    parts: dict[str, Any]
    failure: str | None  # None: the child told all
    timed_out: bool
    stage: str  # what it did last: "import"
    output: str  # the last lines that it printed
    read_s: float = 0.0  # the time that did not count


class _Streams:
    """The two pipes of a child: its parts, and what it prints."""

    def __init__(self, parts: int, output: int) -> None:
        self.parts = bytearray()
        self.output = bytearray()
        self._parts_end = parts
        self._selector = selectors.DefaultSelector()
        for end in (parts, output):
            os.set_blocking(end, False)
            self._selector.register(end, selectors.EVENT_READ)

    def read(self, wait_s: float) -> bool:
        """Reads once what is there; returns whether there was something."""
        if not self._selector.get_map():
            time.sleep(wait_s)
            return False
        had_some = False
        for key, _ in self._selector.select(wait_s):
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if not data:
                self._selector.unregister(key.fd)
                continue
            had_some = True
            if key.fd != self._parts_end:
                self.output = (self.output + data)[-OUTPUT_BYTES_KEPT:]
            elif len(self.parts) < PARTS_BYTES_MAX:
                self.parts += data
        return had_some

    def close(self) -> None:
        self._selector.close()


class _ReadingTime:
    """The seconds in which a process has read from a disk: hundreds of MB for a framework's import."""

    _STEP_S = 0.5

    def __init__(self, process: int) -> None:
        self._path = f"/proc/{process}/io"
        self._seen = (time.monotonic(), 0)
        self._seconds = 0.0

    def seconds(self) -> float:
        """Returns the sum until now. Call it often."""
        now = time.monotonic()
        before, count = self._seen
        if now - before >= self._STEP_S:
            self._seen = (now, self._bytes())
            if self._seen[1] > count:
                self._seconds += now - before
        return self._seconds

    def _bytes(self) -> int:
        try:
            with open(self._path, encoding="ascii") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("read_bytes:"))
        except (OSError, StopIteration):  # not told here
            return 0


def run_child(task: str, limit_s: float, reading_s: float = 0.0) -> Ended:
    """Runs `inside.main()` for a task, and ends it and its process group after limit_s.

    Time in which it reads from a disk does not count, up to reading_s.
    """
    scratch = tempfile.mkdtemp(prefix="xtts-frameworks-")
    try:
        return _run(task, limit_s, reading_s, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(task: str, limit_s: float, reading_s: float, scratch: str) -> Ended:
    begin = time.monotonic()
    tell_read, tell_write = os.pipe()
    arguments = [os.path.dirname(os.path.abspath(__file__)), str(tell_write), str(os.getpid()), task]
    arguments += [str(limit_s), str(reading_s)]
    try:
        child = subprocess.Popen(
            [sys.executable or "python3", "-B", "-c", _START, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(tell_write,),
            env=_environment(scratch),
            start_new_session=True,
        )
    except OSError as error:
        os.close(tell_read)
        os.close(tell_write)
        return Ended({}, f"no child process could be started: {error}", False, "start", "")
    os.close(tell_write)
    assert child.stdout is not None
    streams = _Streams(tell_read, child.stdout.fileno())
    reading = _ReadingTime(child.pid)
    read_s = 0.0
    try:
        timed_out = False
        # WNOWAIT: while nobody has waited for the child, its number is not given to another
        # process group, so the signal below reaches no stranger.
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            read_s = min(reading.seconds(), reading_s)
            if time.monotonic() >= begin + limit_s + read_s:
                timed_out = True
                break
            streams.read(0.05)
        code = _kill(child)
        end = time.monotonic() + 1.0
        while streams.read(0.0) and time.monotonic() < end:
            pass
    except BaseException:
        _kill(child)
        raise
    finally:
        streams.close()
        child.stdout.close()
        os.close(tell_read)
    return _ended(streams, None if timed_out else code, limit_s + read_s)._replace(read_s=read_s)


def _kill(child: subprocess.Popen[bytes]) -> int | None:
    """Ends the process group; returns the child's code, or None if it cannot be ended now."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
        return child.wait(DEATH_S)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        return None


def _environment(scratch: str) -> dict[str, str]:
    environment = dict(os.environ)
    # The user may be training: take no more of the GPU's memory than is needed.
    environment.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    environment.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    # Compilers leave files. They go with the child.
    environment["TMPDIR"] = scratch
    environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(scratch, "inductor")
    environment["TRITON_CACHE_DIR"] = os.path.join(scratch, "triton")
    return environment


def _ended(streams: _Streams, code: int | None, waited_s: float) -> Ended:
    parts: dict[str, Any] = {}
    stage = "start"
    for line in bytes(streams.parts).split(b"\n")[:-1]:
        try:
            name, value = json.loads(line)
        except ValueError:
            continue
        if name == "stage":
            stage = str(value)
        else:
            parts[str(name)] = value
    output = bytes(streams.output).decode("utf-8", "replace").strip()
    told_all = bool(parts.pop("done", False))
    if told_all:  # what happens at the interpreter's end is no matter
        return Ended(parts, None, False, stage, output)
    if code is None:
        failure = f"it was still busy with '{stage}' after {waited_s:.0f} s"
    elif code < 0:
        failure = f"it was ended by {_signal_name(-code)} in '{stage}'"
    else:
        last = output.splitlines()[-1] if output else ""
        failure = f"its process ended in '{stage}' with exit code {code}" + (f": {last}" if last else "")
    return Ended(parts, failure, code is None, stage, output)


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def die_with(parent: int) -> None:
    """Ends this process when its parent ends, and lets a crash write no core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)
