"""How a measurement gets its request and gives its answer, both as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # up to Python 3.8, Callable[...] cannot be evaluated
    from collections.abc import Callable


def answer(measure: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Reads the request from stdin, and prints what `measure` says of it."""
    request = json.load(sys.stdin)
    # Libraries print; only the answer may go to stdout.
    alone = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    json.dump(measure(request), alone)
    alone.close()
