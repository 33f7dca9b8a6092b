#!/usr/bin/env python3
"""Does the doctor find what is wrong, and nothing where nothing is?

    doctor_faults.py PROGRAM DATA [--healthy N]

Plants one fault after the other into a set-up that is healthy, and runs the real command. Prints
whether the check that should see it does, and the place of its remedy among the recommendations.
Then it runs the healthy set-up N times (20) beside a program that keeps one processor busy: no check
may fail. DATA: a folder of clips, such as doctor_predictions.py makes. Needs root for two faults (a
small /dev/shm, a full disk), which are left out otherwise.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PYTHON_IN_PIPELINE = """
import tensorflow as tf
def make(path): return path
train = tf.data.Dataset.list_files("x").map(
    lambda p: tf.numpy_function(make, [p], tf.float32), num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)
"""
EAGER = "import tensorflow as tf\ntf.config.run_functions_eagerly(True)\n"
NOT_COMPILED = """
import tensorflow as tf
def train_step(model, batch, optimizer):
    with tf.GradientTape() as tape:
        loss = model(batch)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
def train(model, batches, optimizer):
    for batch in batches:
        train_step(model, batch, optimizer)
"""
VARYING = """
import tensorflow as tf
@tf.function
def train_step(batch): return batch
train = tf.data.Dataset.list_files("x").padded_batch(8).prefetch(2)
for batch in train: train_step(batch)
"""
LIBROSA = """
import librosa
from torch.utils.data import DataLoader, Dataset
class Clips(Dataset):
    def __getitem__(self, index): return librosa.load(self.paths[index])
