#!/usr/bin/env python3
"""`verify` at each level beside sha256sum and xxhsum over the same files, in turn, in one run.

    verify_vs_sums.py BINARY CACHE [--rounds R] [--data DATA] [--sample 1%]

All read what the page cache holds; one round before does not count. Each runs on one processor, and
`verify` also with two threads. Prints medians of wall time, bytes a second, and the ratio to xxhsum
-H3, the hash that we use too. `deep` runs only with --data.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path


def seconds(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("cache")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data")
    parser.add_argument("--sample", default="1%")
    arguments = parser.parse_args()

    files = sorted(
        str(path) for path in Path(arguments.cache).rglob("*") if path.is_file() and path.name != "sources.bin"
    )
    total = sum(Path(path).stat().st_size for path in files)
    verify = [arguments.binary, "verify", arguments.cache, "--quiet"]
    one = ["taskset", "-c", "0"]
    contestants = {
        "verify --level quick": [*one, *verify, "--level", "quick"],
        "verify (full)": [*one, *verify],
        "verify (full), two threads": [*verify, "-j2"],
        "xxhsum -H3": [*one, "xxhsum", "-H3", *files],
        "xxhsum -H2": [*one, "xxhsum", "-H2", *files],
        "sha256sum": [*one, "sha256sum", *files],
    }
    if arguments.data:
        contestants[f"verify --level deep --sample {arguments.sample}, two threads"] = [
            *verify,
            "-j2",
            "--level",
            "deep",
            "--sample",
            arguments.sample,
            "--data",
            arguments.data,
        ]

    taken = {name: [] for name in contestants}
    for round_number in range(arguments.rounds + 1):
        for name, command in contestants.items():
            spent = seconds(command)
            if round_number > 0:
                taken[name].append(spent)

    print(f"{len(files)} files, {total / 1e6:.0f} MB")
    reference = statistics.median(taken["xxhsum -H3"])
    for name, spent in taken.items():
        median = statistics.median(spent)
        print(f"| {name} | {median * 1000:.0f} ms | {total / median / 1e9:.2f} GB/s | {reference / median:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
