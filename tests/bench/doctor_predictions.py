#!/usr/bin/env python3
"""Does the doctor predict right? Its answer to "will a cache help?" beside what really happens.

    doctor_predictions.py PROGRAM FOLDER [--hdd-model PROGRAM] [--only NAME,...] [--steps N]

For each set-up (format, storage, workers, length of step) this script

1. times the reference network's step on one batch again and again: the step with data for free;
2. asks `PROGRAM doctor --data D --step-ms MS --workers W` for the expected gain, before there is a
   cache;
3. builds the cache, trains with features on the fly (librosa in a DataLoader) and from the cache in
   rounds that take turns, and compares the gain with the doctor's range.

The storage "hdd" is tests/bench/hdd_model.cpp, with a corpus 20 times as large that does not fit into
memory. Its page cache has 1 MiB for audio, and for a cache 128 MiB, four of the reader's windows.
Most steps only sleep, which is what a GPU's step looks like to the processors; the "network" ones
compute on the CPU. Needs PyTorch, librosa and ffmpeg in this Python's environment.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "samples"))

import common  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import xtts_precompute as xp  # noqa: E402
from xtts_precompute.reference_torch import SmallTts, mel_loss  # noqa: E402

BATCH = 16
COPIES = 20  # of each clip, on the disk
WINDOW = {"shuffle": "window", "stretches_per_window": 4, "stretch_samples": 32}
ENCODERS = {
    "wav": ("wav", ["-ar", "22050", "-ac", "1"]),
    "wav44": ("wav", ["-ar", "44100", "-ac", "2"]),
    "flac": ("flac", ["-ar", "44100", "-ac", "1"]),
    "mp3": ("mp3", ["-ar", "44100", "-ac", "1", "-b:a", "128k"]),
    "ogg": ("ogg", ["-ar", "24000", "-ac", "1", "-c:a", "libvorbis"]),
    "wav16": ("wav", ["-ar", "16000", "-ac", "1"]),
    "opus": ("opus", ["-ar", "48000", "-ac", "1", "-c:a", "libopus"]),
}
# name: format, storage, workers, milliseconds of a step that a GPU would take (0: the reference
# network, on the CPU)
SETUPS = {
    "wav-memory-0-30ms": ("wav", "memory", 0, 30),
    "wav-memory-2-30ms": ("wav", "memory", 2, 30),
    "wav-memory-2-300ms": ("wav", "memory", 2, 300),
    "wav44-memory-0-100ms": ("wav44", "memory", 0, 100),
    "wav44-memory-1-30ms": ("wav44", "memory", 1, 30),
    "flac-memory-2-30ms": ("flac", "memory", 2, 30),
    "mp3-memory-2-100ms": ("mp3", "memory", 2, 100),
    "ogg-memory-1-100ms": ("ogg", "memory", 1, 100),
    "wav44-hdd-0-100ms": ("wav44", "hdd", 0, 100),
    "mp3-hdd-2-30ms": ("mp3", "hdd", 2, 30),
    "wav-memory-0-network": ("wav", "memory", 0, 0),
    "wav44-memory-2-network": ("wav44", "memory", 2, 0),
    # The prediction's model was made with the set-ups above in view, and without these.
    "wav16-memory-0-50ms": ("wav16", "memory", 0, 50),
    "wav16-memory-2-20ms": ("wav16", "memory", 2, 20),
    "opus-memory-1-60ms": ("opus", "memory", 1, 60),
    "opus-memory-2-150ms": ("opus", "memory", 2, 150),
    "mp3-memory-0-60ms": ("mp3", "memory", 0, 60),
    "flac-memory-1-80ms": ("flac", "memory", 1, 80),
    "ogg-hdd-2-60ms": ("ogg", "hdd", 2, 60),
    "flac-hdd-1-40ms": ("flac", "hdd", 1, 40),
    "mp3-memory-1-network": ("mp3", "memory", 1, 0),
    "opus-memory-0-network": ("opus", "memory", 0, 0),
}


def corpus(folder, kind):
    """Makes a corpus in one format, once; returns its folder."""
    data = folder / f"data-{kind}"
    if data.exists():
        return data
    mixed = folder / "mixed"
    if not mixed.exists():
        subprocess.run([ROOT / "samples/make_corpus.sh", mixed, "96"], check=True, stdout=subprocess.DEVNULL)
    suffix, options = ENCODERS[kind]
    draft = data.with_suffix(".draft")
    (draft / "wavs").mkdir(parents=True, exist_ok=True)
    for source in sorted((mixed / "wavs").iterdir()):
        target = draft / "wavs" / f"{source.stem}.{suffix}"
        command = ["ffmpeg", "-v", "error", "-y", "-i", source, *options, target]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    shutil.copy(mixed / "metadata.csv", draft)
    draft.rename(data)
    return data


def copies(data):
    """Makes a corpus in which each clip stands many times, once; returns its folder."""
    many = data.with_name(data.name + "-many")
    if many.exists():
        return many
    draft = many.with_suffix(".draft")
    (draft / "wavs").mkdir(parents=True, exist_ok=True)
    lines = [line.split("|") for line in (data / "metadata.csv").read_text().splitlines()]
    with open(draft / "metadata.csv", "w") as metadata:
        for number in range(COPIES):
            for source in (data / "wavs").iterdir():
                os.link(source, draft / "wavs" / f"{number}-{source.name}")
            metadata.writelines("|".join([f"{number}-{words[0]}", *words[1:]]) + "\n" for words in lines)
    draft.rename(many)
    return many


@contextlib.contextmanager
def storage(kind, folder, hdd_model, memory_mib):
    """Gives a folder that shows FOLDER on the storage."""
    if kind == "memory":
        for path in folder.rglob("*"):
            if path.is_file():
                path.read_bytes()
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="hdd-") as mountpoint:
        disk = subprocess.Popen([hdd_model, folder, mountpoint, "--memory", str(memory_mib), "--hold", "0"])
        while not os.path.ismount(mountpoint):
            if disk.poll() is not None:
                sys.exit("no mount")
            time.sleep(0.01)
        try:
            yield pathlib.Path(mountpoint)
        finally:
            disk.send_signal(signal.SIGTERM)
            disk.wait()


class Clips(torch.utils.data.Dataset):
    """The trainer's way: librosa in __getitem__."""

    def __init__(self, data):
        self.clips = common.clips_of(data)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        path, text = self.clips[index]
        return common.padded(common.mel_on_the_fly(path), text)


