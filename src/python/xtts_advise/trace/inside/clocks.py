"""How long threads of this process have run, and have waited for a processor."""

import os


class Clocks:
    """Linux's schedstat: nanoseconds on a processor, nanoseconds in its queue."""

    def __init__(self):
        self._files = {}  # thread's identity in Python -> file descriptor
        self._last = {}

    def passed(self, identity, thread):
        """Seconds (run, queued) since the last call; (None, 0.0) where they are not known."""
        try:
            file = self._files.get(identity)
            if file is None:
                path = f"/proc/self/task/{thread}/schedstat"
                file = self._files[identity] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            run, queued, _ = os.pread(file, 64, 0).split()
        except (OSError, ValueError):
            self._forget(identity)
            return None, 0.0
        now = int(run) * 1e-9, int(queued) * 1e-9
        last = self._last.get(identity)
        self._last[identity] = now
        return (None, 0.0) if last is None else (now[0] - last[0], now[1] - last[1])

    def _forget(self, identity):
        self._last.pop(identity, None)
        file = self._files.pop(identity, None)
        if file is not None:
            os.close(file)

    def close(self):
        """In a child of a fork, the files are the parent's threads."""
        for identity in list(self._files):
            self._forget(identity)