train_loader = DataLoader(Clips(), num_workers=4, pin_memory=True, persistent_workers=True)
"""
NO_WORKERS = "from torch.utils.data import DataLoader\ntrain_loader = DataLoader([1])\n"
ITEM = """
from torch.utils.data import DataLoader
def train(model, optimizer, loader):
    for batch in loader:
        loss = model(batch.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
HEALTHY_CODE = """
import tensorflow as tf
@tf.function
def train_step(batch): return batch
"""
STALLS = """
import time
class Loader:
    def __iter__(self):
        for number in range(400):
            time.sleep(0.06 if number % 8 == 7 else 0.002)
            yield [0.0] * 16
def step(batch): time.sleep(0.01)
"""


def ask(program, *arguments, **environment):
    command = [str(program), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    try:
        return json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def profile_file(folder, data_share, utilization):
    """A profile as StepProfiler writes it."""
    times = {"mean": 100.0, "std": 2.0, "p50": 100.0, "p95": 103.0, "p99": 104.0}
    spread = {"mean": utilization, "std": 1.0, "min": utilization - 2, "max": utilization + 2}
    path = folder / "profile.json"
    document = {
        "steps": 50, "batch_size": 16, "step": {"ms": times}, "data": {"share": data_share, "ms": times},
        "synthetic": {"step": {"ms": times}, "data_share": data_share}, "gpu": {"utilization": spread, "samples": 50},
    }  # fmt: skip
    path.write_text(json.dumps(document))
    return path


class Faults:
    """Each method plants a fault and returns (check, words that the finding has, document)."""

    def __init__(self, arguments, folder):
        self.program, self.data = arguments.program, arguments.data
        self.folder = folder
        self.usual = ["--batch-size", 16, "--python", sys.executable]

    def doctor(self, *arguments, data=None, workers=2, **environment):
        where = ["--data", data or self.data, "--workers", workers]
        return ask(self.program, "doctor", *where, *self.usual, *arguments, **environment)[0]

    def code(self, text, *words):
        folder = self.folder / "code"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(text)
        return "code", words, ask(self.program, "doctor", "--code", folder, "--python", sys.executable)[0]

    def starved_workers(self):
        return "will_it_help", ("Yes",), self.doctor("--step-ms", 30, workers=0)

    def periodic_stall(self):
        (self.folder / "stalls.py").write_text(STALLS)
        document, _ = ask(
            self.program, "profile", "--loader", "stalls:Loader", "--step", "stalls:step", "--num-steps", 60,
            "--python", sys.executable, PYTHONPATH=f"{self.folder}:{os.environ.get('PYTHONPATH', '')}",
        )  # fmt: skip
        cycle = document["data"]["cycle"]
        found = cycle is not None and round(cycle["period"]) == 8
        status = "warn" if found else "pass"
        text = f"period {cycle['period']}" if cycle else "no period"
        check = {"name": "profile", "status": status, "findings": [{"text": text, "status": status}]}
        return "profile", ("period",), {"checks": [check], "recommendations": []}

    def not_compiled(self):
        path = profile_file(self.folder, 0.02, 12.0)
        return "will_it_help", ("not compiled",), self.doctor("--profile", path)

    def small_shared_memory(self):
        if os.geteuid() != 0:
            return None
        command = [self.program, "doctor", "--data", self.data, "--workers", 2, *self.usual]
        inner = "mount -t tmpfs -o size=1M tmpfs /dev/shm && exec " + " ".join(map(str, command))
        document, _ = ask("unshare", "-m", "sh", "-c", inner + ' "$@"', "sh")
        return "memory", ("/dev/shm",), document

    def full_disk(self):
        if os.geteuid() != 0:
            return None
        with tempfile.TemporaryDirectory(prefix="full-") as place:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2M", "tmpfs", place], check=True)
            try:
                (pathlib.Path(place) / "filler").write_bytes(b"x" * (1 << 20))
                document = self.doctor("--step-ms", 30, TMPDIR=place)
            finally:
                subprocess.run(["umount", place], check=True)
        return "real_run", ("No space left",), document

    def all(self):
        yield "starved workers", self.starved_workers
        yield "a periodic stall", self.periodic_stall
        yield "a GPU at 12 %, steady, no wait", self.not_compiled
        yield "a Python function in the pipeline", lambda: self.code(PYTHON_IN_PIPELINE, "numpy_function")
        yield "eager mode", lambda: self.code(EAGER, "eager")
        yield "a step that nothing compiles", lambda: self.code(NOT_COMPILED, "no tf.function")
        yield "shapes that vary", lambda: self.code(VARYING, "varying_shapes")
        yield "librosa in __getitem__", lambda: self.code(LIBROSA, "librosa")
        yield "a DataLoader without workers", lambda: self.code(NO_WORKERS, "num_workers")
        yield "loss.item() in each step", lambda: self.code(ITEM, "item()")
        yield "a /dev/shm of 1 MiB", self.small_shared_memory
        yield "no space for a sample cache", self.full_disk

    def healthy(self):
        folder = self.folder / "healthy"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(HEALTHY_CODE)
        return self.doctor("--step-ms", 500, "--code", folder)


def find(document, name, words):
    """Returns (status, text, rank or None) of the check that should see the fault."""
    check = next(one for one in document["checks"] if one["name"] == name)
    said = [one["text"] for one in check["findings"]] + [check.get("summary", "")]
    text = next((one for one in said if all(word in one for word in words)), None)
    if text is None:
        return check["status"], "", None
    ranks = [number for number, one in enumerate(document["recommendations"], 1) if one["text"] == text]
    return check["status"], text, ranks[0] if ranks else None


@contextlib.contextmanager
def busy():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as load:
        try:
            yield
        finally:
            load.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--healthy", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(arguments, pathlib.Path(folder))
        print("| planted | check | status | rank of its remedy | said |\n|---|---|---|---|---|")
        missed = 0
        for name, plant in faults.all():
            planted = plant()
            if planted is None:
                print(f"| {name} | not planted here | | | |", flush=True)
                continue
            check, words, document = planted
            status, text, rank = find(document, check, words)
            missed += not text
            print(f"| {name} | {check} | {status} | {rank or '-'} | {text or 'NOT FOUND'} |", flush=True)
        failed = []
        with busy():
            for _ in range(arguments.healthy):
                failed += [one["summary"] for one in faults.healthy()["checks"] if one["status"] == "fail"]
        print(f"\nmissed: {missed}; fails in {arguments.healthy} healthy runs under load: {len(failed)}")
        for one in failed:
            print(f"  {one}")
    return 1 if missed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
