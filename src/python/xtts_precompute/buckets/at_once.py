"""Transfers side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

_AT_ONCE = 8

Progress = Callable[[int, int], None]


def at_once(calls: Iterable[Callable[[], None]]) -> None:
    """Makes the calls, eight at a time. After a failure, the calls that have not begun are not made."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        running = [threads.submit(call) for call in calls]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            threads.shutdown(cancel_futures=True)
    for one in running:
        if not one.cancelled():
            one.result()


class Tally:
    """Adds up bytes, and tells them. Synchronised inside."""

    def __init__(self, total_bytes: int, progress: Progress | None) -> None:
        self._lock = threading.Lock()
        self._done_bytes = 0
        self._total_bytes = total_bytes
        self._progress = progress

    def add(self, size_bytes: int) -> None:
        with self._lock:
            self._done_bytes += size_bytes
            if self._progress is not None:
                self._progress(self._done_bytes, self._total_bytes)
