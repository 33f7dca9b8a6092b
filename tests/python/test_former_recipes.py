"""Loaders warn of a cache whose recipe has other features by now, and of no other."""

import json
import warnings

import pytest
import xtts_precompute as xp
from support import make_corpus
from xtts_precompute._loaders import loader
from xtts_precompute._loaders.former_recipes import FORMER


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("former") / "data"
    make_corpus(folder, 2)
    return folder


def warnings_of(data, cache, settings):
    xp.build(data, cache, recipe="f5-tts", settings=settings, progress=False)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        loader.opened(cache)
        loader.opened(cache)
    return [str(one.message) for one in seen]


def test_a_cache_of_the_former_recipe_is_told_once(data, tmp_path):
    [message] = warnings_of(data, tmp_path / "cache", {"resampler": "soxr_hq"})
    assert message == (
        f"{tmp_path}/cache: its recipe f5-tts differs from the shipped one: resampler is soxr_hq here, torchaudio_sinc "
        "there. 'xtts-precompute DATA NEW --recipe f5-tts' makes a cache by the shipped recipe"
    )


@pytest.mark.parametrize("settings", [{}, {"n_mels": 80}, {"resampler": "soxr_vhq"}])
def test_others_are_not(data, tmp_path, settings):
    assert warnings_of(data, tmp_path / "cache", settings) == []


def test_the_shipped_recipes_have_what_is_named_as_theirs():
    from xtts_precompute._build import tools

    for recipe, keys in FORMER.items():
        described = json.loads(tools.core().recipe(recipe=recipe.encode(), settings=[], config=b""))
        for key, (once, now) in keys.items():
            assert described["sections"]["features"][key] == now != once
