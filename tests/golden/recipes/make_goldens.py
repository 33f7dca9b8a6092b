#!/usr/bin/env python3
"""Writes the golden files of all recipes.

    make_goldens.py CORPUS [--frames]

The files are inputs, the formulas' features, some of the references' own features, and the numbers
of frames; README.md says what they hold. Needs the Python of tests/parity/environment.sh.

Without --frames, the frame counts stay as they are; they take minutes. Truths are stored as
float32. They are logarithms between -32 and 32, so that costs at most 1e-6, a tenth of what the
tests allow. vits-linear and energies are stored to 6e-8 of their value.
"""

import argparse
import importlib.metadata
import os
import platform
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "parity"))

import clips  # noqa: E402
import formulas  # noqa: E402
import numpy as np  # noqa: E402
import references  # noqa: E402

# Three recordings of three speakers, free of conditions: public domain, public domain, CC0.
CLIPS = (  # name, path, seconds: first and end
    ("lj", "real_ljspeech/wavs/LJ001-0008.wav", 0.55, 1.2),
    ("jfk", "real_mixed/loose/jfk.mp3", 0.45, 1.05),
    ("cv", "real_mixed/cv-corpus/en/clips/common_voice_en_651325.mp3", 0.8, 1.4),
)
RATES = sorted({recipe.rate for recipe in formulas.RECIPES.values()})
# Recipes with large rows, and recipes that share all but a step with another, have fewer inputs.
FEWER = (
    "vits-linear",
    "styletts2",
    "whisper-128",
    "whisper-128+clip",
    "fastspeech2",
    "hifigan+unscaled",
    "matcha",
    "cosyvoice",
    "f5-tts",
    "xtts-dvae+norms",
    "myxtts-tf+clip",
)
OF_FEWER = ("lj", "silence", "sine", "tone-between-silence", "noise-1", "noise-385", "noise-513", "over-full-scale")
GAINS = {"over-full-scale": 2}
WITH_REFERENCE = ("lj", "cv", "tone-between-silence")
LENGTH_MAX = 5000


def inputs(corpus):
    """Yields name, rate (0: any), gain, int16 samples."""
    for rate in RATES:
        for name, path, first, end in CLIPS:
            samples = clips.load(Path(corpus) / path, rate)[0][int(first * rate) : int(end * rate)]
            yield name, rate, 1, np.clip(np.round(samples * 32768), -32768, 32767).astype(np.int16)
    for name, samples in clips.edges():
        gain = GAINS.get(name, 1)
        steps = samples / gain * 32768
        assert np.array_equal(steps, np.round(steps)), name
        yield name, 0, gain, steps.astype(np.int16)


def write_inputs(corpus):
    rows, arrays, first = [], [], 0
    for name, rate, gain, steps in inputs(corpus):
        rows.append((name, rate, first, len(steps), gain))
        arrays.append(steps)
        first += len(steps)
    np.save(HERE / "inputs.npy", np.concatenate(arrays))
    write_table("inputs.tsv", rows)
    return [
        (row[0], row[1], np.float32(steps) / np.float32(32768) * np.float32(row[4])) for row, steps in zip(rows, arrays)
    ]


def write_table(name, rows):
    (HERE / name).write_text("".join("\t".join(str(cell) for cell in row) + "\n" for row in rows))


def without_repeats(features):
    """Gives the frames up to the first of those that repeat to the end."""
    same = np.all(features == features[-1:], axis=1)
    return features[: len(features) - int(np.argmin(same[::-1])) + 1] if not same.all() else features[:1]


def golden(name, samples):
    """Gives truth and reference, each [frames, bins], or None where the reference refuses. Both
    must refuse together."""
    try:
        truth = formulas.truth(name, samples)
    except formulas.Refused:
        truth = None
    try:
        reference = references.run(name, samples)
    except Exception:
        reference = None
    assert (truth is None) == (reference is None), f"{name}: the formula or the reference refuses alone"
    assert truth is None or truth.shape == reference.shape, f"{name}: {truth.shape}, {reference.shape}"
    return truth, reference


def write_recipe(name, samples_of_inputs, cases):
    rate = formulas.RECIPES[name].rate
    truths, outputs = [], []
    for clip, clip_rate, samples in samples_of_inputs:
        if clip_rate not in (0, rate) or (name in FEWER and clip not in OF_FEWER):
            continue
        truth, reference = golden(name, samples)
        if truth is None:
            cases.append((name, clip, "refused", 0, 0))
            continue
        kept = len(without_repeats(truth)) if len(truth) else 0
        kept_of_reference = kept if clip in WITH_REFERENCE else 0
        truths.append(truth[:kept].astype(np.float32))
        outputs.append(reference[:kept_of_reference])
        cases.append((name, clip, len(truth), kept, kept_of_reference))
    np.save(HERE / f"{name}.truth.npy", np.ascontiguousarray(np.concatenate(truths)))
    np.save(HERE / f"{name}.reference.npy", np.ascontiguousarray(np.concatenate(outputs)))


def frame_counts(name):
    """Gives rows of first length, last length, and the reference's frames or `refused`, for the
    lengths 0 to 5000. The formula must have the same frames."""
    noise = np.float32(0.1 * np.random.default_rng(1).standard_normal(LENGTH_MAX))
    fixed = name in (
        "myxtts-tf",
        "whisper-80",
        "whisper-128",
    )  # these pad or cut first, so a hundredth of the lengths shows it
    rows = []
    for length in range(0, LENGTH_MAX + 1, 100 if fixed else 1):
        samples = np.clip(noise[:length], -1, 1)
        _, reference = golden(name, samples)
        count = "refused" if reference is None else len(reference)
        if rows and rows[-1][3] == count:
            rows[-1][2] = length
        else:
            rows.append([name, length, length, count])
    return rows


def write_versions():
    packages = sorted(
        {package for reference in references.REFERENCES.values() for package in reference.packages}
        | {"numpy", "soundfile", "soxr"}
    )
    lines = [f"python {platform.python_version()}"] + [
        f"{package} {importlib.metadata.version(package)}" for package in packages
    ]
    lines += [f"{name}: {reference.origin}" for name, reference in references.REFERENCES.items()]
    lines.append(
        "lj: LJSpeech-1.1 LJ001-0008, public domain. jfk: inaugural address 1961, public domain. cv: Common Voice, CC0."
    )
    (HERE / "versions.txt").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--frames", action="store_true")
    options = parser.parse_args()
    for name, why in references.missing():
        sys.exit(f"goldens need every reference; {name}: {why}")
    samples_of_inputs, cases = write_inputs(options.corpus), []
    for name in formulas.RECIPES:
        write_recipe(name, samples_of_inputs, cases)
    write_table("cases.tsv", cases)
    write_table(
        "recipes.tsv", [(name, recipe.rate, recipe.natural_log_units) for name, recipe in formulas.RECIPES.items()]
    )
    np.savetxt(HERE / "xtts_norms.txt", formulas.XTTS_NORMS)
    write_versions()
    if options.frames:
        write_table("frames.tsv", [row for name in formulas.RECIPES for row in frame_counts(name)])


if __name__ == "__main__":
    main()
