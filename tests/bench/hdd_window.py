#!/usr/bin/env python3
"""Windowed epochs on a simulated rotating disk (hdd_model.cpp), beside reading in order.

    hdd_window.py BUILD FOLDER [--caches N] [--rate MB/s] [--seek ms] [--only NAME,...]

BUILD is a build folder of the preset `bench`. The caches are in FOLDER, or are made there (1.05 GB
each). Every measurement begins with a fresh mount, whose page cache is empty, and takes epochs as
epoch_bench does. Ranks are processes that begin together. Files of FOLDER are read into memory
first, so that the disk below does not count. Needs /dev/fuse and the right to lock memory.

    sequential  all files of the caches, one after the other, 1 MiB at a time: the limit. It shows
                what the model itself costs: the model's busy time is what the disk needs
    window      runs of 32 MiB, 16 a window: the defaults
    small       runs of 8 MiB, 16 a window
    paced       the defaults, with a consumer that works 15 % longer for a batch than the disk needs
                for one (one rank) or two (two ranks)
    border      two epochs of the defaults, and a page cache of 1,200 MiB, first in first out: how
                long the second epoch's first batch takes. The rest of it says little: such a memory
                forgets what it holds of a window before the window uses it. A kernel spares what is
                in use
    global      every clip anywhere, 30 batches of a rank

MB/s are those of all ranks together, in batches handed out, over the time of the slowest rank,
from before it opens the caches to the end of its epoch. The share is of the sequential limit,
which is measured before everything else, and once more at the end. Beside it stands the share of
the time that the disk itself was busy; other work on the machine does not change it. The model
runs at the highest priority, where it may. std/mean, p50 and p99 are of the times from one batch
to the next.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCH = 32


class Disk:
    """hdd_model, which stays mounted in the `with` block."""

    def __init__(self, arguments, *more):
        self.mountpoint = tempfile.mkdtemp(prefix="hdd-")
        self.command = [
            arguments.programs / "hdd_model",
            arguments.folder,
            self.mountpoint,
            "--rate",
            str(arguments.rate),
            "--seek",
            str(arguments.seek),
            *map(str, more),
        ]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, self.process.pid, -20)  # a disk does not wait for a processor
        for _ in range(500):
            if os.path.ismount(self.mountpoint):
                return self
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        sys.exit("no mount: " + self.process.stderr.read())

    def counters(self):
        """Gives what the disk did since the last call."""
        self.process.send_signal(signal.SIGUSR1)
        line = self.process.stderr.readline()
        while not line.startswith("{"):
            print(line, end="", file=sys.stderr)
            line = self.process.stderr.readline()
        return json.loads(line)

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()
        os.rmdir(self.mountpoint)


def files_of(folder, caches):
    return [path for name in caches for path in sorted(Path(folder, name).rglob("*")) if path.is_file()]


def read_all(paths):
    buffer = bytearray(1 << 20)
    total = 0
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while got := file.readinto(buffer):
                total += got
    return total


def measure_epochs(arguments, disk, world, options):
    """Gives the epochs of each rank, and what the disk did."""
    command = [
        arguments.programs / "epoch_bench",
        *(os.path.join(disk.mountpoint, name) for name in arguments.names),
        "--world",
        world,
        *options,
    ]
    ranks = [
        subprocess.Popen([*map(str, command), "--rank", str(rank)], stdout=subprocess.PIPE, text=True)
        for rank in range(world)
    ]
    outputs = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("epoch_bench failed")
    return [[json.loads(line) for line in output.splitlines()] for output in outputs], disk.counters()


def row(name, epochs_of_ranks, epoch, counters, limit, limit_busy_s_per_byte):
    ranks = [epochs[epoch] for epochs in epochs_of_ranks]
    seconds = max(rank["seconds"] for rank in ranks)
    samples = sum(rank["samples"] for rank in ranks) / seconds
    speed = sum(rank["bytes"] for rank in ranks) / seconds / 1e6
    worst = max(ranks, key=lambda rank: rank["ms_p99"])
    disk = " | | | | "
    if counters is not None:
        handed_out = sum(epoch["bytes"] for epochs in epochs_of_ranks for epoch in epochs)
        share = handed_out * limit_busy_s_per_byte / counters["busy_s"]
        disk = (
            f"{counters['requests']} | {counters['seeks']} | {counters['bytes'] / 1e6:.0f} | "
            f"{counters['busy_s']:.2f} | {100 * share:.1f} %"
        )
    print(
        f"| {name} | {samples:.0f} | {speed:.1f} | {100 * speed / limit:.1f} % | {seconds:.2f} | "
        f"{max(rank['first_batch_s'] for rank in ranks):.2f} | {worst['ms_mean']:.1f} | "
        f"{worst['ms_std'] / max(worst['ms_mean'], 1e-9):.2f} | "
        f"{worst['ms_p50']:.1f} | {worst['ms_p99']:.1f} | {disk} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--caches", type=int, default=4)
    parser.add_argument("--rate", type=float, default=150)
    parser.add_argument("--seek", type=float, default=10)
    parser.add_argument("--only", default="window,small,paced,border,global")
    arguments = parser.parse_args()
    arguments.programs = arguments.build / "tests" / "bench"
    arguments.names = [str(number) for number in range(arguments.caches)]
    subprocess.run([arguments.programs / "hdd_caches", arguments.folder, str(arguments.caches)], check=True)
    paths = files_of(arguments.folder, arguments.names)
    wanted = arguments.only.split(",")

    def sequential():
        read_all(paths)
        with Disk(arguments) as disk:
            begin = time.monotonic()
            total = read_all(files_of(disk.mountpoint, arguments.names))
            seconds = time.monotonic() - begin
            counters = disk.counters()
        limit = total / seconds / 1e6
        print(
            f"sequential: {total / 1e6:.0f} MB in {len(paths)} files, {seconds:.2f} s, "
            f"{limit:.1f} MB/s; the disk was busy {counters['busy_s']:.2f} s of it, "
            f"with {counters['seeks']} seeks and {counters['requests']} requests of "
            f"{counters['bytes'] / counters['requests'] / 1024:.0f} KiB on average",
            flush=True,
        )
        return limit, counters["busy_s"] / total

    print(f"disk of {arguments.rate:g} MB/s and {arguments.seek:g} ms a seek")
    limit, busy_s_per_byte = sequential()
    print(
        "\n| | samples/s | MB/s | of sequential | s | first batch, s | ms a batch | std/mean | p50 | "
        "p99 | requests | seeks | MB read | busy, s | of the busy time |"
    )
    print("|" + "---|" * 15)

    def run(name, world, options, model=()):
        read_all(paths)
        with Disk(arguments, *model) as disk:
            epochs, counters = measure_epochs(arguments, disk, world, options)
        count = len(epochs[0])
        for epoch in range(count):
            label = f"{name}, {world} rank{'s' if world > 1 else ''}" + (f", epoch {epoch}" if count > 1 else "")
            row(label, epochs, epoch, counters if epoch == count - 1 else None, limit, busy_s_per_byte)

    def pace(world):
        return ["--pace", f"{1.15 * world * BATCH * 256.8e3 / (arguments.rate * 1e3):.2f}"]

    for world in (1, 2):
        if "window" in wanted:
            run("window", world, [])
        if "small" in wanted:
            run("window, runs of 8 MiB", world, ["--stretch", "32"])
        if "paced" in wanted:
            run("window, paced", world, pace(world))
        if "border" in wanted:
            run("window, border", world, [*pace(world), "--epochs", "2"], ["--memory", "1200"])
        if "global" in wanted:
            run("global", world, ["--shuffle", "global", "--batches", "30"])
    print()
    sequential()


if __name__ == "__main__":
    main()
