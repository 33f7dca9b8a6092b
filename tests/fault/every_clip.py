#!/usr/bin/env python3
"""every_clip.py PROGRAM FOLDER [COUNT]: the real program accounts for every clip of a corpus.

Makes a corpus of COUNT tiny clips in FOLDER (400; by hand 20000). Some sounds are too long, some
texts have too many bytes, some files are no sound, some lines name no file. Builds; then renames,
removes, changes, lengthens and adds clips, and builds again. `build --json` must report what was
planted, to the clip, and its numbers must add up.
"""

import json
import math
import os
import random
import struct
import subprocess
import sys
import time

RATE = 8000


def wav(number: int, seconds: float) -> bytes:
    samples = [int(8000 * math.sin(2 * math.pi * (200 + number % 3000) * i / RATE)) for i in range(int(seconds * RATE))]
    samples[0] = number % 30000  # no two sounds are equal
    samples[1] = number // 30000
    data = struct.pack(f"<{len(samples)}h", *samples)
    return (
        b"RIFF"
        + struct.pack(
            "<I4s4sIHHIIHH4sI", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16, b"data", len(data)
        )
        + data
    )


class Corpus:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        os.makedirs(f"{folder}/wavs")

    def path(self, name: str) -> str:
        return f"{self.folder}/wavs/{name}.wav"

    def add(self, name: str, sound: bytes, text: str = "") -> None:
        with open(self.path(name), "wb") as file:
            file.write(sound)
        self.texts[name] = text or f"This is {name}."

    def remove(self, name: str) -> None:
        os.remove(self.path(name))
        del self.texts[name]

    def rename(self, name: str, to: str) -> None:
        os.rename(self.path(name), self.path(to))
        self.texts[to] = self.texts.pop(name)

    def write(self) -> None:
        with open(f"{self.folder}/metadata.csv", "w", encoding="utf-8") as file:
            file.writelines(f"{name}|{text}|{text}\n" for name, text in self.texts.items())


def build(program: str, folder: str, *more: str) -> dict:
    command = [
        program,
        "build",
        f"{folder}/data",
        f"{folder}/cache",
        "--json",
        "--quiet",
        "--set",
        "max_frames=60",
        "--set",
        "max_tokens=200",
        "--layout",
        "packed",
        *more,
    ]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: {done.stderr}")
    print(f"{time.monotonic() - begin:.1f} s", file=sys.stderr)
    return json.loads(done.stdout)["accounting"]


def check(all: dict, expected: dict) -> None:
    assert all["found"] == all["stored"] + all["dropped"] + all["rejected"], all
    assert all["stored"] == all["reused"] + all["changed"] + all["renamed"] + all["new"], all
    assert all["before"] == all["reused"] + all["changed"] + all["renamed"] + all["lost"] + all["gone"], all
    assert (
        sum(all["dropped_by_rule"].values()) == all["dropped"]
        and sum(all["rejected_by_class"].values()) == all["rejected"]
    ), all
    wrong = {name: (all[name], value) for name, value in expected.items() if all[name] != value}
    assert not wrong, f"found, expected: {wrong}"
    print(json.dumps(all), file=sys.stderr)


def main() -> None:
    program, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    few = count // 80
    random.seed(7)
    corpus = Corpus(f"{folder}/data")
    sound = [f"clip{i:06}" for i in range(count - 4 * few)]
    for i, name in enumerate(sound):
        corpus.add(name, wav(i, 0.05 + 0.01 * (i % 5)))
    for i in range(few):
        corpus.add(f"long{i}", wav(i, 1.0))
        corpus.add(f"persian{i}", wav(count + i, 0.06), "س" * 150)
        corpus.add(f"broken{i}", b"no sound at all")
        corpus.texts[f"missing{i}"] = "Its file is not there."
    corpus.write()
    limits = ["--max-dropped", "50%", "--max-gone", "10%"]
    rules = {"too_long": few, "text_too_long": few}
    first = {
        "found": count,
        "stored": len(sound),
        "dropped_by_rule": rules,
        "rejected_by_class": {"input": 2 * few},
        "new": len(sound),
    }
    check(build(program, folder, *limits), first)

    random.shuffle(sound)
    parts = [sound[k * few : (k + 1) * few] for k in range(4)]
    for name in parts[0]:
        corpus.rename(name, f"renamed-{name}")
    for name in parts[1]:
        corpus.remove(name)
    for i, name in enumerate(parts[2]):
        corpus.add(name, wav(2 * count + i, 0.07))
    for i, name in enumerate(parts[3]):
        corpus.add(name, wav(3 * count + i, 1.0))
    for i in range(few):
        corpus.add(f"new{i}", wav(4 * count + i, 0.08))
    corpus.write()
    second = {
        "found": count,
        "stored": len(sound) - few,
        "dropped_by_rule": {"too_long": 2 * few, "text_too_long": few},
        "rejected_by_class": {"input": 2 * few},
        "reused": len(sound) - 4 * few,
        "changed": few,
        "renamed": few,
        "new": few,
        "before": len(sound),
        "lost": few,
        "gone": few,
    }
    check(build(program, folder, *limits), second)
    assert build(program, folder, *limits) is None  # unchanged
    subprocess.run([program, "verify", f"{folder}/cache", "--quiet"], check=True)
    print(f"all of {count} clips accounted for")


if __name__ == "__main__":
    main()
