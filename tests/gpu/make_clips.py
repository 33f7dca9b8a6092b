"""Cuts clips of 3 to 9 s out of a folder of WAV files, in the layout of LJSpeech.

    python make_clips.py FROM TO COUNT

The GPU's benchmarks want more clips than espeak-ng makes in a minute.
"""

import random
import sys
import wave
from pathlib import Path

import numpy as np

RATE = 22050


def sounds(folder):
    """Returns all sound of the folder's 16-bit WAV files at RATE, one after the other."""
    parts = []
    for path in sorted(Path(folder).rglob("*.wav")):
        with wave.open(str(path)) as file:
            if (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (RATE, 2, 1):
                parts.append(np.frombuffer(file.readframes(file.getnframes()), np.int16))
    return np.concatenate(parts)


def main(source, target, count):
    sound = sounds(source)
    chance = random.Random(27)
    (Path(target) / "wavs").mkdir(parents=True)
    lines = []
    for i in range(int(count)):
        length = int(RATE * chance.uniform(3, min(9, len(sound) / RATE)))
        begin = chance.randrange(len(sound) - length + 1)
        with wave.open(f"{target}/wavs/clip{i:05d}.wav", "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(sound[begin : begin + length].tobytes())
        lines.append(f"clip{i:05d}|Clip number {i} of the benchmark.|Clip number {i} of the benchmark.\n")
    (Path(target) / "metadata.csv").write_text("".join(lines))


main(*sys.argv[1:])
