"""Whole files of every encoder at hand, and the same files cut: none of the first may look cut, and
the others must.

    check.py PROGRAM [--quick] [--keep FOLDER]

It prints a table: how many of the cut files are found, by encoder and cut. --quick takes one sound
and a part of the encoders, for a test of seconds.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

import encoders

SIGNS = {"ends_early", "end_missing", "packets_skipped", "reading_stopped"}
SHARES = (10, 50, 90, 99)
SOUNDS = ((22050, 1, 2.37), (48000, 1, 4.9013), (44100, 2, 3.21), (16000, 1, 1.0), (8000, 1, 0.63))

# Nobody can read these, whole or not.
UNREADABLE = {"ffmpeg-aiff-pipe", "ffmpeg-w64-pipe", "lame-free"}
# Nothing in these tells where they end (docs/rules.md), unless a cut goes through a frame.
ENDLESS = ("-pipe", "join-", "ffmpeg-ts-", "ffmpeg-flv", "ffmpeg-nut")
# Between two frames of equal size, or within the tags at its end, a cut is none.
BY_CHANCE = ("mp3", "lame-", "mp2", "ac3", "zeros-", "ape-", "m4a-parts")
QUICK = (
    "ffmpeg-wav-s16",
    "ffmpeg-flac",
    "ffmpeg-vorbis",
    "ffmpeg-opus",
    "ffmpeg-mp3-cv",
    "ffmpeg-mp3-32k",
    "ffmpeg-mp3-no-xing",
    "ffmpeg-mp3-pipe",
    "ffmpeg-m4a",
    "ffmpeg-m4a-front",
    "ffmpeg-webm-opus",
    "ffmpeg-caf",
    "ffmpeg-caf-flac",
    "ffmpeg-avi-flac",
    "ffmpeg-nut-flac",
    "ffmpeg-wsaud",
    "ffmpeg-wav-s16-pipe",
    "lame-V4",
    "lame-abr",
    "lame-id3-both",
    "lame-V4-pipe",
    "sox-aiff",
    "sox-voc",
    "sox-wav-gsm",
    "oggenc-q5",
    "oggenc-in-mka",
    "oggenc-pipe",
    "opusenc-b64",
    "opusenc-pipe",
    "flac-5",
    "flac-pipe",
    "flac-id3",
    "wavpack-plain",
    "join-lame-id3",
    "join-ogg",
    "join-oggflac",
    "join-opus",
)


def make_sound(path: Path, rate: int, channels: int, seconds: float) -> None:
    source = random.Random(rate * channels)
    data = bytearray()
    for i in range(int(rate * seconds)):
        t = i / rate
        level = 0.5 + 0.5 * math.sin(2 * math.pi * 3.1 * t)
        value = level * (0.3 * math.sin(1131 * t) + 0.2 * math.sin(4398 * t + 3 * math.sin(5 * t)))
        value += 0.05 * level * (source.random() - 0.5)
        for channel in range(channels):
            data += struct.pack("<h", int(12000 * value * (1 - 0.2 * channel)))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(data))


def make_whole(folder: Path, quick: bool) -> list[str]:
    """Makes the whole files; returns the names of those that an encoder refuses to make."""
    (folder / "whole").mkdir()
    jobs = []
    for rate, channels, seconds in SOUNDS[:1] if quick else SOUNDS:
        source = folder / f"{rate}.wav"
        make_sound(source, rate, channels, seconds)
        for name, suffix, command in encoders.rows():
            if quick and name not in QUICK:
                continue
            path = folder / "whole" / f"{name}_{rate}.{suffix}"
            jobs.append((path, command.replace("{i}", str(source)).replace("{o}", str(path))))

    def run(job: tuple[Path, str]) -> str | None:
        path, command = job
        done = subprocess.run(command, shell=True, capture_output=True, check=False)
        if done.returncode == 0 and path.exists() and path.stat().st_size > 200:
            return None
        path.unlink(missing_ok=True)
        return path.stem

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [name for name in pool.map(run, jobs) if name]


def cut(folder: Path) -> None:
    (folder / "cut").mkdir()
    for path in sorted((folder / "whole").iterdir()):
        data = path.read_bytes()
        for share in SHARES:
            name = f"{path.stem}__{share}{path.suffix}"
            (folder / "cut" / name).write_bytes(data[: len(data) * share // 100])


def rejects_of(program: str, folder: Path) -> dict[str, str]:
    """The rule of each reject of a build, by the file's name without its suffix."""
    cache = folder.with_name(folder.name + "-cache")
    command = [program, "build", str(folder), str(cache), "--quiet", "--layout-of-data", "folder"]
    command += ["--max-rejects=100%", "--max-dropped=100%", "--set", "features.max_frames=2000"]
    command += ["--set", "corpus.duplicates=keep", "--set", "corpus.truncated=reject"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ends with {done.returncode}: {done.stderr}")
    rejects = (cache / "rejects.jsonl").read_text().splitlines()
    return {Path(one["path"]).stem: one["rule"] for one in map(json.loads, rejects)}


def kind_of(stem: str) -> str:
    return stem.rpartition("_")[0]


def check_whole(program: str, folder: Path) -> list[str]:
    rejects = rejects_of(program, folder / "whole")
    count = len(list((folder / "whole").iterdir()))
    print(f"{count} whole files; rejected: {len(rejects)}")
    return [
        f"{stem} is whole, and {rule}"
        for stem, rule in rejects.items()
        if rule in SIGNS or kind_of(stem) not in UNREADABLE
    ]


def check_cut(program: str, folder: Path) -> list[str]:
    rejects = rejects_of(program, folder / "cut")
    found: dict[str, dict[str, list[bool]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    problems = []
    for path in sorted((folder / "cut").iterdir()):
        stem, _, share = path.stem.partition("__")
        kind = kind_of(stem)
        found[kind][share].append(path.stem in rejects)
        may_be_missed = any(word in kind for word in (*ENDLESS, *BY_CHANCE)) or share == "99"
        if path.stem not in rejects and not may_be_missed:
            problems.append(f"{path.stem} is cut, and nothing shows it")
    for kind, shares in found.items():
        print(f"{kind:28}", *(f"{share} %: {sum(hits)}/{len(hits)} " for share, hits in shares.items()))
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if missing := encoders.missing():
        print(f"SKIPPED, for they are not installed: the files of {', '.join(sorted(missing))}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        if refused := make_whole(folder, options.quick):
            print("not made by their encoders:", *refused)
        cut(folder)
        problems = check_whole(options.program, folder) + check_cut(options.program, folder)
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
