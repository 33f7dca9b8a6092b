"""Recipes whose records are filled up by what their own padding came to: from a file through a build and each layout to a batch."""

import wave

import numpy as np
import pytest
import xtts_precompute as xp

from support import PROJECT, tell

GOLDENS = PROJECT / "tests/golden/recipes"


def rows_of(table):
    return [line.split("\t") for line in (GOLDENS / table).read_text(encoding="utf-8").splitlines()]


def golden_input(name, rate):
    first, count = next((int(row[2]), int(row[3])) for row in rows_of("inputs.tsv") if row[:2] == [name, str(rate)])
    return np.load(GOLDENS / "inputs.npy")[first : first + count]


def golden_record(recipe, name):
    """The formula's features; what is not stored is equal the last row that is."""
    first = 0
    for row in rows_of("cases.tsv"):
        if row[0] != recipe:
            continue
        frames, stored = row[2], int(row[3])
        if row[1] == name:
            rows = np.load(GOLDENS / f"{recipe}.truth.npy")[first : first + stored]
            return np.concatenate([rows, np.repeat(rows[-1:], int(frames) - stored, axis=0)])
        first += stored
    raise AssertionError(f"no golden of {recipe} for {name}")


@pytest.mark.parametrize("layout", ["padded", "packed"])
@pytest.mark.parametrize(("recipe", "rate", "touched"), [("whisper-80", 16000, 67), ("myxtts-tf", 22050, 56)])
def test_the_whole_record_is_the_references(recipe, rate, touched, layout, tmp_path):
    (tmp_path / "data").mkdir()
    with wave.open(str(tmp_path / "data/lj.wav"), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(golden_input("lj", rate).tobytes())
    tell("build", tmp_path / "data", tmp_path / "cache", "--quiet", "--recipe", recipe, "--layout", layout)
    expected = golden_record(recipe, "lj")

    cache = xp.open(tmp_path / "cache")
    assert len(cache) == 1 and cache[0].mel.shape[0] == touched
    (batch,) = cache.reader(batch_size=1, shuffle="none", columns=("mel",))
    assert batch.mel.shape == (1, *expected.shape) and batch.mel_len[0] == touched
    assert np.abs(batch.mel[0] - expected).max() < 1e-5
    assert np.ptp(batch.mel[0, touched:]) == 0
