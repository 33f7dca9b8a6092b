"""One attempt at a part: what runs on a node of the cluster. It knows nothing of Ray."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from .._base.cores import usable_cores
from .._build.tools import program
from .folder import Folder, remove

BUSY = 5  # the exit code of a build in a folder where another builder is at work
_PR_SET_PDEATHSIG = 1
_MEMORY_MIN, _MEMORY_MAX = 2**29, 2**31  # the program's default is at most the latter


class Outcome(NamedTuple):
    """How an attempt has ended."""

    code: int
    """The program's exit code (docs/exit-codes.md); negative: the signal that has ended it."""
    message: str = ""

    @property
    def is_death(self) -> bool:
        """Whether a signal has ended the builder, or its node is gone."""
        return self.code < 0 or self.code > 128


def build_part(
    out: str,
    part: int,
    attempt: int,
    token: str,
    threads: int,
    memory: str | None,
    limits: Sequence[str],
    local: str | None,
) -> Outcome:
    """Builds and publishes the part, or goes on with what an earlier attempt of this number has left.

    Args:
        out: OUT.
        part: The part's number, from 1.
        attempt: 1, or 2 for a part that runs twice. Each has a scratch of its own.
        token: Begins the attempt's log, so that nobody takes it for an earlier one's.
        threads: Threads of the builder.
        memory: The builder's --memory. None: the share of its threads.
        limits: Options of how much may be lost. None: the plan's hold.
        local: A folder on the node's own disks to build in. None: the scratch in OUT.
    """
    folder = Folder(out)
    if folder.is_published(part):
        return Outcome(0)
    with folder.claim(part, attempt, token) as log:
        if log is None:
            return Outcome(BUSY, "another attempt is at work there")
        scratch = folder.scratch(part, attempt)
        if local:
            scratch = local_scratch(local, out, scratch.name)
        scratch.parent.mkdir(parents=True, exist_ok=True)
        outcome = _run(
            [
                *(str(program()), "build", "--part", str(folder.planned(part)), str(scratch), "--json"),
                *("-j", str(threads), "--memory", memory or _share_of_memory(threads)),
                *limits,
            ],
            log,
        )
        if outcome.code == 0:
            built = folder.copied(part, attempt, scratch) if local else scratch
            if not folder.publish(part, built):
                remove(built)
            remove(scratch)
        return outcome


def local_scratch(local: str, out: str, name: str) -> Path:
    """Returns the folder on a node's own disks. Many OUTs may share those, so it is named by OUT, too."""
    return Path(local, f"{name}-{_digest_of(out)}")


def collect_local(out: str, local: str) -> None:
    """Removes what attempts have left on this node's own disks, but nothing of one that is at work."""
    of_out = re.compile(rf"(\d+)\.(\d+)-\w+-{_digest_of(out)}")
    for path in Path(local).glob("*"):
        named = of_out.fullmatch(path.name)
        if named is None:
            continue
        with Folder(out).hold(int(named[1]), int(named[2])) as log:
            if log is not None:
                remove(path)


def _digest_of(out: str) -> str:
    return hashlib.sha256(os.path.abspath(out).encode()).hexdigest()[:16]


def _share_of_memory(threads: int) -> str:
    """Returns --memory: a builder takes a quarter of the machine's by itself, and here are several."""
    share = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * threads // usable_cores() // 2
    return str(max(_MEMORY_MIN, min(share, _MEMORY_MAX)))


def _run(command: list[str], log: IO[str]) -> Outcome:
    """Runs the builder. It ends with this process, and keeps the shards that it has finished."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=_end_with_parent
    ) as builder:
        try:
            out = _output_of(builder)
        except BaseException:  # Ray cancels by KeyboardInterrupt
            builder.terminate()
            raise
    return Outcome(builder.returncode, _message(out) if builder.returncode else "")


def _output_of(builder: subprocess.Popen[str]) -> str:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return builder.communicate(timeout=1.0)[0]  # Ray's KeyboardInterrupt does not end a system call


def _end_with_parent() -> None:
    """Has the kernel send SIGTERM when the thread that starts the builder ends: Ray's main thread."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _message(document: str) -> str:
    try:
        return str(json.loads(document)["error"]["message"])
    except (ValueError, LookupError):
        return ""
