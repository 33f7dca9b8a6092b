#!/usr/bin/env python3
"""Batches out of 4,096 clips by our reader and by the peers', alternating in one run: [32, 800, 80] float32 and tokens, seeded
order over all samples, page cache warm, one byte a page of each batch touched, two processors.

    readers_vs_peers.py BUILD/tests/bench/reader_ours [--work build/peers] [--rounds 9] [--only EXPRESSION] [--package FOLDER]

Makes a virtual environment under --work and installs the peers there from PyPI; says what does not install, and why (torch
brings several gigabytes; FFCV needs the Debian packages libopencv-dev, libturbojpeg0-dev, pkg-config and g++). --package is
where the Python package `xtts_precompute` lies, if it is not installed in that environment.

Each peer (reader_by_hand.py and reader_loaders.py say how it is used) stores the same samples, some 9 GB altogether, and reads
in a process of its own, which is first asked whether its batches are the samples. Then, in each round, every peer reads an
epoch, and ours reads one just before it; ratios are the medians of such pairs. Times a batch are those of all rounds, without
an epoch's first batch; std/mean is a round's, the median.
"""
import argparse
import json
import os
import pathlib
import re
import select
import subprocess
import sys
import venv

import reader_table

# What is installed, in turn, and by which module it is known to be there.
PACKAGES = (("numpy", ["numpy"]), ("pyarrow", ["pyarrow"]), ("lmdb", ["lmdb"]), ("h5py", ["h5py"]), ("spdl.pipeline", ["spdl-core"]),
            ("datasets", ["datasets"]), ("grain", ["grain"]), ("torch", ["torch"]), ("ffcv", ["setuptools", "pillow", "ffcv"]))
LEFT_OUT = {
    "MosaicML Streaming": "asks for older NumPy and huggingface_hub than the others' newest releases",
    "WebDataset": "has no seeded order over all samples, only a bounded shuffle",
    "litdata": "brings torchvision, boto3 and more; thirty times slower than FFCV where it was measured",
    "TensorFlow, lhotse": "slower than FFCV and SPDL by four and more where they were measured",
}
WARM_EPOCHS = 2


class Failed(Exception):
    pass


class Process:
    """One reader; ask() sends a line and waits for the line of JSON that answers it."""

    def __init__(self, command, log, environment=None):
        self.log = log
        with open(log, "w") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                            env=environment)

    def answer(self, timeout_s=300):
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_s)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            said = self.log.read_text(errors="replace").strip().splitlines()
            raise Failed(said[-1] if said and ready else "no answer")
        return json.loads(line)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says why
        return self.answer()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()


def environment_of(folder, install):
    """The environment's interpreter, with what could be installed in it."""
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    for module, packages in PACKAGES:
        if not install or subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            continue
        print(f"installing {' '.join(packages)}", flush=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], capture_output=True, text=True)
        tried = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True)
        if tried.returncode != 0:
            said = [line.strip() for line in (done.stderr + tried.stderr).splitlines() if "Error" in line or "Could not" in line]
            print(f"did not install: {module} ({said[0] if said else 'pip failed'})", flush=True)
    return python


def start_peers(names, python, work, package):
    """Those that store, open and give the right batches; the others are named."""
    script = pathlib.Path(__file__).with_name("reader_worker.py")
    environment = dict(os.environ, PYTHONPATH=str(package.resolve())) if package else None
    running = {}
    for number, name in enumerate(names):
        process = Process([python, script, name, work], work / f"peer{number}.log", environment)
        try:
            about = process.answer(900)
            process.ask("check")
            running[name] = process
            print(f"ready: {name} {' '.join(about['modules'])}", flush=True)
        except Failed as failure:
            process.close()
            print(f"left out: {name} ({failure})", flush=True)
    return running


def start_ours(program, work):
    ours = Process([program, work / "cache"], work / "ours.log")
    if not (work / "mels.f32").exists():
        ours.ask(f"dump {work}/mels.part {work}/tokens.i32")
        (work / "mels.part").rename(work / "mels.f32")
    ours.ask("check")
    return ours


def measure(ours, peers, rounds):
    """{name: [answers]} and {name: [what ours took just before]}, by rounds."""
    results, beside = {}, {}

    def keep(name, answer, pair=None):
        results.setdefault(name, []).append(answer)
        if pair is not None:
            beside.setdefault(name, []).append(pair)

    for round_number in range(WARM_EPOCHS + rounds):
        epoch, is_warm = round_number + 2, round_number >= WARM_EPOCHS
        for name, command in reader_table.OF_PROGRAM.items():
            answer = ours.ask(f"{command} {epoch}")
            pair = ours.ask(f"global {epoch}")
            if is_warm:
                keep(name, answer, pair)
        for name in list(peers):
            pair = ours.ask(f"global {epoch}")
            try:
                answer = peers[name].ask(str(epoch))
            except Failed as failure:
                print(f"left out after all: {name} ({failure})", flush=True)
                peers.pop(name).close()
                continue
            if is_warm:
                keep(name, answer, pair)
        print(f"round {round_number + 1 - WARM_EPOCHS} of {rounds}" if is_warm else "warming up", file=sys.stderr, flush=True)
    return results, beside


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/peers"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="a regular expression: peers to measure")
    parser.add_argument("--package", type=pathlib.Path, help="the folder in which xtts_precompute lies")
    parser.add_argument("--no-install", action="store_true", help="with what the environment has")
    parser.add_argument("--json", type=pathlib.Path, help="every answer of every round")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:2]))
    arguments.work.mkdir(parents=True, exist_ok=True)
    python = environment_of(arguments.work / "env", not arguments.no_install)
    for name, reason in LEFT_OUT.items():
        print(f"left out: {name} ({reason})")

    ours = start_ours(arguments.program, arguments.work)
    names = [name for name in reader_table.PEERS if re.search(arguments.only, name)]
    peers = start_peers(names, python, arguments.work, arguments.package)
    load = os.getloadavg()[0]
    results, beside = measure(ours, peers, arguments.rounds)
    for process in (ours, *peers.values()):
        process.close()
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results, "beside": beside}))
    print(f"\n{arguments.rounds} rounds; load of the machine before them {load:.1f}, after {os.getloadavg()[0]:.1f}\n")
    print(reader_table.table(results, beside))
    print(reader_table.verdict(results, beside))


if __name__ == "__main__":
    main()
