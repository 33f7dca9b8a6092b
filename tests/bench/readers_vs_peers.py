#!/usr/bin/env python3
"""Batches out of 4,096 clips by our reader and by the peers', alternating in one run.

    readers_vs_peers.py BUILD/tests/bench/reader_ours [--work build/peers] [--rounds 9]
        [--only EXPRESSION] [--package FOLDER]

Batches are [32, 800, 80] float32 and tokens, in a seeded order over all samples. The page cache is
warm, one byte a page of each batch is touched, and two processors work.

The script makes a virtual environment under --work and installs the peers there from PyPI. It says
what does not install, and why. torch brings several gigabytes. FFCV needs the Debian packages
libopencv-dev, libturbojpeg0-dev, pkg-config and g++. --package names the folder of the Python
package `xtts_precompute`, if it is not installed in that environment.

Each peer stores the same samples, some 9 GB altogether, and reads in a process of its own;
reader_by_hand.py and reader_loaders.py say how. First the process checks that its batches are the
samples. Then, in each round, every peer reads epochs for a quarter of a second, and ours just
before it. Ratios are the medians of such pairs.

A pair that other work disturbs is measured again, up to three times. It is left out if the reader
has three better ones. Times a batch are those of all rounds, without an epoch's first batch;
std/mean is the median of the rounds'.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import venv

import quiet
import reader_table
from reader_process import Failed, Process

# The packages in the order of their installation, each with the module that tells whether it is
# there.
PACKAGES = (
    ("numpy", ["numpy"]),
    ("pyarrow", ["pyarrow"]),
    ("lmdb", ["lmdb"]),
    ("h5py", ["h5py"]),
    ("spdl.pipeline", ["spdl-core"]),
    ("datasets", ["datasets"]),
    ("grain", ["grain"]),
    ("torch", ["torch"]),
    ("ffcv", ["setuptools", "pillow", "ffcv"]),
)
LEFT_OUT = {
    "MosaicML Streaming": "asks for older NumPy and huggingface_hub than the others' newest releases",
    "WebDataset": "has no seeded order over all samples, only a bounded shuffle",
    "litdata": "brings torchvision, boto3 and more; twenty times slower than FFCV where it was measured",
    "TensorFlow, lhotse": "slower than FFCV by four and more where they were measured",
}
WARM_ROUNDS, MEASURED_S, QUIET_SHARE = 1, 0.25, 0.05


def environment_of(folder, install):
    """Gives the interpreter of the environment, after installing what can be installed in it."""
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
            said = [
                line.strip()
                for line in (done.stderr + tried.stderr).splitlines()
                if "Error" in line or "Could not" in line
            ]
            print(f"did not install: {module} ({said[0] if said else 'pip failed'})", flush=True)
    return python


def start_peers(names, python, work, package):
    """Gives the peers that store, open and give the right batches. Names the others."""
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


def several_epochs(process, command, epoch):
    """Reads epochs for MEASURED_S and gives one answer for all."""
    whole = {"samples": 0, "seconds": 0.0, "epochs": 0, "batch_ms": []}
    while whole["seconds"] < MEASURED_S:
        answer = process.ask(f"{command} {epoch + whole['epochs']}".strip())
        for key, value in answer.items():
            whole[key] += value
        whole["epochs"] += 1
    return whole


def measure_pair(ours, process, command, epoch, patience_s):
    """Gives (the reader's answer, ours just before): of three tries, the one that other work
    disturbed least."""
    best = None
    for _ in range(3 if patience_s > 0 else 1):
        quiet.wait(patience_s)
        watch = quiet.Watch({ours.process.pid, process.process.pid})
        pair = several_epochs(ours, "global", epoch)
        answer = several_epochs(process, command, epoch)
        answer["others"] = watch.share()
        if best is None or answer["others"] < best[0]["others"]:
            best = answer, pair
        if answer["others"] <= QUIET_SHARE:
            break
    return best


def measure(ours, peers, rounds, patience_s):
    """Gives {name: [answers]} and {name: [our answers just before]}, by rounds."""
    results, beside = {}, {}
    for round_number in range(WARM_ROUNDS + rounds):
        is_warm = round_number >= WARM_ROUNDS
        readers = [(name, ours, command) for name, command in reader_table.OF_PROGRAM.items()]
        readers += [(name, process, "") for name, process in peers.items()]
        for name, process, command in readers:
            try:
                answer, pair = measure_pair(ours, process, command, 2 + 64 * round_number, patience_s if is_warm else 0)
            except Failed as failure:
                print(f"left out after all: {name} ({failure})", flush=True)
                peers.pop(name).close()
                continue
            if is_warm:
                results.setdefault(name, []).append(answer)
                beside.setdefault(name, []).append(pair)
        print(
            f"round {round_number + 1 - WARM_ROUNDS} of {rounds}" if is_warm else "warming up",
            file=sys.stderr,
            flush=True,
        )
    return results, beside


def keep_quiet(results, beside):
    """Keeps only the pairs that other work did not disturb, for readers with three or more."""
    for name, answers in results.items():
        chosen = [i for i, answer in enumerate(answers) if answer["others"] <= QUIET_SHARE]
        if len(chosen) >= 3:
            results[name] = [answers[i] for i in chosen]
            beside[name] = [beside[name][i] for i in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/peers"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="a regular expression: peers to measure")
    parser.add_argument("--package", type=pathlib.Path, help="the folder in which xtts_precompute lies")
    parser.add_argument(
        "--patience", type=float, default=5, help="seconds to wait for a quiet moment, before each pair"
    )
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
    results, beside = measure(ours, peers, arguments.rounds, arguments.patience)
    for process in (ours, *peers.values()):
        process.close()
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results, "beside": beside}))
    others = [answer["others"] for answers in results.values() for answer in answers]
    print(
        f"\n{arguments.rounds} rounds; other work took {statistics.median(others):.0%} of the processors "
        f"(median), more than"
        f" {QUIET_SHARE:.0%} beside {sum(share > QUIET_SHARE for share in others)} of {len(others)} pairs\n"
    )
    keep_quiet(results, beside)
    print(reader_table.table(results, beside))
    print(reader_table.verdict(results, beside))


if __name__ == "__main__":
    main()
