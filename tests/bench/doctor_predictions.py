#!/usr/bin/env python3
"""Does the doctor predict right? Its answer to "will a cache help?" beside what really happens.

    doctor_predictions.py PROGRAM FOLDER [--trainer DIR] [--only NAME,...] [--steps N]

For each set-up (format, storage, workers, length of step) this script

1. times the reference network's step on one batch again and again: the step with data for free;
2. asks the doctor for the expected gain, before there is a cache: of the training's own loader
   (`--loader`, or `--config` of MyXTTS), or, with the first set-ups, of a loader that it does not know
   (`--workers W`);
3. builds the cache, trains with features on the fly and from the cache in rounds that take turns, and
   compares the gain with the doctor's range.

Loaders are librosa in a DataLoader ("torch"), and MyXTTS's native one ("native", --trainer names a clone).

Corpora and caches lie in memory. Most steps only sleep, which is what a GPU's step looks like to the
processors; the "network" ones compute on the CPU. Needs PyTorch, librosa and ffmpeg in this Python's environment.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "samples"))
sys.path.append(str(ROOT / "src/python"))

import common  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import xtts_precompute as xp  # noqa: E402
from xtts_advise.doctor.diagnose import diagnose  # noqa: E402
from xtts_advise.doctor.request import Request  # noqa: E402
from xtts_advise.probe import Program  # noqa: E402
from xtts_precompute.reference_torch import SmallTts, mel_loss  # noqa: E402

BATCH = 16
ENCODERS = {
    "wav": ("wav", ["-ar", "22050", "-ac", "1"]),
    "wav44": ("wav", ["-ar", "44100", "-ac", "2"]),
    "flac": ("flac", ["-ar", "44100", "-ac", "1"]),
    "mp3": ("mp3", ["-ar", "44100", "-ac", "1", "-b:a", "128k"]),
    "ogg": ("ogg", ["-ar", "24000", "-ac", "1", "-c:a", "libvorbis"]),
    "wav16": ("wav", ["-ar", "16000", "-ac", "1"]),
    "opus": ("opus", ["-ar", "48000", "-ac", "1", "-c:a", "libopus"]),
}
ASKED = "XTTS_ASKED_LOADER"  # tells loader(), which the doctor imports, what is asked


class Setup(NamedTuple):
    kind: str  # of ENCODERS
    workers: int
    gpu_ms: float  # of a step that a GPU would take; 0: the reference network, on the CPU
    loader: str = ""  # "torch" or "native"; "": the doctor is told of no loader
    batch: int = BATCH


def own(loader, kind, workers, batch, gpu_ms):
    return f"{loader}-{kind}-{workers}-{batch}-{gpu_ms}ms", Setup(kind, workers, gpu_ms, loader, batch)


OWN = [("native", "wav", 2, *one) for one in ((8, 20), (8, 60), (16, 20), (16, 60), (32, 60), (32, 150))]
OWN += [
    ("torch", "wav", *one)
    for one in ((0, 8, 20), (0, 16, 60), (0, 32, 150), (1, 8, 60), (1, 16, 150), (2, 8, 20), (2, 16, 60), (2, 32, 150),
                (4, 16, 60), (4, 8, 150))
]  # fmt: skip
OWN += [
    ("torch", "mp3", *one)
    for one in ((0, 8, 60), (0, 16, 20), (1, 16, 60), (1, 32, 150), (2, 8, 60), (2, 16, 150), (4, 16, 20), (4, 32, 60))
]
SETUPS = {
    "wav-memory-0-30ms": ("wav", 0, 30),
    "wav-memory-2-30ms": ("wav", 2, 30),
    "wav-memory-2-300ms": ("wav", 2, 300),
    "wav44-memory-0-100ms": ("wav44", 0, 100),
    "wav44-memory-1-30ms": ("wav44", 1, 30),
    "flac-memory-2-30ms": ("flac", 2, 30),
    "mp3-memory-2-100ms": ("mp3", 2, 100),
    "ogg-memory-1-100ms": ("ogg", 1, 100),
    "wav-memory-0-network": ("wav", 0, 0),
    "wav44-memory-2-network": ("wav44", 2, 0),
    # The prediction's model was made with the set-ups above in view, and without these.
    "wav16-memory-0-50ms": ("wav16", 0, 50),
    "wav16-memory-2-20ms": ("wav16", 2, 20),
    "opus-memory-1-60ms": ("opus", 1, 60),
    "opus-memory-2-150ms": ("opus", 2, 150),
    "mp3-memory-0-60ms": ("mp3", 0, 60),
    "flac-memory-1-80ms": ("flac", 1, 80),
    "mp3-memory-1-network": ("mp3", 1, 0),
    "opus-memory-0-network": ("opus", 0, 0),
}
SETUPS = {name: Setup(*one) for name, one in SETUPS.items()} | dict(own(*one) for one in OWN)


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


def in_memory(folder):
    for path in folder.rglob("*"):
        if path.is_file():
            path.read_bytes()


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
        np.asarray(batch["mel"]).sum()  # looks at the batch
        time.sleep(self.seconds)


def ms_a_step(network, batches, steps, warmup=3):
    for _ in range(warmup):
        network.step(next(batches))
    begin = time.perf_counter()
    for _ in range(steps):
        network.step(next(batches))
    return 1e3 * (time.perf_counter() - begin) / steps


def side_by_side(network, ways, steps, rounds=3, warmup=6):
    """Returns the median milliseconds of a step for each way of loading, in rounds that take turns.

    The warm-up empties the queue that the loader has filled while it was not its turn.
    """
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, batches in ways.items():
            times[name].append(ms_a_step(network, batches, steps // rounds, warmup))
    return {name: sorted(found)[rounds // 2] for name, found in times.items()}


def on_the_fly(data, workers, batch):
    """Batches of one long epoch: a real corpus does not end after six batches, as this one would."""
    clips = Clips(pathlib.Path(data))
    sampler = torch.utils.data.RandomSampler(clips, replacement=True, num_samples=1_000_000)
    return torch.utils.data.DataLoader(
        clips, batch, sampler=sampler, drop_last=True, num_workers=workers,
        collate_fn=lambda rows: as_batch(zip(*rows)),
    )  # fmt: skip


def loader():
    """What the doctor times as `--loader doctor_predictions:loader`."""
    return on_the_fly(**json.loads(os.environ[ASKED]))


def native(config, data):
    """MyXTTS's batches, as its training makes them."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    from myxtts.config.config import XTTSConfig
    from myxtts.data.ljspeech import LJSpeechDataset

    asked = XTTSConfig.from_yaml(str(config)).data
    made = LJSpeechDataset(str(data), asked, subset="train", download=False)
    dataset = made.create_tf_dataset(
        batch_size=asked.batch_size, shuffle=True, repeat=True, prefetch=True, memory_cache=False,
        num_parallel_calls=asked.num_workers, buffer_size_multiplier=asked.shuffle_buffer_multiplier,
        drop_remainder=False,
    )  # fmt: skip
    return ({"mel": batch[1]} for batch in for_ever(dataset))


