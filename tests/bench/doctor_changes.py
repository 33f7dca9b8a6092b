#!/usr/bin/env python3
"""Does the change that the doctor names bring what it says? NumPy's own threads in the workers.

    doctor_changes.py PROGRAM FOLDER [--only NAME,...] [--steps N]

For each set-up (format, workers) this script asks `PROGRAM doctor`, which may name a setting such as
OPENBLAS_NUM_THREADS=1 and how many times as many clips it brings. Then it trains on the fly, librosa
in a DataLoader, with and without the setting, each time in a new process, in rounds that take turns.
A step sleeps 5 ms, so the loader decides how fast training is. Corpora are those of
doctor_predictions.py, and so is what this needs.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import doctor_predictions as predictions

SETUPS = {
    f"{kind}-{workers}": (kind, workers) for kind in ("wav", "wav44", "flac", "mp3", "opus") for workers in (1, 2, 4)
}
STEP_MS = 5
ROUNDS = 5
# The settings that NumPy's libraries read, which this process may have from its user.
SETTINGS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")


def clean_environment():
    return {name: value for name, value in os.environ.items() if name not in SETTINGS}


def named_by_doctor(program, data, workers):
    """Returns the setting, and the range of its gain; None where the doctor names none."""
    command = [program, "doctor", "--data", data, "--step-ms", STEP_MS, "--workers", workers, "--batch-size",
               predictions.BATCH, "--train-on", "gpu", "--python", sys.executable, "--json"]  # fmt: skip
    answer = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, env=clean_environment())
    check = next(one for one in json.loads(answer.stdout)["checks"] if one["name"] == "real_run")
    for finding in check["findings"]:
        setting = re.search(r"[A-Z_]+_THREADS=1", finding["remedy"])
        if setting:
            low, high = re.search(r"([0-9.]+) to ([0-9.]+) times", finding["text"]).groups()
            return setting.group(), (float(low), float(high))
    return None


def train(data, workers, steps):
    """Prints the milliseconds of a step."""
    network = predictions.AsIfOnGpu(STEP_MS)
    batches = iter(predictions.on_the_fly(pathlib.Path(data), workers))
    print(predictions.ms_a_step(network, batches, steps, warmup=6))


def ms_a_step(data, workers, steps, setting):
    command = [sys.executable, __file__, "--train", data, str(workers), str(steps)]
    environment = clean_environment() | dict([setting.split("=")] if setting else [])
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return float(answer.stdout)


def run(name, arguments):
    kind, workers = SETUPS[name]
    data = predictions.corpus(arguments.folder, kind)
    named = named_by_doctor(arguments.program, data, workers)
    setting = named[0] if named else "OPENBLAS_NUM_THREADS=1"
    times = {"": [], setting: []}
    for _ in range(ROUNDS):
        for one, found in times.items():
            found.append(ms_a_step(data, workers, arguments.steps, one))
    now, changed = (statistics.median(found) for found in times.values())
    return named, now, changed


def main():
    if sys.argv[1:2] == ["--train"]:
        data, workers, steps = sys.argv[2:]
        train(data, int(workers), int(steps))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(SETUPS))
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print("| set-up | step now, ms | with the setting | times as fast | named by the doctor | within |")
    print("|---|---|---|---|---|---|")
    for name in arguments.only.split(","):
        named, now, changed = run(name, arguments)
        gain = now / changed
        if named:
            low, high = named[1]
            words = f"{named[0]}, {low} to {high} | {'yes' if low <= round(gain, 1) <= high else 'NO'}"
        else:
            words = "nothing | "
        print(f"| {name} | {now:.1f} | {changed:.1f} | {gain:.2f} | {words} |", flush=True)


if __name__ == "__main__":
    main()
