#!/usr/bin/env python3
"""Every recipe, three ways from the same samples: our features, the reference's own, the formula's.

    compare.py CORPUS [--program recipe_features] [--recipe NAME]... [--details]

Prints a Markdown table. CORPUS is the test corpus; clips.py lists what is taken of it.
environment.sh makes the Python that has the references. The formula is evaluated in float64. The
program is run as

    recipe_features RECIPE IN.f32 OUT.f32 [--set key=value]...

IN.f32 holds mono float32 samples at the recipe's rate. The program writes frames x bins float32,
frame after frame, to OUT.f32, and prints the two numbers. It fails where it makes no features of
the clip. A name with a `+` is a recipe with settings: variants.tsv says which.

Differences are in natural-log units (a recipe's own unit times its worth in them). vits-linear and
energies are no logarithms: there, differences are relative to the larger of the value and 1. The
script exits with 1 if the program is further than 1e-5 from the formula on a real clip; if it is
further from the reference than the reference is from the formula, by more than that; or if it
differs in frames or in what it refuses.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import clips
import formulas
import numpy as np
import references

HERE = Path(__file__).resolve().parent
TARGET = 1e-5


def variants():
    """Gives {name: (recipe, settings)}."""
    rows = [line.split("\t") for line in (HERE / "variants.tsv").read_text().splitlines()]
    return {name: (recipe, settings.split()) for name, recipe, settings in rows}


class Program:
    def __init__(self, path, folder):
        self.path, self.variants = path, variants()
        self.input, self.output, norms = folder / "in.f32", folder / "out.f32", folder / "norms.txt"
        np.savetxt(norms, formulas.XTTS_NORMS)
        self.names = {"norms": str(norms)}

    def run(self, name, samples):
        """Gives features, or the reason why there are none."""
        recipe, settings = self.variants.get(name, (name, []))
        samples.tofile(self.input)
        self.output.unlink(missing_ok=True)
        command = [self.path, recipe, str(self.input), str(self.output)]
        for setting in settings:
            command += ["--set", setting.format(**self.names)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        frames, bins = map(int, re.findall(r"\d+", done.stdout)[-2:])
        return np.fromfile(self.output, np.float32).reshape(frames, bins), None


def attempt(function, name, samples, refusal):
    try:
        return function(name, samples), None
    except refusal as error:
        return None, f"{type(error).__name__}: {error}"


def difference(name, a, b):
    unit = formulas.RECIPES[name].natural_log_units
    apart = np.abs(np.float64(a) - np.float64(b))
    return (apart * unit if unit else apart / np.maximum(1, np.abs(b))).ravel()


@dataclass
class Tally:
    ours: list = field(default_factory=list)  # differences from the truth
    reference: list = field(default_factory=list)  # differences from the truth
    between: list = field(default_factory=list)
    # Those of `reference` whose clips were recorded at the recipe's rate or above.
    full_band: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    clips: int = 0

    def add(self, name, clip, ours, reference, truth, upsampled=False):
        """Each side is (features, refusal), or None where there is no such side."""
        self.clips += 1
        before = len(self.reference)
        for side, values, who in ((ours, self.ours, "the program"), (reference, self.reference, "the reference")):
            if side is not None:
                self.judge(name, clip, side, truth, values, who)
        self.full_band += [] if upsampled else self.reference[before:]
        both = ours is not None and reference is not None and ours[0] is not None and reference[0] is not None
        if both and ours[0].shape == reference[0].shape and ours[0].size:
            self.between.append(difference(name, ours[0], reference[0]))

    def judge(self, name, clip, side, truth, values, who):
        features, refusal = side
        expected, expected_refusal = truth
        if features is None and (expected is None or (not expected.size and who == "the program")):
            return  # in our program, a clip without a frame is no record
        if features is None:
            self.faults.append(f"{clip}: {who} refuses: {refusal}")
        elif expected is None:
            # A program may make features of a clip that a reference refuses.
            if who == "the reference":
                self.faults.append(f"{clip}: {who} does not refuse: {expected_refusal}")
        elif features.shape != expected.shape:
            self.faults.append(f"{clip}: {who} makes {features.shape}, not {expected.shape}")
        elif features.size:
            values.append(difference(name, features, expected))


def three(values):
    if not values:
        return "–"
    values = np.concatenate(values)
    return f"{values.max():.1e} / {np.quantile(values, 0.999):.1e} / {values.mean():.1e}"


def most(values):
    return float(np.max([v.max() for v in values])) if values else 0.0  # np.max: a NaN stays one


def one(values):
    return f"{most(values):.1e}" if values else "–"


def compare(name, corpus, program, installed):
    tallies = {"real": Tally(), "edge": Tally()}
    rate = formulas.RECIPES[name].rate
    for kind, source in (("real", clips.real(corpus, rate)), ("edge", clips.edges())):
        for clip, samples, *upsampled in source:
            truth = attempt(formulas.truth, name, samples, formulas.Refused)
            reference = attempt(references.run, name, samples, Exception) if installed else None
            ours = program.run(name, samples) if program else None
            tallies[kind].add(name, clip, ours, reference, truth, *upsampled)
    return tallies["real"], tallies["edge"]


HEADINGS = (
    "recipe",
    "reference",
    "clips",
    "ours from the formula: max / p99.9 / mean",
    "the reference from the formula",
    "of that, max where the clip was not upsampled",
    "ours from the reference",
    "edge cases: ours, max",
    "edge cases: the reference, max",
    "faults",
)


def row(name, real, edge, installed):
    what = f"{references.REFERENCES[name].origin} ({references.versions(name)})" if installed else "not installed"
    return (
        name,
        what,
        real.clips,
        three(real.ours),
        three(real.reference),
        one(real.full_band),
        three(real.between),
        one(edge.ours),
        one(edge.reference),
        len(real.faults) + len(edge.faults),
    )


def write(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def passes(real, edge):
    enough = most(real.ours) <= TARGET and most(real.between) <= most(real.reference) + TARGET
    return enough and not real.faults and not edge.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--program")
    parser.add_argument("--recipe", action="append", choices=list(formulas.RECIPES))
    parser.add_argument("--details", action="store_true", help="every fault, on standard error")
    options = parser.parse_args()
    for name, why in references.missing():
        print(f"skipped: the reference of {name}: {why}", file=sys.stderr)

    write(HEADINGS)
    write(["---"] * len(HEADINGS))
    good = True
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.program, Path(folder)) if options.program else None
        for name in options.recipe or formulas.RECIPES:
            installed = references.why_missing(name) is None
            real, edge = compare(name, options.corpus, program, installed)
            write(row(name, real, edge, installed))
            good = good and passes(real, edge)
            if options.details:
                for fault in real.faults + edge.faults:
                    print(f"{name}: {fault}", file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
