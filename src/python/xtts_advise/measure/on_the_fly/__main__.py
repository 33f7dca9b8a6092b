"""Reads a request as JSON from stdin, measures, and prints the answer as JSON.

Request: {"files": [path, ...], "sample_rate", "n_fft", "hop", "win", "n_mels", "trims", "workers",
"seconds", "rounds"}. Answer: {"format": 1, "version", "one": [clips/s, ...], "all": [clips/s, ...], "workers",
"failed": {"suffix": count}}, a number for each round; or {"format": 1, "missing": reason}. Where
NumPy has threads of its own: also {"single_threaded": {"setting": "NAME=1", "all": [clips/s, ...]}},
the same workers without them.
"""

from __future__ import annotations

import json
import os
import sys

from .measure import measure


def main() -> int:
    """Runs the measurement; returns the exit code."""
    request = json.load(sys.stdin)
    # Libraries print; only the answer may go to stdout.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    json.dump(measure(request), answer)
    answer.close()
    return 0


sys.exit(main())
