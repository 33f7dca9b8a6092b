#!/usr/bin/env python3
"""kill_ray.py [COUNT] [SEED]: kills nodes, drivers, workers and builders of a Ray cluster on this machine.

Makes a corpus of 700 clips (shards of 8) and a cache of it, undisturbed. Then does COUNT (50) times, on
three nodes:
builds it by seven parts on the cluster, and kills at one to four random moments

  a node: its raylet with SIGKILL, as a machine that is switched off; another one joins
  the driver, with SIGKILL; the same command goes on
  a worker of Ray, as the kernel does where memory is out
  a builder, or it is stopped (SIGSTOP) until the end, as on a node that hangs: its part runs twice

Then compares: the merged parts must be the undisturbed cache, byte for byte; OUT must hold nothing
else; no process may be left; and no part may have been begun more often than it was killed. Prints
where kills have hit, and the work that was done twice. Exit code 1 at any difference.

Run it with a Python that has Ray and this package (PYTHONPATH=build/python-in-place).
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import make_clips
from ray.cluster_utils import Cluster
from xtts_precompute._build.tools import program

CLIPS, SOUNDS, PARTS, NODES = 700, 20, 7, 3
# A record may have 16 MiB, so eight make a shard.
OPTIONS = ["--layout", "packed", "--set", "max_frames=52428", "--max-rejects", "10%"]


def make_corpus(folder):
    """Makes clips of 40 s. Most are further names of a few files, which spares the disk."""
    make_clips.make_corpus(folder, range(SOUNDS), seconds=40)
    names = [make_clips.name_of(number) for number in range(CLIPS)]
    for number in range(SOUNDS, CLIPS):
        os.link(f"{folder}/wavs/{names[number % SOUNDS]}.wav", f"{folder}/wavs/{names[number]}.wav")
    os.remove(f"{folder}/metadata.csv")
    make_clips.write_list(folder, range(CLIPS), {})


def files_of(cache):
    """Maps name -> bytes of every file except sources.bin, which is local."""
    found = {path.relative_to(cache): path for path in pathlib.Path(cache).rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in found.items() if name.name != "sources.bin"}


def builders_of(out):
    """Maps the process of each builder at work on OUT to its part."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            words = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0") if entry.isdigit() else []
        except OSError:
            continue
        scratch = [word for word in words if word.startswith(f"{out}/scratch/".encode())]
        if scratch and words[1:2] == [b"build"]:
            found[int(entry)] = int(scratch[0].rsplit(b"/", 1)[1].split(b".")[0])
    # A builder's child has its command line until it becomes a decoder.
    return {pid: part for pid, part in found.items() if parent_of(pid) not in found}


