"""Makes the corpus that the trainers read, from a seed: sound, features, and lists as users keep them.

    corpus.py FOLDER [--clips N]

wavs/ID.wav       2 s of tones, 22,050 Hz, 16 bits
mels/ID.npy       [frames, 80] float32, 80 to 160 frames
metadata.csv      ID|speaker|text, a line a clip, and 3,000 lines of clips that are elsewhere
sessions/ID.wav   60 s, of which a trainer crops its clips
"""

import argparse
import json
import pathlib
import wave

import numpy as np

RATE_HZ = 22050
WORDS = (
    "the of and a to in is you that it he was for on are as with his they at be this have from or one had by word "
    "but not what all were we when your can said there use an each which she do how their if will up other about out"
).split()


def tone(random, seconds):
    time_s = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    parts = [random.uniform(0.05, 0.2) * np.sin(2 * np.pi * random.uniform(80, 4000) * time_s) for _ in range(3)]
    return (sum(parts) * 20000 + random.normal(0, 200, len(time_s))).astype("<i2")


def write_wav(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(samples.tobytes())


def sentence(random):
    return " ".join(random.choice(WORDS, int(random.integers(6, 14)))) + f", {random.integers(1, 2000)} Mr. St. etc."


def make(folder, clips=240, seed=7):
    """Fills a folder with the corpus, or leaves it alone where it is made already."""
    folder = pathlib.Path(folder)
    if (folder / "made").exists():
        return folder
    for name in ("wavs", "mels", "sessions"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    names = [f"clip{index:05d}" for index in range(clips)]
    for name in names:
        write_wav(folder / "wavs" / f"{name}.wav", tone(random, 2))
        mel = random.normal(size=(int(random.integers(80, 161)), 80)).astype("float32")
        np.save(folder / "mels" / f"{name}.npy", mel)
    for index in range(6):
        write_wav(folder / "sessions" / f"session{index}.wav", np.tile(tone(random, 6), 10))
    lines = [f"{name}|speaker{index % 9}|{sentence(random)}" for index, name in enumerate(names)]
    lines += [f"other{index:05d}|speaker{index % 9}|{sentence(random)}" for index in range(3000)]
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
    lexicon = {word + str(number): list(f"{word}{number}") for word in WORDS for number in range(100)}
    (folder / "lexicon.json").write_text(json.dumps(lexicon))
    (folder / "made").touch()
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--clips", type=int, default=240)
    arguments = parser.parse_args()
    make(arguments.folder, arguments.clips)
