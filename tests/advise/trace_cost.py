"""What `trace` costs a training, in pairs: the same trainer with and without it, in turn.

    trace_cost.py --data FOLDER [--pairs 7] [--python PYTHON] [-- ARGUMENTS OF train_torch.py]

Prints the ratio of their steps (median, and the range of the pairs' middle half), and fails where the
batches' digests differ.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parents[1] / "src" / "python"
RESULT = re.compile(r"steps, ([0-9.]+) ms each, batches ([0-9a-f]+)")


def main() -> int:
    parser = argparse.ArgumentParser(description="What does trace cost?")
    parser.add_argument("--data", default=tempfile.gettempdir() + "/planted-corpus")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--trainer", default="train_torch.py")
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    program = [options.python, str(HERE / "planted" / options.trainer), "--data", options.data, "--digest"]
    program += options.arguments
    traced = [sys.executable, "-m", "xtts_advise", "trace", "-q", "--", *program]
    ratios = []
    for pair in range(options.pairs):
        order = (program, traced) if pair % 2 else (traced, program)
        results = {command[2]: step_of(command) for command in order}
        (with_ms, with_digest), (plain_ms, plain_digest) = results[traced[2]], results[program[2]]
        if with_digest != plain_digest:
            print(f"the batches differ: {with_digest} and {plain_digest}")
            return 1
        ratios.append(with_ms / plain_ms)
        print(f"pair {pair + 1}: {plain_ms:.1f} ms, with trace {with_ms:.1f} ms: {ratios[-1]:.3f}", flush=True)
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    print(f"with trace a step takes {middle:.3f} times as long ({low:.3f} to {high:.3f}); the same batches")
    return 0


def step_of(command: list[str]) -> tuple[float, str]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)} if "xtts_advise" in command else None
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    found = RESULT.search(done.stdout)
    if done.returncode or not found:
        sys.exit(f"{' '.join(command)} failed: {done.stderr[-500:]}")
    return float(found[1]), found[2]


if __name__ == "__main__":
    sys.exit(main())
