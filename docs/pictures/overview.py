#!/usr/bin/env python3
"""overview.py MEL: draws overview-light.svg and overview-dark.svg, the picture of README.md; needs matplotlib.

`xtts-precompute show CACHE ID --npy MEL` writes MEL. The present picture has a sentence of LJSpeech.
The times are those of samples/train_tensorflow.py in tests/bench/RESULTS.md.
"""

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

SECONDS_A_FRAME = 256 / 22_050
STEPS_MS = {"features\non the fly": (171.52, 277.0), "from the\ncache": (0.21, 54.0)}  # wait, whole step
SHOWN_MS = 1_000
WAIT, WORK = "#d95f02", "#1b9e77"


def draw(mel, ink, path):
    plt.rcParams.update(
        {
            "font.family": "DejaVu Sans",
            "font.size": 10,
            "text.color": ink,
            "axes.labelcolor": ink,
            "xtick.color": ink,
            "ytick.color": ink,
            "axes.edgecolor": ink,
            "svg.hashsalt": "overview",
        }
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 2.9), width_ratios=(1, 1.15), layout="constrained")
    left.imshow(
        mel.T, origin="lower", aspect="auto", cmap="magma", extent=(0, len(mel) * SECONDS_A_FRAME, 0, mel.shape[1])
    )
    left.set(title="A mel, as the cache holds it", xlabel="time, s", ylabel="mel channel")

    for row, (wait, step) in enumerate(STEPS_MS.values()):
        begins = np.arange(0, SHOWN_MS, step)
        right.broken_barh([(begin, min(wait, SHOWN_MS - begin)) for begin in begins], (-row - 0.3, 0.6), color=WAIT)
        works = begins[begins + wait < SHOWN_MS] + wait
        lengths = np.minimum(step - wait, SHOWN_MS - works) - 4  # a gap tells two steps apart
        right.broken_barh(list(zip(works + 1, lengths)), (-row - 0.3, 0.6), color=WORK)
        right.text(SHOWN_MS + 15, -row, f"{1000 / step:.1f}\nsteps/s", va="center")
    right.set(title="One second of training", xlabel="time, ms", xlim=(0, SHOWN_MS), ylim=(-1.95, 0.5))
    right.set_yticks([0, -1], STEPS_MS)
    right.legend(
        handles=[
            matplotlib.patches.Patch(color=WAIT, label="waits for data"),
            matplotlib.patches.Patch(color=WORK, label="computes"),
        ],
        loc="lower left",
        ncols=2,
        frameon=False,
    )
    for side in ("top", "right", "left"):
        right.spines[side].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    folder = Path(__file__).parent
    for name, ink in (("light", "#1f2328"), ("dark", "#e6edf3")):
        draw(np.load(sys.argv[1]), ink, folder / f"overview-{name}.svg")
