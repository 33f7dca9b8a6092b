"""Reads a request as JSON from stdin, measures, and prints the answer as JSON.

Request: {"files": [path, ...], "sample_rate", "n_fft", "hop", "win", "n_mels", "trims", "workers",
"seconds", "rounds"}. Answer: {"format": 1, "version", "one": [clips/s, ...], "all": [clips/s, ...], "workers",
"failed": {"suffix": count}}, a number for each round; or {"format": 1, "missing": reason}. Where
NumPy has threads of its own: also {"single_threaded": {"setting": "NAME=1", "all": [clips/s, ...]}},
the same workers without them.
"""

from __future__ import annotations

from ..answering import answer
from .measure import measure

answer(measure)
