#!/usr/bin/env python3
"""Every recipe from files: a finished cache, decoded and resampled by us, against the formula.

    recipe_files.py CORPUS --program build/check/cli/xtts-precompute [--recipe NAME]...

Prints a Markdown table. The formula starts from libsndfile and librosa.resample, which is soxr HQ
to ceil(n rate / own rate) samples. The clips are those of clips.py that are stored without loss,
whole. Needs the environment of environment.sh with this project's Python package in it
(`pip install .`).

A row has the clips, whose frames must be as many as the formula's, and how far their values are
from it, in natural-log units: first the clips at the recipe's own rate, then those that were
resampled. Exits with 1 where a clip is further than 1e-5, or has other frames.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import clips
import formulas
import librosa
import numpy as np
import soundfile
import xtts_precompute
from compare import TARGET, attempt, difference, three, write

LOSSLESS = (".wav", ".flac")
FIRST_CHANNEL = ("myxtts-tf", "styletts2")


def gather(corpus, folder):
    """Makes hard links whose names tell the file of an id."""
    paths = {}
    for number, (path, _) in enumerate(clips.CLIPS):
        if path.endswith(LOSSLESS):
            name = f"clip{number:02d}"
            paths[name] = Path(corpus) / path
            shutil.copyfile(paths[name], folder / (name + paths[name].suffix))
    return paths


def load(path, recipe, rate):
    samples, own_rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = samples[:, 0] if recipe in FIRST_CHANNEL else samples.mean(axis=1, dtype=np.float32)
    return (mono if own_rate == rate else librosa.resample(mono, orig_sr=own_rate, target_sr=rate)), own_rate == rate


def compare(recipe, program, data, paths):
    same, resampled, faults = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                program,
                "build",
                data,
                folder + "/cache",
                "--recipe",
                recipe,
                "--layout",
                "packed",
                "--quiet",
                "--set",
                "features.too_long=truncate",
                "--set",
                "text.tokens=none",
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(f"{recipe}: {done.stderr}")
        cache = xtts_precompute.open(folder + "/cache")
        for name, path in paths.items():
            samples, is_own_rate = load(path, recipe, formulas.RECIPES[recipe].rate)
            truth, refusal = attempt(formulas.truth, recipe, samples, formulas.Refused)
            if refusal:
                continue  # tacotron2 refuses a clip beyond full scale after resampling
            ours = np.asarray(cache[name].mel)
            if len(ours) > len(truth) or (
                len(ours) < len(truth) and np.ptp(truth[len(ours) :]) > 0 and len(ours) != cache.columns["mel"].shape[0]
            ):
                faults.append(f"{recipe}: {path.name}: {len(ours)} frames, not {len(truth)}")
                continue
            (same if is_own_rate else resampled).append(difference(recipe, ours, truth[: len(ours)]))
    return same, resampled, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--program", required=True)
    parser.add_argument("--recipe", action="append", choices=list(formulas.RECIPES))
    options = parser.parse_args()
    good = True
    write(("recipe", "clips at its rate", "max / p99.9 / mean", "resampled", "max / p99.9 / mean"))
    write(["---"] * 5)
    with tempfile.TemporaryDirectory() as folder:
        paths = gather(options.corpus, Path(folder))
        for recipe in options.recipe or [name for name in formulas.RECIPES if "+" not in name]:
            same, resampled, faults = compare(recipe, options.program, folder, paths)
            write((recipe, len(same), three(same), len(resampled), three(resampled)))
            print("\n".join(faults), file=sys.stderr)
            good = good and not faults and all(values.max() <= TARGET for values in same + resampled)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
