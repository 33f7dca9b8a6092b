#!/usr/bin/env python3
"""The whole build, from files to a finished cache, beside the script that a practitioner writes.

    build_vs_script.py BINARY [--clips N] [--rounds R] [--formats wav22,wav44,flac,mp3,opus,m4a]

The script is written for speed: soundfile (torchcodec for AAC), the mean of the channels in
float32, soxr HQ, trim, RMS and peak, torch.stft and a matrix product, in two processes with warm
imports. It stores padded float32 [clips, 800, 80] in one memory-mapped file, flushed and synced.

Ours is the whole command, process start included, into an empty cache. Both are timed in turn, R
rounds. The medians, their ratio and times real time are printed. Needs numpy, soundfile, soxr,
torch, librosa (for the filters) and ffmpeg.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RATE, N_FFT, HOP, MELS, FRAMES = 22050, 1024, 256, 80, 800
SECONDS = 6.5
ENCODINGS = {
    "wav22": ("wav", ["-ar", "22050", "-ac", "1"]),
    "wav44": ("wav", ["-ar", "44100", "-ac", "2"]),
    "flac": ("flac", ["-ar", "44100", "-ac", "2"]),
    "mp3": ("mp3", ["-ar", "44100", "-ac", "2", "-b:a", "128k"]),
    "opus": ("opus", ["-ar", "48000", "-ac", "1", "-c:a", "libopus", "-b:a", "48k"]),
    "m4a": ("m4a", ["-ar", "44100", "-ac", "2", "-c:a", "aac", "-b:a", "128k"]),
}


def speech_like(seed):
    """Makes voiced sound with formants, pauses and noise: what codecs and trim see in speech."""
    random = np.random.default_rng(seed)
    n = int(SECONDS * 44100)
    t = np.arange(n) / 44100
    pitch = 110 + 60 * random.random() + 15 * np.sin(2 * np.pi * 2.1 * t + random.random())
    phase = 2 * np.pi * np.cumsum(pitch) / 44100
    voice = sum(
        np.sin(k * phase) / k**1.1 * np.exp(-(((k * 140 - f) / 500) ** 2))
        for k in range(1, 30)
        for f in (500, 1500, 2500)
    )
    syllables = np.clip(np.sin(2 * np.pi * 3.3 * t + random.random() * 6) + 0.3, 0, 1)
    sound = voice * syllables + 0.02 * random.standard_normal(n)
    sound[: 44100 // 5] *= 0.001
    sound[-44100 // 4 :] *= 0.001
    return (sound / np.max(np.abs(sound)) * 0.7).astype(np.float32)


def make_corpus(folder, encoding, clips):
    import soundfile

    extension, options = ENCODINGS[encoding]
    wavs = folder / "wavs"
    wavs.mkdir(parents=True)
    distinct = min(clips, 40)
    for i in range(distinct):
        source = folder / "source.wav"
        soundfile.write(source, speech_like(i), 44100)
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", source, *options, wavs / f"clip-{i:05d}.{extension}"],
            check=True,
        )
    (folder / "source.wav").unlink()
    for i in range(distinct, clips):
        shutil.copy(wavs / f"clip-{i % distinct:05d}.{extension}", wavs / f"clip-{i:05d}.{extension}")
    with open(folder / "metadata.csv", "w") as lines:
        for i in range(clips):
            lines.write(f"clip-{i:05d}|This is sentence number {i}.|This is sentence number {i}.\n")


worker = {}


def start_worker(store, clips):
    import librosa
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    worker["window"] = torch.hann_window(N_FFT)
    worker["mel"] = torch.from_numpy(librosa.filters.mel(sr=RATE, n_fft=N_FFT, n_mels=MELS, fmin=0, fmax=RATE / 2))
    worker["store"] = np.memmap(store, np.float32, "r+", shape=(clips, FRAMES, MELS))
    run_clip((0, None))


def load(path):
    if path.suffix == ".m4a":
        from torchcodec.decoders import AudioDecoder

        samples = AudioDecoder(str(path)).get_all_samples()
        return samples.data.numpy().T, samples.sample_rate
    import soundfile

    return soundfile.read(path, dtype="float32", always_2d=True)


def run_clip(job):
    import soxr
    import torch

    index, path = job
    if path is None:
        return 0.0
    samples, rate = load(path)
    seconds = len(samples) / rate
    mono = samples[:, 0] if samples.shape[1] == 1 else samples.mean(axis=1)
    if rate != RATE:
        mono = soxr.resample(mono, rate, RATE, quality="HQ")
    padded = np.pad(mono, N_FFT // 2)
    squares = np.concatenate([[0.0], np.cumsum(padded.astype(np.float64) ** 2)])
    starts = np.arange(0, len(padded) - N_FFT + 1, HOP)
    power = (squares[starts + N_FFT] - squares[starts]) / N_FFT
    loud = np.flatnonzero(power > power.max() * 0.01)
    mono = mono[loud[0] * HOP : min(len(mono), (loud[-1] + 1) * HOP)]
    rms = np.sqrt(np.mean(mono * mono))
    peak = np.max(np.abs(mono))
    mono = mono * min(0.1 / rms, 1 / peak)
    mono = mono / np.max(np.abs(mono))
    spectrum = torch.stft(
        torch.from_numpy(mono),
        N_FFT,
        HOP,
        window=worker["window"],
        center=True,
        pad_mode="constant",
        return_complex=True,
    ).abs()
    mel = torch.log(torch.clamp(worker["mel"] @ spectrum, min=1e-5)).T[:FRAMES]
    worker["store"][index, : len(mel)] = mel.numpy()
    return seconds


def time_script(folder, store, clips):
    with open(store, "wb") as file:
        file.truncate(clips * FRAMES * MELS * 4)
    paths = sorted((folder / "wavs").iterdir())
    with multiprocessing.Pool(2, start_worker, (store, clips)) as pool:
        pool.map(run_clip, [(0, paths[0])] * 8, chunksize=4)  # imports and first touches are not timed
        begin = time.perf_counter()
        seconds = sum(pool.imap_unordered(run_clip, list(enumerate(paths)), chunksize=16))
        with open(store, "r+b") as file:
            os.fsync(file.fileno())
        return time.perf_counter() - begin, seconds


def time_ours(binary, folder, cache):
    begin = time.perf_counter()
    run = subprocess.run([binary, "build", folder, cache, "--json", "-j", "2"], check=True, capture_output=True)
    return time.perf_counter() - begin, json.loads(run.stdout)["times"]


def shares(taken, times):
    """Gives the stages' percent of the two threads' time; the disk's is of the wall's time, because
    the disk works beside the threads."""
    parts = {
        "read": times["read_s"],
        "codec": times["decode_s"],
        "resampler": times["resample_s"],
        "features": times["condition_s"] + times["features_s"],
    }
    parts["rest"] = 2 * taken - sum(parts.values())
    text = ", ".join(f"{name} {100 * seconds / (2 * taken):.0f}" for name, seconds in parts.items())
    return f"{text}; disk {100 * times['write_s'] / taken:.0f}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("binary")
    arguments.add_argument("--clips", type=int, default=2000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--formats", default="wav22,wav44,flac,mp3,opus,m4a")
    arguments.add_argument("--folder", help="where corpora and caches are made (default: a temporary folder)")
    options = arguments.parse_args()
    base = Path(tempfile.mkdtemp(dir=options.folder))
    print(
        f"{'format':8} {'ours s':>8} {'script s':>9} {'ratio':>6} {'ours x rt':>10} {'script x rt':>12}"
        "  shares of ours, %"
    )
    try:
        for encoding in options.formats.split(","):
            folder = base / encoding
            make_corpus(folder, encoding, options.clips)
            ours, script, seconds = [], [], 0.0
            for _ in range(options.rounds):
                cache = base / "cache"
                os.sync()
                ours.append(time_ours(options.binary, folder, cache))
                print(f"         round: {ours[-1][0]:.2f} s; {shares(*ours[-1])}", file=sys.stderr)
                shutil.rmtree(cache)
                os.sync()
                taken, seconds = time_script(folder, base / "store.bin", options.clips)
                script.append(taken)
                os.remove(base / "store.bin")
            ours.sort(key=lambda round_of: round_of[0])
            (a, times), b = ours[len(ours) // 2], statistics.median(script)
            print(
                f"{encoding:8} {a:8.2f} {b:9.2f} {b / a:6.2f} {seconds / a:10.0f} {seconds / b:12.0f}"
                f"  {shares(a, times)}",
                flush=True,
            )
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
