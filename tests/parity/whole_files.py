#!/usr/bin/env python3
"""Every recipe from whole files of five rates, mono and stereo: a finished cache of ours against the
reference's own loading function.

    whole_files.py CORPUS REPOSITORIES --program build/check/cli/xtts-precompute [--recipe NAME]...

Prints a Markdown table. REPOSITORIES/OWNER/NAME is a clone of each repository that loading.py names.
Needs the environment of environment.sh with this project's Python package in it (`pip install .`),
ffmpeg, and libsox for Vocos (Debian: libsox-dev).

The files are WAV of 16 bits: three real recordings at each rate, and with a second channel that has
two voices. The peak of each file's mean is -3 dB, which Vocos's validation makes of any file.

A cell is the 99.9th percentile and the mean of how far ours is from the reference, in natural-log
units. `samples` compares with the formula in float64 of the samples that the reference has loaded:
loading alone differs. `all` compares with the mels that the reference makes of them.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import formulas
import loading
import numpy as np
import references
import soundfile
import soxr
import xtts_precompute
from compare import difference, write

RATES = (16000, 22050, 24000, 44100, 48000)
RECORDINGS = (
    "real_mixed/loose/chinese.flac",  # 48,000 Hz
    "real_ljspeech/wavs/LJ001-0002.wav",  # 22,050 Hz
    "real_mixed/LibriSpeech/test-clean/1089/134691/1089-134691-0000.flac",  # 16,000 Hz
)
PEAK = 10 ** (-3 / 20)
# The frames at a clip's end that see samples which the reference has cut off: BigVGAN cuts to whole
# hops, and lhotse to round(n rate / own rate) samples, which is one less in half of the cases.
CUT_FRAMES = {"bigvgan-44k": 3, "lhotse-fbank": 2}
PADDED = ("whisper-80", "whisper-128", "myxtts-tf")  # to a fixed length
SECONDS_MAX = 2.0


def recording(corpus, name, rate):
    samples, own_rate = soundfile.read(Path(corpus) / name)
    samples = samples[: int(SECONDS_MAX * own_rate)]
    return samples if own_rate == rate else soxr.resample(samples, own_rate, rate, "VHQ")


def make_files(corpus, folder):
    """Gives {(rate, channels): paths}."""
    paths = {}
    for rate in RATES:
        sounds = [recording(corpus, name, rate) for name in RECORDINGS]
        for number, sound in enumerate(sounds):
            other = np.resize(sounds[number - 1], len(sound))
            other = sound + 0.3 * other * (np.abs(sound).max() / np.abs(other).max())
            for samples in (sound[:, None], np.stack([sound, other], axis=1)):
                path = folder / f"r{rate}_c{samples.shape[1]}_{number}.wav"
                scaled = samples * (PEAK / np.abs(samples.mean(axis=1)).max())
                assert np.abs(scaled).max() < 1
                soundfile.write(path, scaled, rate, "PCM_16")
                paths.setdefault((rate, samples.shape[1]), []).append(path)
    return paths


def build(recipe, program, data, cache):
    settings = ("features.too_long=truncate", "text.tokens=none")
    options = [part for setting in settings for part in ("--set", setting)]
    command = [program, "build", data, cache, "--recipe", recipe, "--layout", "packed", "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{recipe}: {done.stderr}")
    return xtts_precompute.open(cache)


def apart(recipe, ours, theirs):
    """Leaves out frames that only one has: ours ends before the padding."""
    count = min(len(ours), len(theirs)) - CUT_FRAMES.get(recipe, 0)
    return difference(recipe, ours[:count], theirs[:count])


def figures(values):
    values = np.concatenate(values)
    return f"{np.quantile(values, 0.999):.0e} / {values.mean():.0e}"


def cell(recipe, cache, paths):
    """Gives the cells of both rows, and a note on other numbers of frames."""
    from_samples, from_all, more = [], [], set()
    for path in paths:
        try:
            loaded = loading.load(recipe, path)
        except loading.NotResampled:
            return "a defect", "a defect", ""
        except Exception as error:
            print(f"{recipe}: {path.name}: {type(error).__name__}: {str(error).splitlines()[:1]}", file=sys.stderr)
            return "refuses", "refuses", ""
        ours = np.asarray(cache[path.stem].mel if "linear" not in cache.columns else cache[path.stem].linear)
        theirs = references.run(recipe, loaded)
        if recipe not in PADDED and len(ours) != len(theirs):
            more.add(len(ours) - len(theirs))
        from_samples.append(apart(recipe, ours, formulas.truth(recipe, loaded)))
        from_all.append(apart(recipe, ours, theirs))
    note = "".join(f" ({count:+d} frame)" for count in sorted(more))
    return figures(from_samples) + note, figures(from_all) + note, note


def rows(recipe, cache, paths):
    for channels, name in ((1, "mono"), (2, "stereo")):
        cells = [cell(recipe, cache, paths[rate, channels]) for rate in RATES]
        for number, kind in enumerate(("samples", "all")):
            yield (f"{recipe}, {name}", kind, *(one[number] for one in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("repositories")
    parser.add_argument("--program", required=True)
    parser.add_argument("--recipe", action="append", choices=list(loading.LOADERS))
    options = parser.parse_args()
    loading.REPOSITORIES = options.repositories
    write(("recipe", "from", *(f"{rate:,} Hz" for rate in RATES)))
    write(["---"] * (2 + len(RATES)))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        paths = make_files(options.corpus, data)
        for recipe in options.recipe or loading.LOADERS:
            cache = build(recipe, options.program, str(data), f"{folder}/{recipe}")
            for row in rows(recipe, cache, paths):
                write(row)


if __name__ == "__main__":
    main()
