#!/usr/bin/env python3
"""Writes the golden files of what myxtts does to samples, from LJSpeech clips (public domain).

    make_golden.py LJSPEECH_WAVS OUT      (versions.txt, beside the files, has the versions used)

The steps are those of the reference (MyXTTSModel, myxtts/utils/audio.py), done with librosa and
NumPy in float32: librosa.effects.trim, RMS 0.1 limited to a peak of 1, division by the peak. The
files:

    ID.pcm.npy      int16, the clip as LJSpeech has it (sample / 32768 is the float32 sample)
    clips.tsv       id, trim start, trim end, FNV-1a of the conditioned float32 samples' bytes
    trims.tsv       id, top_db, frame, hop, zeros put in front and behind, trim start, trim end
"""

import pathlib
import platform
import sys

import librosa
import numpy as np
import scipy

CLIPS = ["LJ001-0002", "LJ001-0008", "LJ001-0011", "LJ002-0035"]
TRIMS = [
    (20, 1024, 256),
    (10, 1024, 256),
    (40, 1024, 256),
    (60, 2048, 512),
    (30, 2048, 512),
    (20, 400, 160),
    (35, 1000, 250),
    (25, 1001, 77),
    (15, 512, 300),
]


def read_pcm(path):
    import soundfile

    pcm, rate = soundfile.read(path, dtype="int16")
    assert rate == 22050 and pcm.ndim == 1
    return pcm


def condition(y):
    y, (start, end) = librosa.effects.trim(y, top_db=20, frame_length=1024, hop_length=256)
    rms = np.sqrt(np.mean(y**2))
    # One gain, so that no sample passes a peak of 1.
    y = y * min(np.float32(0.1) / rms, np.float32(1.0) / np.max(np.abs(y)))
    y = y / np.max(np.abs(y))
    assert y.dtype == np.float32
    return y, start, end


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    wavs, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    clips, trims = [], []
    for name in CLIPS:
        pcm = read_pcm(wavs / f"{name}.wav")
        samples = pcm.astype(np.float32) / np.float32(32768.0)
        conditioned, start, end = condition(samples)
        np.save(out / f"{name}.pcm.npy", pcm)
        clips.append((name, start, end, f"{fnv1a(conditioned.tobytes()):016x}"))
        for zeros in (0, 5000):
            for top_db, frame, hop in TRIMS:
                padded = np.pad(samples, zeros)
                _, (a, b) = librosa.effects.trim(padded, top_db=top_db, frame_length=frame, hop_length=hop)
                trims.append((name, top_db, frame, hop, zeros, a, b))
    for path, rows in (("clips.tsv", clips), ("trims.tsv", trims)):
        (out / path).write_text("".join("\t".join(str(field) for field in row) + "\n" for row in rows))
    (out / "versions.txt").write_text(
        f"python {platform.python_version()}\nnumpy {np.__version__}\nscipy {scipy.__version__}\n"
        f"librosa {librosa.__version__}\nLJSpeech-1.1 (public domain; LibriVox readings, published by Keith Ito)\n"
    )


if __name__ == "__main__":
    main()
