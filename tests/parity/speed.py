#!/usr/bin/env python3
"""How fast each recipe's features are made, by us and by the reference, on one core.

    speed.py CORPUS --program build/bench/tests/parity/recipe_features [--recipe NAME]...
        [--seconds 10] [--repeats 15]

Prints Markdown: seconds of sound per second, from samples in memory. Figures are the best of the
repeats, so that a busy machine shows less; ours runs right after the reference's. Each has one
thread: torch and BLAS are told so, and both processes are bound to one core.

Ours includes what conditioning measures of each clip for its facts. Whisper's own recipe always
transforms 30 s; only the sound that was given counts.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

for variable in (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
):
    os.environ[variable] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import clips  # noqa: E402
import compare  # noqa: E402
import formulas  # noqa: E402
import numpy as np  # noqa: E402
import references  # noqa: E402


def speech(corpus, rate, seconds):
    """Joins LJSpeech clips to so many seconds. The peak is under 1 at every rate."""
    parts = [samples for path, samples, _ in clips.real(corpus, rate) if "/LJ" in path]
    return np.resize(np.concatenate(parts) * np.float32(0.9), int(seconds * rate))


def best_time(name, samples, repeats):
    references.run(name, samples)  # imports, filters and windows are not timed
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        references.run(name, samples)
        times.append(time.perf_counter() - start)
    return min(times)


def our_time(program, name, samples, repeats, folder):
    recipe, settings = compare.variants().get(name, (name, []))
    samples.tofile(folder / "in.f32")
    np.savetxt(folder / "norms.txt", formulas.XTTS_NORMS)
    command = [program, recipe, folder / "in.f32", folder / "out.f32"]
    for setting in settings:
        command += ["--set", setting.format(norms=folder / "norms.txt")]
    said = subprocess.run([*command, "--repeats", str(repeats)], capture_output=True, text=True, check=True).stdout
    return float(said.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--program", required=True)
    parser.add_argument("--recipe", action="append", choices=list(formulas.RECIPES))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    print("| recipe | reference | its × real time | ours | ours / its |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.recipe or references.available():
            if "+" in name and name not in compare.variants():
                continue
            samples = speech(options.corpus, formulas.RECIPES[name].rate, options.seconds)
            theirs = best_time(name, samples, options.repeats)
            ours = our_time(options.program, name, samples, options.repeats, Path(folder))
            print(
                f"| {name} | {references.versions(name)} | {options.seconds / theirs:,.0f} "
                f"| {options.seconds / ours:,.0f} |"
                f" {theirs / ours:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
