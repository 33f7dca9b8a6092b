"""Caches of recipes whose features have changed since: a model gets other numbers than it had.

`xtts-precompute info` compares a cache with the shipped recipe of its name. A trainer has no
recipes at hand, so here is what they once had in the place of what they have.
"""

from __future__ import annotations

import json
import os
from typing import Any

from .._base.warn import warn
from .._cache.cache import Cache

_TORCHAUDIO = {"resampler": ("soxr_hq", "torchaudio_sinc")}
_FFMPEG = {"resampler": ("soxr_hq", "ffmpeg_swr")}
FORMER: dict[str, dict[str, tuple[str, str]]] = {  # recipe: {key: (once, now)}
    **dict.fromkeys(("f5-tts", "vocos-24k", "cosyvoice", "cosyvoice2", "wave-22k", "wave-24k"), _TORCHAUDIO),
    **dict.fromkeys(("xtts-dvae", "xtts-cond", "xtts-cond-4096"), _TORCHAUDIO),
    **dict.fromkeys(("whisper-80", "whisper-128"), _FFMPEG),
    "lhotse-fbank": {**_TORCHAUDIO, "channels": ("mean", "first")},
}
_told: set[str] = set()  # digests of caches


def tell_former_recipe(cache: Cache) -> None:
    """Warns once of a cache that was made by a recipe of its name which is another one by now."""
    former = FORMER.get(cache.recipe)
    if former is None or cache.digest in _told:
        return
    _told.add(cache.digest)
    stored = _features(cache.paths[0])
    keys = [f"{key} is {once} here, {now} there" for key, (once, now) in former.items() if stored.get(key) == once]
    if keys:
        warn(
            f"{cache.path}: its recipe {cache.recipe} differs from the shipped one: {', '.join(keys)}. "
            f"'xtts-precompute DATA NEW --recipe {cache.recipe}' makes a cache by the shipped recipe"
        )


def _features(path: str) -> dict[str, Any]:
    with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
        features: dict[str, Any] = json.load(file)["recipe"]["features"]
    return features
