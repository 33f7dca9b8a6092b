"""Locks between processes: one at a time, and the generations that are read (src/reader/README.md)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def take_turn(path: Path) -> IO[bytes] | None:
    """Returns the turn, or None while another process has it.

    It ends when the file is closed, by this process and all that have inherited it, however they end.
    """
    file = open(path, "ab")  # noqa: SIM115  the caller closes it
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextlib.contextmanager
def kept(index: Path) -> Iterator[None]:
    """Keeps builders from collecting the files of the generation with this index."""
    with open(index, "rb") as file:
        with contextlib.suppress(OSError):  # no locks here, or a builder collects: a check will find it
            _lock(file.fileno(), fcntl.F_RDLCK)
        yield


def is_kept(index: Path) -> bool:
    """Tells whether somebody reads the generation with this index."""
    with open(index, "r+b") as file:
        try:
            _lock(file.fileno(), fcntl.F_WRLCK)
        except OSError:
            return True
    return False


def _lock(descriptor: int, kind: int) -> None:
    # A lock of the open file, as the C++ reader takes it. lockf() takes one of the process, which
    # ends when any other opening of the file is closed.
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))
