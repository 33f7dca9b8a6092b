#!/usr/bin/env python3
"""How fast each reference makes its features: seconds of sound per second, on one core, from samples in memory.

    reference_speed.py CORPUS [--recipe NAME]... [--seconds 10] [--repeats 15]

The best of the repeats, so that a busy machine shows less; one thread each (torch and BLAS are told so, and the process is bound to one
core). Whisper's own recipe always transforms 30 s; the sound counted is what was given. Markdown on standard output.
"""

import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
    os.environ[variable] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import clips  # noqa: E402
import formulas  # noqa: E402
import numpy as np  # noqa: E402
import references  # noqa: E402


def speech(corpus, rate, seconds):
    """LJSpeech clips end to end, so many seconds of them; the peak is under 1 at every rate."""
    parts = [samples for path, samples, _ in clips.real(corpus, rate) if "/LJ" in path]
    return np.resize(np.concatenate(parts) * np.float32(0.9), int(seconds * rate))


def best_time(name, samples, repeats):
    references.run(name, samples)  # imports, filters, windows
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        references.run(name, samples)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--recipe", action="append", choices=list(formulas.RECIPES))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    print("| recipe | reference | × real time, one core |\n|---|---|---|")
    for name in options.recipe or references.available():
        samples = speech(options.corpus, formulas.RECIPES[name].rate, options.seconds)
        faster = options.seconds / best_time(name, samples, options.repeats)
        print(f"| {name} | {references.versions(name)} | {faster:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
