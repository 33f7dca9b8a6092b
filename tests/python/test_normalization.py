"""cache.normalization: what recipes made of the spectrum, in words and as numbers that undo it."""

import json
import re
import warnings

import numpy as np
import pytest
import xtts_precompute as xp
from support import PROJECT, make_corpus, tell

NAMES = [recipe["name"] for recipe in json.loads(tell("recipes", "--json"))["recipes"]]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("normalization") / "data"
    make_corpus(folder, 6)
    return folder


def built(data, cache, *arguments):
    tell("build", data, cache, "--quiet", *arguments)
    return xp.open(cache)


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        ("matcha", "ln magnitude, floor 1e-5, normalized: (x + 5.536622) / 2.116101"),
        ("styletts2", "ln power, 1e-5 added, normalized: (x + 4) / 4"),
    ],
)
def test_inverse_gives_what_the_recipe_had_before(data, tmp_path, recipe, text):
    cache = built(data, tmp_path / "cache", "--recipe", recipe)
    plain = built(data, tmp_path / "plain", "--recipe", recipe, "--set", "normalize.method=none")
    found = cache.normalization
    assert isinstance(found, xp.Normalization) and found.text == text and not found.baked
    assert plain.normalization.method == "none" and plain.normalization.text.endswith("not normalized")
    for clip in cache:
        expected = np.asarray(plain[clip.id].mel)
        np.testing.assert_allclose(found.inverse(clip.mel), expected, atol=1e-5)
        np.testing.assert_array_equal(plain.normalization.inverse(expected), expected)


def test_inverse_of_channels_and_of_a_baked_cache(data, tmp_path):
    scales = np.linspace(1, 3, 80)
    (tmp_path / "scales.txt").write_text("\n".join(map(str, scales)) + "\n")
    settings = ("--recipe", "hifigan", "--set", "normalize.method=channels")
    cache = built(data, tmp_path / "cache", *settings, "--set", f"normalize.channels_file={tmp_path / 'scales.txt'}")
    plain = built(data, tmp_path / "plain", "--recipe", "hifigan")
    tell("convert", tmp_path / "cache", tmp_path / "baked", "--bake", "corpus", "--quiet")
    baked = xp.open(tmp_path / "baked")
    np.testing.assert_array_equal(cache.normalization.scale, scales)
    assert baked.normalization.baked and baked.normalization.method == "channels"
    assert "x / scale, each channel by its own, then by the corpus" in baked.normalization.text
    for one in (cache, baked):
        for clip in one:
            np.testing.assert_allclose(one.normalization.inverse(clip.mel), plain[clip.id].mel, atol=2e-5)


def test_what_each_clip_was_normalized_by_is_not_kept(data, tmp_path):
    cache = built(data, tmp_path / "cache", "--recipe", "myxtts-tf")
    assert cache.normalization.offset is None and cache.normalization.method == "min_max"
    with pytest.raises(xp.UnsupportedError, match=r"does not keep .*: ln magnitude, .*over each clip"):
        cache.normalization.inverse(cache[0].mel)
    assert built(data, tmp_path / "wave", "--recipe", "wave-22k").normalization is None


def test_info_and_recipes_say_the_same(data, tmp_path):
    cache = built(data, tmp_path / "cache", "--recipe", "whisper-80")
    found = cache.normalization
    text = "log10 power, floor 1e-10, at most 8 below the clip's largest, normalized: (x + 4) / 4"
    assert found == (text, "ten", 1e-10, "clamp", 8, "affine", False, -4, 4)
    of_info = json.loads(tell("info", cache.path, "--json"))["normalization"]
    assert of_info == found._asdict()
    assert of_info == json.loads(tell("recipes", "whisper-80", "--json"))["normalization"]
    assert f"numbers    {text}\n" in tell("info", cache.path).decode()
    assert f"features:\n  # numbers: {text}\n" in tell("recipes", "whisper-80").decode()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_recipes_says_what_is_so(name):
    of_recipe = json.loads(tell("recipes", name, "--json"))["normalization"]
    page = (PROJECT / "docs/recipes.md").read_text(encoding="utf-8")
    section = page.split("## What the numbers are")[1].split("\n## ")[0]
    row = re.search(rf"^\| `{re.escape(name)}` \| ([^|]*?) \|", section, re.MULTILINE)
    if of_recipe is None:
        assert row is None
        return
    assert row is not None, name
    assert row[1] == of_recipe["text"]


@pytest.mark.parametrize("wish", ["corpus", ([-5.5] * 80, [2.1] * 80)])
def test_normalizing_once_more_is_told(data, tmp_path, wish):
    cache = built(data, tmp_path / "cache", "--recipe", "matcha")
    with pytest.warns(UserWarning, match=r"'mel' is normalized by its recipe already \(ln .* once more") as told:
        cache.reader(batch_size=2, columns={"mel": {"normalize": wish}})
    assert len(told) == 1 and told[0].filename == __file__
    plain = built(data, tmp_path / "plain", "--recipe", "hifigan")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.reader(batch_size=2)
        plain.reader(batch_size=2, columns={"mel": {"normalize": wish}})
