"""The filler: a process that brings the shards of one copy, for all processes of the machine.

It listens at a socket beside the copy (src/reader/missing_file.hpp has the protocol). Shards that
readers ask for come first, the others in canonical order, eight at a time. So a reader that goes
through the cache by windows has its shards one window ahead, and the others meet what is there.

The filler has the copy's turn, which the process that starts it hands over. It ends when all is
there, when no process holds a connection to it any more, and when what is left has failed and nobody
asks for it. If it dies, readers that miss a shard raise ResourceError, and the next `xp.open()`
starts another one, which goes on.
"""

from __future__ import annotations

import collections
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .bucket import Bucket
from .copy import Copy
from .layout import MANIFEST, SET, Shard

_PROGRAM = ("-m", f"{__package__}.fill")
_AT_ONCE = 8
# A reader asks once more for each clip of a shard. What has failed so shortly ago fails again.
_FAILED_S = 10.0
_SIGN_S = 1.0  # between two signs of work
_IDLE_S = 5.0  # without a user, or without work, it ends
_NAME_BYTES_MAX = 65_536

# A connection for each copy that this process uses, as long as the process lives.
_used: dict[str, socket.socket] = {}
_started: list[subprocess.Popen[bytes]] = []


def socket_of(folder: Path) -> Path:
    return folder.with_name(folder.name + ".filler")


def start(url: str, folder: Path, turn: IO[bytes]) -> None:
    """Starts the filler of a copy, hands the turn over, and uses it."""
    path = socket_of(folder)
    path.unlink(missing_ok=True)  # of a filler that died: nobody else has the turn
    with socket.socket(socket.AF_UNIX) as listening, _short(path) as address:
        listening.bind(address)
        listening.listen(128)
        given = [listening.fileno(), turn.fileno()]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(
            [sys.executable, *_PROGRAM, url, str(folder), *map(str, given)],
            pass_fds=given,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # readers tell what went wrong
            start_new_session=True,  # Ctrl-C is for the reader
        )
        _started.append(process)
        join(folder)


def join(folder: Path) -> bool:
    """Tells the filler that this process uses the copy. False: there is no filler now."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        with _short(socket_of(folder)) as address:
            connection.connect(address)
        connection.sendall(b"\n")
    except OSError:
        connection.close()
        return False
    _used[str(folder)] = connection
    return True


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yields an address of a socket, which must be shorter than paths may be."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class Filler:
    """What the process does. Synchronised inside."""

    def __init__(self, url: str, folder: Path, listening: socket.socket) -> None:
        root = MANIFEST if (folder / MANIFEST).exists() else SET
        self._copy = Copy(Bucket(url), folder, root, (folder / root).read_bytes())
        self._folder = folder
        self._listening = listening
        missing = self._copy.missing_shards()
        self._changed = threading.Condition()  # guards what stands below
        self._missing = {shard.key: shard for shard in missing}
        self._later = collections.deque(shard.key for shard in missing)
        self._asked_for: collections.deque[str] = collections.deque()
        self._running: set[str] = set()
        self._failures: dict[str, tuple[float, str]] = {}  # when and how it failed last
        self._user_count = 0

    def run(self) -> None:
        """Returns when all shards are there, or nothing is to be done for anybody."""
        for work in (self._accept, *[self._bring] * _AT_ONCE):
            threading.Thread(target=work, daemon=True).start()
        idle_since = time.monotonic()
        with self._changed:
            while self._missing and time.monotonic() < idle_since + _IDLE_S:
                self._changed.wait(_SIGN_S)
                if self._user_count and (self._running or self._later or self._asked_for):
                    idle_since = time.monotonic()
            is_whole = not self._missing
        if is_whole:
            self._copy.end()

    def _bring(self) -> None:
        while True:
            with self._changed:
                while (key := self._next()) is None:
                    self._changed.wait()
                self._running.add(key)
                shard = self._missing[key]
            failure = self._failure_of(shard)
            with self._changed:
                self._running.remove(key)
                if failure is None:
                    del self._missing[key]
                else:
                    self._failures[key] = (time.monotonic(), failure)
                self._changed.notify_all()

    def _next(self) -> str | None:
        for keys in (self._asked_for, self._later):
            while keys:
                key = keys.popleft()
                if key in self._missing and key not in self._running:
                    return key
        return None

    def _failure_of(self, shard: Shard) -> str | None:
        try:
            self._copy.get(shard)
        except Exception as error:  # whatever it is, a reader is to tell it
            return str(error) or type(error).__name__
        return None

    def _accept(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError), connection.makefile("rb") as lines:
            key = os.fsdecode(lines.readline(_NAME_BYTES_MAX).removesuffix(b"\n"))
            if key:
                connection.sendall(self._answer_for(key, connection))
                return
            self._count_user(1)
            try:
                lines.read()  # returns when the user's process has ended
            finally:
                self._count_user(-1)

    def _count_user(self, change: int) -> None:
        with self._changed:
            self._user_count += change

    def _has_failed(self, key: str, since: float) -> bool:
        return key in self._failures and self._failures[key][0] >= since

    def _answer_for(self, key: str, connection: socket.socket) -> bytes:
        with self._changed:
            asked = time.monotonic()
            if key in self._missing and key not in self._running and not self._has_failed(key, asked - _FAILED_S):
                self._asked_for.append(key)
                self._changed.notify_all()
            while key in self._missing and not self._has_failed(key, asked - _FAILED_S):
                self._changed.wait(_SIGN_S)
                connection.sendall(b".")
            failure = self._failures[key][1] if key in self._missing else None
        if failure is None and not (self._folder / key).exists():
            failure = f"{key} is not of the generation that is there now: open the cache again"
        return b"o" if failure is None else b"e" + failure.encode()


def main() -> None:
    """Fills, for start()."""
    url, folder, listening, _ = sys.argv[1:]  # the turn is a descriptor that is only to stay open
    with socket.socket(fileno=int(listening)) as connections:
        Filler(url, Path(folder), connections).run()
    socket_of(Path(folder)).unlink(missing_ok=True)
