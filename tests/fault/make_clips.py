#!/usr/bin/env python3
"""make_clips FOLDER COUNT [SECONDS]: makes clips in LJSpeech's layout, always the same bytes.

The sound is seeded noise, which takes no time to make. Clip 3 is no sound. Sizes vary, so that no
two records end alike. Needs nothing but Python."""

import array
import os
import random
import sys
import wave

RATE_HZ = 22050


def name_of(number):
    return f"clip-{number:04d}"


def write_sound(folder, number, seed=None, seconds=0.4):
    """Writes the sound of a clip; another seed makes another sound."""
    seed = number if seed is None else seed
    path = os.path.join(folder, "wavs", name_of(number) + ".wav")
    if number == 3:
        with open(path, "wb") as file:
            file.write(b"this is no sound at all\n" * 20)
        return
    count = int(RATE_HZ * seconds * (1.0 + 0.25 * (seed % 5)))
    noise = array.array("h", random.Random(seed).randbytes(2 * count))
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(array.array("h", (value >> 2 for value in noise)).tobytes())


def write_list(folder, numbers, texts=None):
    with open(os.path.join(folder, "metadata.csv"), "w", encoding="utf-8") as metadata:
        for number in numbers:
            text = (texts or {}).get(number, f"Sentence {number}.")
            metadata.write(f"{name_of(number)}|{text}|{text}\n")


def make_corpus(folder, numbers, seconds=0.4):
    os.makedirs(os.path.join(folder, "wavs"), exist_ok=True)
    for number in numbers:
        write_sound(folder, number, seconds=seconds)
    write_list(folder, numbers)


if __name__ == "__main__":
    make_corpus(sys.argv[1], range(int(sys.argv[2])), float(sys.argv[3]) if len(sys.argv) > 3 else 0.4)
