"""Reads a request as JSON from stdin, measures, and prints the answer as JSON.

Request: {"place": "train:loader"} or {"file": a trainer's loader.py, "config", "data", "scratch"}; beside it "folders"
(where Python finds the modules), "step_ms" (null: as long as a batch), "seconds" of a round, "rounds", and "sweeps":
whether other sizes and workers are timed, too.
Answer: {"format": 1, "batch_size", "workers" (null: not known), "note" (of the loader), "batch_ms": [...], "step_ms",
"with_step_ms": [...]}, a number for each round; or {"format": 1, "missing": reason}. With "sweeps", also "sweep":
{"rows", "recommended", "left_out"} of sweep.py, or {"missing": reason}.
"""

from __future__ import annotations

import os

from ..answering import answer
from .measure import measure

answer(measure)
os._exit(0)  # threads and workers of the loader may go on for ever
