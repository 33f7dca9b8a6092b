"""Recipes whose records are filled with what their own padding came to.

They go from a file through a build and each layout to a batch.
"""

import numpy as np
import pytest
import xtts_precompute as xp
from support import PROJECT, tell, write_wav

GOLDENS = PROJECT / "tests/golden/recipes"


def rows_of(table):
    return [line.split("\t") for line in (GOLDENS / table).read_text(encoding="utf-8").splitlines()]


def golden_input(name, rate):
    first, count = next((int(row[2]), int(row[3])) for row in rows_of("inputs.tsv") if row[:2] == [name, str(rate)])
    return np.load(GOLDENS / "inputs.npy")[first : first + count]


def golden_record(recipe, name):
    """Returns the formula's features; rows that are not stored are equal to the last stored one."""
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
    write_wav(tmp_path / "data/lj.wav", golden_input("lj", rate), rate)
    tell("build", tmp_path / "data", tmp_path / "cache", "--quiet", "--recipe", recipe, "--layout", layout)
    expected = golden_record(recipe, "lj")

    cache = xp.open(tmp_path / "cache")
    assert len(cache) == 1 and cache[0].mel.shape[0] == touched
    (batch,) = cache.reader(batch_size=1, shuffle="none", columns=("mel",))
    assert batch.mel.shape == (1, *expected.shape) and batch.mel_len[0] == touched
    assert np.abs(batch.mel[0] - expected).max() < 1e-5
    assert np.ptp(batch.mel[0, touched:]) == 0


def write_noise(path, seconds, rate=22050, seed=1):
    samples = np.random.default_rng(seed).normal(0, 3000, int(seconds * rate)).astype(np.int16)
    write_wav(path, samples, rate)
    return samples


@pytest.mark.parametrize("layout", ["padded", "packed"])
def test_crops_of_sound_and_mel_begin_at_the_same_moment(layout, tmp_path):
    (tmp_path / "data").mkdir()
    for number in range(6):
        write_noise(tmp_path / f"data/{number}.wav", 1 + 0.3 * number, seed=number)
    columns = ["columns.wave=int16", "columns.linear=true", "columns.energy=true"]
    settings = [part for setting in columns for part in ("--set", setting)]
    tell(
        "build", tmp_path / "data", tmp_path / "cache", "--quiet", "--recipe", "hifigan", "--layout", layout, *settings
    )

    cache = xp.open(tmp_path / "cache")
    reader = cache.reader(batch_size=2, shuffle="global", seed=3, split=None, crop={"frames": 32})
    seen = 0
    for batch in reader:
        assert batch.wave.shape == (2, 32 * 256) and batch.wave.dtype == np.int16
        assert batch.linear.shape == (2, 32, 513) and batch.energy.shape == (2, 32)
        for row, name in enumerate(batch.ids):
            clip = cache[name]
            starts = [i for i in range(len(clip.mel) - 31) if np.array_equal(clip.mel[i : i + 32], batch.mel[row])]
            assert len(starts) == 1
            start = starts[0]
            assert np.array_equal(batch.wave[row], clip.wave[start * 256 : (start + 32) * 256])
            assert np.array_equal(batch.linear[row], clip.linear[start : start + 32])
            assert np.array_equal(batch.energy[row], clip.energy[start : start + 32])
            seen += 1
    assert seen == 6


def test_a_cache_of_sound_alone_gives_the_samples_of_the_file(tmp_path):
    (tmp_path / "data").mkdir()
    samples = {f"{n}": write_noise(tmp_path / f"data/{n}.wav", 0.5 + 0.25 * n, seed=n) for n in range(4)}
    tell("build", tmp_path / "data", tmp_path / "cache", "--quiet", "--recipe", "wave-22k")

    cache = xp.open(tmp_path / "cache")
    (batch,) = cache.reader(batch_size=4, shuffle="none", split=None, columns=("wave",))
    assert batch.wave.shape == (4, 128 * 256)
    for row, name in enumerate(batch.ids):
        length = len(samples[name])
        assert batch.wave_len[row] == length
        assert np.array_equal(batch.wave[row, :length], samples[name])
        assert not batch.wave[row, length:].any()
    (cropped,) = cache.reader(batch_size=4, shuffle="global", split=None, crop={"frames": 32})
    assert cropped.wave.shape == (4, 32 * 256)
    (bucket,) = cache.reader(batch_size=4, shuffle="none", split=None, buckets=[{"batch_size": 4, "mel": 128}])
    assert bucket.wave.shape == (4, 128 * 256)
