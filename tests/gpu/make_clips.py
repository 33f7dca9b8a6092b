"""Cuts clips of 3 to 9 s out of a folder of WAV files, in the layout of LJSpeech.

    python make_clips.py FROM TO COUNT

The GPU's benchmarks want more clips than espeak-ng makes in a minute.
"""

import random
import sys
import wave
from pathlib import Path

RATE, SAMPLE_BYTES = 22050, 2


def sounds(folder):
    """Returns the samples of the folder's 16-bit WAV files at RATE, one after the other."""
    parts = []
    for path in sorted(Path(folder).rglob("*.wav")):
        with wave.open(str(path)) as file:
            if (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (RATE, SAMPLE_BYTES, 1):
                parts.append(file.readframes(file.getnframes()))
    return b"".join(parts)


def main(source, target, count):
    sound = sounds(source)
    sample_count = len(sound) // SAMPLE_BYTES
    chance = random.Random(27)
    (Path(target) / "wavs").mkdir(parents=True)
    lines = []
    for i in range(int(count)):
        length = int(RATE * chance.uniform(3, min(9, sample_count / RATE)))
        begin = chance.randrange(sample_count - length + 1)
        with wave.open(f"{target}/wavs/clip{i:05d}.wav", "wb") as file:
            file.setparams((1, SAMPLE_BYTES, RATE, 0, "NONE", ""))
            file.writeframes(sound[SAMPLE_BYTES * begin : SAMPLE_BYTES * (begin + length)])
        lines.append(f"clip{i:05d}|Clip number {i} of the benchmark.|Clip number {i} of the benchmark.\n")
    (Path(target) / "metadata.csv").write_text("".join(lines))


main(*sys.argv[1:])
