#!/usr/bin/env python3
"""make_corpus FOLDER: makes five clips in LJSpeech's layout, byte for byte the same each time.

The sounds are vowel-like (harmonics of a gliding pitch), 0.5 to 1.5 s long. One clip is not audio.
Texts have quotes, Persian and a control character. Needs nothing but Python."""

import math
import os
import struct
import sys
import wave

CLIPS = [
    ("LJ001-0001", 0.5, 110.0, "Printing, in the only sense.", 22050),
    ("LJ001-0002", 0.8, 150.0, 'He said "yes", twice.', 44100),
    ("LJ001-0003", 1.0, 190.0, "سلام دنیا", 22050),
    ("LJ001-0004", 1.5, 90.0, "bell \x07 and escape \x1b[31m red", 22050),
]


def samples(seconds, pitch_hz, rate_hz):
    phase = 0.0
    count = int(seconds * rate_hz)
    for n in range(count):
        phase += 2.0 * math.pi * pitch_hz * (1.0 + 0.3 * n / count) / rate_hz
        value = sum(math.sin(k * phase) / k for k in range(1, 12))
        yield int(8000.0 * value * math.sin(math.pi * n / count))


def main():
    folder = sys.argv[1]
    wavs = os.path.join(folder, "wavs")
    os.makedirs(wavs, exist_ok=True)
    with open(os.path.join(folder, "metadata.csv"), "w", encoding="utf-8") as metadata:
        for name, seconds, pitch_hz, text, rate_hz in CLIPS:
            metadata.write(f"{name}|{text}|{text}\n")
            with wave.open(os.path.join(wavs, name + ".wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(rate_hz)
                file.writeframes(b"".join(struct.pack("<h", v) for v in samples(seconds, pitch_hz, rate_hz)))
        metadata.write("LJ001-0005|broken|broken\n")
    with open(os.path.join(wavs, "LJ001-0005.wav"), "wb") as file:
        file.write(b"this is no sound at all\n" * 20)


if __name__ == "__main__":
    main()