def as_batch(values):
    names = ("tokens", "mel", "text_len", "mel_len")
    return dict(zip(names, (torch.as_tensor(np.asarray(value)) for value in values)))


def for_ever(loader):
    while True:
        yield from loader


class Network:
    """The reference network, on the CPU."""

    def __init__(self):
        torch.manual_seed(0)
        self.model = SmallTts(common.MELS, True)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def step(self, batch):
        self.optimizer.zero_grad(set_to_none=True)
        mel = batch["mel"].float()
        loss = mel_loss(self.model(mel, batch["tokens"], batch["text_len"]), mel, batch["mel_len"])
        loss.backward()
        self.optimizer.step()


class AsIfOnGpu:
    """A step that takes a fixed time and no processor, as a GPU's does."""

    def __init__(self, step_ms):
        self.seconds = step_ms / 1e3

    def step(self, batch):
        batch["mel"].sum()  # looks at the batch
        time.sleep(self.seconds)


def ms_a_step(network, batches, steps, warmup=3):
    for _ in range(warmup):
        network.step(next(batches))
    begin = time.perf_counter()
    for _ in range(steps):
        network.step(next(batches))
    return 1e3 * (time.perf_counter() - begin) / steps


def side_by_side(network, ways, steps, rounds=3):
    """Returns the median milliseconds of a step for each way of loading, in rounds that take turns."""
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, batches in ways.items():
            # The warm-up empties the queue that the loader has filled while it was not its turn.
            times[name].append(ms_a_step(network, batches, steps // rounds, warmup=6))
    return {name: sorted(found)[rounds // 2] for name, found in times.items()}


def on_the_fly(data, workers):
    """Batches of one long epoch: a real corpus does not end after six batches, as this one would."""
    clips = Clips(data)
    sampler = torch.utils.data.RandomSampler(clips, replacement=True, num_samples=1_000_000)
    return torch.utils.data.DataLoader(
        clips, BATCH, sampler=sampler, drop_last=True, num_workers=workers,
        collate_fn=lambda rows: as_batch(zip(*rows)),
    )  # fmt: skip


def ask_doctor(program, data, step_ms, workers, device):
    command = [program, "doctor", "--data", data, "--step-ms", f"{step_ms:.3f}", "--workers", workers, "--batch-size",
               BATCH, "--train-on", device, "--python", sys.executable, "--json"]  # fmt: skip
    begin = time.monotonic()
    answer = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE)
    document = json.loads(answer.stdout)
    check = next(one for one in document["checks"] if one["name"] == "will_it_help")
    rows = {row["what"]: row for row in check["evidence"]}
    return rows, time.monotonic() - begin


def from_cache(cache, place):
    fields = ("tokens", "mel", "text_len", "mel_len")
    loader = xp.torch.Loader(str(cache), batch_size=BATCH, fields=fields, **(WINDOW if place == "hdd" else {}))
    return ({field: getattr(one, field) for field in fields} for one in for_ever(loader))


def run(name, arguments):
    kind, place, workers, gpu_ms = SETUPS[name]
    real = corpus(arguments.folder, kind)
    if place == "hdd":
        real = copies(real)
    network = AsIfOnGpu(gpu_ms) if gpu_ms else Network()
    cache = arguments.folder / f"cache-{kind}"
    with storage(place, real, arguments.hdd_model, 1) as data:
        batch = next(iter(on_the_fly(data, 0)))
        step_ms = ms_a_step(network, for_ever([batch]), arguments.steps)
        rows, took_s = ask_doctor(arguments.program, data, step_ms, workers, "gpu" if gpu_ms else "cpu")
        shutil.rmtree(cache, ignore_errors=True)
        subprocess.run([arguments.program, real, cache, "--quiet"], check=True)
        with storage(place, cache, arguments.hdd_model, 128) as shown:
            ways = {"now": iter(on_the_fly(data, workers)), "cached": from_cache(shown, place)}
            found = side_by_side(network, ways, arguments.steps)
            ways.clear()
    now, cached = found["now"], found["cached"]
    low, high = bounds(rows["the step now"]["value"])
    cached_low, cached_high = bounds(rows["the step from a cache"]["value"])
    gain_low, gain_high = bounds(rows["how many times as fast"]["value"])
    gain = now / cached
    return {
        "name": name, "step_ms": step_ms, "now_ms": now, "now_predicted": [low, high], "cached_ms": cached,
        "cached_predicted": [cached_low, cached_high], "gain": gain, "gain_predicted": [gain_low, gain_high],
        "is_within": gain_low <= gain <= gain_high, "doctor_s": took_s,
    }  # fmt: skip


def bounds(text):
    numbers = [float(word.replace(",", "")) for word in re.findall(r"[0-9][0-9.,]*", text)]
    return numbers[0], numbers[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--hdd-model", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(SETUPS))
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    within = []
    print("| set-up | step, data free | now | predicted | from a cache | predicted | gain | predicted | within |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in arguments.only.split(","):
        if SETUPS[name][1] == "hdd" and arguments.hdd_model is None:
            print(f"{name}: skipped, no --hdd-model", file=sys.stderr)
            continue
        found = run(name, arguments)
        within.append(found["is_within"])
        now, cached, gain = (found[key] for key in ("now_predicted", "cached_predicted", "gain_predicted"))
        print(
            f"| {name} | {found['step_ms']:.1f} | {found['now_ms']:.1f} | {now[0]:.1f} to {now[1]:.1f} | "
            f"{found['cached_ms']:.1f} | {cached[0]:.1f} to {cached[1]:.1f} | {found['gain']:.2f} | "
            f"{gain[0]:.2f} to {gain[1]:.2f} | {'yes' if found['is_within'] else 'NO'} |",
            flush=True,
        )
    print(f"within the range: {sum(within)} of {len(within)}")


if __name__ == "__main__":
    main()
