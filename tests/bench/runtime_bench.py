#!/usr/bin/env python3
"""Clips that are computed when they are asked for, beside a build of the same clips.

    runtime_bench.py DATA [ROUNDS [--copies N] [--workers 1,2]]

Gives seconds of sound a second, and a second of processor time (of this process and those that
decode for it). xtts_precompute must be installed.

DATA is a folder of WAV files, without lists. Each file stands N times in a folder of hard links, so
that a round takes seconds. A round has three parts, in turn: a build into a new cache in memory
(/dev/shm); an epoch of `xp.runtime(...).reader()` in batches of 32; and every clip by itself in the
calling thread, `clips[i]`. Figures of one run can be compared, those of two runs hardly. The last
columns are ratios to the build of the same round. Each figure says how much of the processors other
work took.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import tempfile
import time

import quiet
import xtts_precompute as xp


def linked(data, copies, folder):
    for sound in sorted(pathlib.Path(data).rglob("*.wav")):
        for number in range(copies):
            (folder / f"{number:03d}-{sound.name}").hardlink_to(sound)


def build(folder, workers, work):
    return xp.build(folder, work / "cache", threads=workers, progress=False).sound_seconds


def batches(clips, workers):
    with clips.reader(batch_size=32, shuffle="global", drop_last=False, threads=workers) as reader:
        hop_s = 256 / 22050
        return sum(int(batch.mel_len.sum()) for batch in reader) * hop_s


def one_by_one(clips):
    return sum(clip.duration_s for clip in clips)


def processor_seconds():
    times = os.times()
    waited_for = times.children_user + times.children_system
    return waited_for + quiet.ticks_of({os.getsid(0)}) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--workers", default="1,2")
    arguments = parser.parse_args()
    # Processor time is counted by session, and the leader of a group cannot begin a session.
    child = os.fork()
    if child:
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.setsid()
    with (
        tempfile.TemporaryDirectory(dir=pathlib.Path(arguments.data).resolve().parent) as links,
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
    ):
        folder, work = pathlib.Path(links), pathlib.Path(memory)
        linked(arguments.data, arguments.copies, folder)
        print(f"{'':18}{'x real time':>12}{'a core':>9}{'others':>8}   of the build: {'wall':>6}{'core':>6}")
        for workers in map(int, arguments.workers.split(",")):
            clips = xp.runtime(folder, workers=workers, progress=False)
            ways = {"build": (build, folder, workers, work), "reader": (batches, clips, workers)}
            if workers == 1:
                ways["clips[i]"] = (one_by_one, clips)
            rounds = {name: [] for name in ways}
            for _ in range(arguments.rounds + 1):  # the first round warms up
                for name, (call, *given) in ways.items():
                    watch = quiet.Watch({os.getsid(0)})
                    before, begin = processor_seconds(), time.perf_counter()
                    sound_s = call(*given)
                    elapsed, used = time.perf_counter() - begin, processor_seconds() - before
                    rounds[name].append((sound_s / elapsed, sound_s / used, watch.share()))
                    shutil.rmtree(work / "cache", ignore_errors=True)
            for name, results in rounds.items():
                results = results[1:]
                wall, core, others = (statistics.median(column) for column in zip(*results))
                of_build = [(r[0] / b[0], r[1] / b[1]) for r, b in zip(results, rounds["build"][1:])]
                walls, cores = (statistics.median(column) for column in zip(*of_build))
                print(
                    f"{name + f', {workers} threads':18}{wall:12.0f}{core:9.0f}{others:8.0%}"
                    f"                 {walls:6.2f}{cores:6.2f}"
                )


main()
