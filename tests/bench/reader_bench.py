#!/usr/bin/env python3
"""The workload of reader_bench.cpp, from Python.

    reader_bench.py FOLDER [ROUNDS [--threads N] [--beside PROGRAM]]

Reads 4,096 clips, [32, 800, 80] float32 and tokens, in a seeded order, and touches one byte a page.
FOLDER is the cache that reader_bench makes there. xtts_precompute must be installed. The page cache
is warm.

Touching is one strided reduction of NumPy a column: exclusive or, which needs no conversion (2,000
bytes of 2,000 pages in 20 us). `--beside build/bench/tests/bench/reader_bench` runs that program
before each round, with as many threads, and prints the ratio of the medians. Figures of one run can
be compared, those of two runs hardly.

The last table is Python alone: the cost of a batch whose columns nobody looks at, with the memory
copied (`global`) and in place (`none`).
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import xtts_precompute as xp

CLIPS, BATCH = 4096, 32
PAGE = 4096


def touch(array):
    return np.bitwise_xor.reduce(array.view(np.ndarray).reshape(-1).view(np.uint8)[::PAGE])


def touch_columns(batch):
    touch(batch.mel)
    touch(batch.tokens)


def epoch(reader, number, use):
    """Gives samples a second, and the times from one batch to the next in ms."""
    begin = last = time.perf_counter()
    reader.set_epoch(number)
    samples, times = 0, []
    for batch in reader:
        now = time.perf_counter()
        if samples:
            times.append(1e3 * (now - last))
        last = now
        use(batch)
        samples += batch.valid_count
        del batch
    return samples / (time.perf_counter() - begin), times


def cpp_rates(program, folder, threads):
    said = subprocess.run([program, folder, "3", str(threads)], capture_output=True, text=True, check=True).stdout
    return tuple(
        float(re.search(rf"^{name} +(\d+)", said, re.MULTILINE).group(1))
        for name in ("global, later epochs", "none, in place")
    )


def show(name, rates, times, cpp=()):
    mean, deviation = statistics.fmean(times), statistics.pstdev(times)
    ordered = sorted(times)
    p50, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    line = (
        f"{name:28} {statistics.median(rates):9.0f} samples/s   p50 {p50:.3f} ms, p99 {p99:.3f}, "
        f"std/mean {deviation / mean:.2f}"
    )
    if cpp:
        ratio = statistics.median(ours / theirs for ours, theirs in zip(rates, cpp))
        line += f"   {ratio:.2f} of C++ ({statistics.median(cpp):.0f})"
    print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("rounds", nargs="?", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beside", metavar="PROGRAM")
    chosen = parser.parse_args()
    if not os.path.exists(os.path.join(chosen.folder, "manifest.json")):
        sys.exit(f"there is no cache in {chosen.folder}: reader_bench {chosen.folder} makes it")

    cache = xp.open(chosen.folder)
    assert len(cache) == CLIPS and cache.columns["mel"].shape == (800, 80)
    options = {"batch_size": BATCH, "seed": 7, "threads": chosen.threads}
    copied, in_place = cache.reader(**options), cache.reader(**options, shuffle="none")
    first_rate, first_times = epoch(copied, 0, touch_columns)
    epoch(in_place, 0, touch_columns)
    results = {name: ([], []) for name in ("global", "none", "global, not looked at", "none, not looked at")}
    cpp = []
    for number in range(1, chosen.rounds + 1):
        if chosen.beside:
            cpp.append(cpp_rates(chosen.beside, chosen.folder, chosen.threads))
        for turn in range(3):  # as many epochs as the program's rounds
            for name, reader in (("global", copied), ("none", in_place)):
                for kind, use in ((name, touch_columns), (name + ", not looked at", lambda batch: None)):
                    rate, times = epoch(reader, 3 * number + turn, use)
                    results[kind][1].extend(times)
                    results[kind][0].append(rate)
    medians = {
        name: [statistics.median(rates[i : i + 3]) for i in range(0, len(rates), 3)]
        for name, (rates, _) in results.items()
    }
    show("global, first epoch", [first_rate], first_times)
    show("global, later epochs", medians["global"], results["global"][1], [rates[0] for rates in cpp])
    show("none, in place", medians["none"], results["none"][1], [rates[1] for rates in cpp])
    for name in ("global, not looked at", "none, not looked at"):
        show(name, medians[name], results[name][1])


if __name__ == "__main__":
    main()