def ask_doctor(arguments, setup, data, step_ms, config):
    """The binary runs the same, and the installed frameworks besides, which takes half a minute each time."""
    Program.handing_over = str(arguments.program)
    os.environ[ASKED] = json.dumps({"data": str(data), "workers": setup.workers, "batch": setup.batch})
    wish = Request(
        data=str(data), step_ms=step_ms, worker_count=setup.workers, batch_size=setup.batch, python=sys.executable,
        trains_on_cpu=not setup.gpu_ms, runs_frameworks=False,
        loader="doctor_predictions:loader" if setup.loader == "torch" else "",
        config=str(config) if setup.loader == "native" else "", code=str(arguments.trainer or ""),
    )  # fmt: skip
    begin = time.monotonic()
    check = diagnose(wish, Program(), lambda _: None).checks[0]
    rows = {row.what: row for row in check.evidence}
    if "the step now" not in rows:
        sys.exit(f"the doctor says: {check.summary}")
    return rows, time.monotonic() - begin


def from_cache(cache, batch):
    fields = ("tokens", "mel", "text_len", "mel_len")
    loader = xp.torch.Loader(str(cache), batch_size=batch, fields=fields)
    return ({field: getattr(one, field) for field in fields} for one in for_ever(loader))


def run(name, arguments):
    setup = SETUPS[name]
    data = corpus(arguments.folder, setup.kind)
    network = AsIfOnGpu(setup.gpu_ms) if setup.gpu_ms else Network()
    cache = arguments.folder / f"cache-{setup.kind}"
    config = arguments.folder / "config.yaml"
    config.write_text(
        f"data:\n  batch_size: {setup.batch}\n  num_workers: {setup.workers}\n  use_tf_native_loading: true\n"
        "  pad_to_fixed_length: true\n  max_text_tokens: 200\n"
    )
    in_memory(data)
    batch = next(iter(on_the_fly(data, 0, setup.batch)))
    step_ms = ms_a_step(network, for_ever([batch]), arguments.steps)
    rows, took_s = ask_doctor(arguments, setup, data, step_ms, config)
    shutil.rmtree(cache, ignore_errors=True)
    subprocess.run([arguments.program, data, cache, "--quiet"], check=True)
    in_memory(cache)
    now = native(config, data) if setup.loader == "native" else iter(on_the_fly(data, setup.workers, setup.batch))
    ways = {"now": now, "cached": from_cache(cache, setup.batch)}
    # MyXTTS's loader has 50 batches ready.
    is_deep = setup.loader == "native"
    found = side_by_side(network, ways, arguments.steps * (3 if is_deep else 1), warmup=200 if is_deep else 6)
    ways.clear()
    now, cached = found["now"], found["cached"]
    low, high = bounds(rows["the step now"].value)
    cached_low, cached_high = bounds(rows["the step from a cache"].value)
    gain_low, gain_high = bounds(rows["how many times as fast"].value)
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
    parser.add_argument("--trainer", type=pathlib.Path, help="a clone of MyXTTSModel, for its native loader")
    parser.add_argument("--only", default=",".join(SETUPS))
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sys.path.append(str(arguments.trainer or ""))
    within, widths = [], []
    print("| set-up | step, data free | now | predicted | from a cache | predicted | gain | predicted | within |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in arguments.only.split(","):
        if SETUPS[name].loader == "native" and arguments.trainer is None:
            print(f"{name}: skipped, no --trainer", file=sys.stderr)
            continue
        found = run(name, arguments)
        within.append(found["is_within"])
        widths.append(found["gain_predicted"][1] / found["gain_predicted"][0])
        now, cached, gain = (found[key] for key in ("now_predicted", "cached_predicted", "gain_predicted"))
        print(
            f"| {name} | {found['step_ms']:.1f} | {found['now_ms']:.1f} | {now[0]:.1f} to {now[1]:.1f} | "
            f"{found['cached_ms']:.1f} | {cached[0]:.1f} to {cached[1]:.1f} | {found['gain']:.2f} | "
            f"{gain[0]:.2f} to {gain[1]:.2f} | {'yes' if found['is_within'] else 'NO'} |",
            flush=True,
        )
    print(f"within the range: {sum(within)} of {len(within)}; the widest range is {max(widths):.2f}-fold")


if __name__ == "__main__":
    main()
