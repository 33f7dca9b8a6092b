"""python -m xtts_advise.measure.frameworks [--timeout S] [--driver-cuda 12.4]: prints JSON."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import Any

from .probing import LIMIT_S, probe


def _end(*_: Any) -> None:
    sys.exit(128 + signal.SIGTERM)  # by way of the code that ends the children


def main() -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="frameworks", description="Runs TensorFlow, PyTorch and JAX, and times them.")
    parser.add_argument("--timeout", type=float, default=LIMIT_S, metavar="S", help="of all children together, in s")
    parser.add_argument("--driver-cuda", metavar="12.4", help="the newest CUDA that the driver runs, from nvidia-smi")
    options = parser.parse_args()
    if options.timeout <= 0:
        parser.error("--timeout needs a number above 0")
    # A folder named torch in the current folder is not the framework.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    signal.signal(signal.SIGTERM, _end)
    json.dump(probe(options.timeout, options.driver_cuda), sys.stdout)
    print()
    return 0


sys.exit(main())