def parent_of(pid):
    """Gives the number of the parent process; 0: the process has ended."""
    try:
        return int(pathlib.Path("/proc", str(pid), "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


class Trial:
    """One build, and what is killed meanwhile."""

    def __init__(self, cluster, nodes, data, out, chance):
        self.cluster, self.nodes, self.data, self.out, self.chance = cluster, nodes, data, out, chance
        self.hits, self.problems = [], []
        self.killed_parts = 0
        self.stopped = []
        self.begun = {}  # process of a builder -> its part

    def start(self):
        command = [sys.executable, "-m", "xtts_precompute.ray", "build", self.data, self.out, "--parts", str(PARTS)]
        command += ["--cpus-per-part", "1", "--address", self.cluster.address, "--json", *OPTIONS]
        self.driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def watch(self, until):
        while time.monotonic() < until and self.driver.poll() is None:
            self.begun.update(builders_of(self.out))
            time.sleep(0.02)

    def kill(self):
        """Kills something, and tells what."""
        builders = builders_of(self.out)
        kind = self.chance.choice(["node", "node", "driver", "driver", "worker", "builder", "hang"])
        if kind in ("worker", "builder", "hang") and not builders:
            kind = "driver"
        self.hits.append(f"{kind}, {len(builders)} builders at work")
        if kind == "node":
            node = self.nodes.pop(self.chance.randrange(len(self.nodes)))
            self.killed_parts += len(builders)  # those of the node, which is not known from here
            self.cluster.remove_node(node, allow_graceful=False)
            self.nodes.append(self.cluster.add_node(num_cpus=1))
        elif kind == "driver":
            self.killed_parts += len(builders)
            self.driver.kill()
            self.driver.communicate()
            time.sleep(self.chance.choice([0.0, 0.0, 0.5, 3.0]))
            self.start()
        else:
            builder = self.chance.choice(list(builders))
            pid = parent_of(builder) if kind == "worker" else builder
            self.killed_parts += 1
            if kind == "hang":
                self.stopped.append(pid)
            try:
                # The worker may be dead, and the parent be init.
                os.kill(pid, 0 if pid <= 1 else signal.SIGSTOP if kind == "hang" else signal.SIGKILL)
            except ProcessLookupError:
                self.hits[-1] = f"{kind}, too late"

    def run(self, duration_s):
        self.start()
        moments = sorted(
            self.chance.uniform(0.15, 1.1) * duration_s for _ in range(self.chance.choice([1, 2, 2, 3, 4]))
        )
        began = time.monotonic()
        for moment in moments:
            self.watch(began + moment)
            if self.driver.poll() is not None:
                break
            self.kill()
        self.watch(time.monotonic() + 300)
        if self.driver.poll() is None:
            self.problems.append("the driver does not end")
            self.driver.kill()
        told, errors = self.driver.communicate()
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        if self.stopped:
            time.sleep(5)
        if self.driver.returncode != 0:
            self.problems.append(f"the driver ended with {self.driver.returncode}: {told[-2000:]} {errors[-2000:]}")
            return {}
        return json.loads(told)

    def check(self, expected):
        folder = pathlib.Path(self.out)
        there = sorted(str(path.relative_to(folder)) for path in folder.glob("*"))
        if there != ["parts", "plan", "set.json"]:
            self.problems.append(f"OUT holds {there}")
        parts = sorted(os.listdir(folder / "parts"))
        if parts != [f"{part:04}" for part in range(1, PARTS + 1)]:
            self.problems.append(f"parts are {parts}")
        for part in parts:
            if (folder / "parts" / part / ".build").exists():
                self.problems.append(f"part {part} has a .build")
        left = builders_of(self.out)
        if left:
            self.problems.append(f"builders are left: {left}")
        merged = folder.with_name("merged")
        done = subprocess.run(
            [program(), "merge", merged, *OPTIONS[-2:], *(folder / "parts" / part for part in parts)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            self.problems.append(f"merge: {done.stderr}")
        elif files_of(merged) != expected:
            self.problems.append("the merged cache has other bytes")
        shutil.rmtree(merged, ignore_errors=True)
        again = sum(collections.Counter(self.begun.values()).values()) - PARTS
        if again > self.killed_parts:
            self.problems.append(f"{again} builders were begun again, and at most {self.killed_parts} killed")
        return again


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10_000)
    chance = random.Random(seed)
    work = pathlib.Path(tempfile.mkdtemp())
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(NODES)]
        data = str(work / "data")
        make_corpus(data)
        subprocess.run([program(), "build", data, work / "whole", *OPTIONS, "--quiet"], check=True)
        expected = files_of(work / "whole")
        undisturbed = Trial(cluster, nodes, data, str(work / "out"), chance)
        began = time.monotonic()
        undisturbed.start()
        undisturbed.watch(began + 300)
        undisturbed.driver.communicate()
        duration_s = time.monotonic() - began
        undisturbed.check(expected)
        assert not undisturbed.problems, undisturbed.problems
        print(f"seed {seed}: undisturbed in {duration_s:.1f} s, {len(expected)} files", flush=True)

        failed, kinds, again, killed, times = 0, collections.Counter(), 0, 0, []
        for number in range(1, count + 1):
            shutil.rmtree(work / "out")
            trial = Trial(cluster, nodes, data, str(work / "out"), chance)
            began = time.monotonic()
            told = trial.run(duration_s)
            times.append(time.monotonic() - began)
            again += trial.check(expected)
            killed += trial.killed_parts
            kinds.update(hit.split(",")[0] for hit in trial.hits)
            failed += bool(trial.problems)
            print(f"{number:3}: {times[-1]:5.1f} s, killed: {'; '.join(trial.hits)}", flush=True)
            for problem in trial.problems:
                print(f"     {problem}", flush=True)
            if told and told["clips"] != CLIPS:
                print(f"     the summary tells {told['clips']} clips", flush=True)
        print(
            f"{count} runs, {sum(kinds.values())} kills ({dict(kinds)}): {failed} differences; "
            f"{again} builders begun again, at most {killed} killed; {sum(times) / count:.1f} s a run"
        )
        return 1 if failed else 0
    finally:
        cluster.shutdown()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
