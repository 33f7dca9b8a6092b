"""Which features a checkpoint of the trainer's was trained on: a note beside the checkpoints.

The trainer resumes the newest checkpoint by itself (find_latest_checkpoint() at 7e78353). A model
that was trained on other features takes the new ones without an error, and fails in silence: a loss
of 12.9 in place of 1.7. The note names each checkpoint by the digest of its metadata file, so that
one that the trainer writes without the launcher is not taken for one of ours.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from .._base.errors import MismatchError
from .features import differences

NOTE = "xtts-features.json"
_METADATA = "_metadata.json"
_SHOWN = 4


def written(folder: str) -> dict[str, str]:
    """Returns the checkpoints in a folder: the digest of each, by its name."""
    return dict(_digests(folder))


def note(folder: str, before: Mapping[str, str], recipe: Mapping[str, Any], mode: str) -> None:
    """Notes the features of the checkpoints that were written since `before`."""
    now = written(folder)
    features = {"recipe": recipe["name"], "mode": mode, "features": recipe["features"]}
    key = hashlib.sha256(json.dumps(features, sort_keys=True).encode()).hexdigest()[:16]
    known = _read(folder)
    made = {name: one for name, one in known["checkpoints"].items() if now.get(name) == one["metadata"]}
    made.update({name: {"metadata": one, "features": key} for name, one in now.items() if before.get(name) != one})
    used = {one["features"] for one in made.values()}
    kept = {one: what for one, what in {**known["features"], key: features}.items() if one in used}
    path = os.path.join(folder, NOTE)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump({"format": 1, "checkpoints": made, "features": kept}, file, indent=1)
    os.replace(f"{path}.new", path)


def check(base: str, recipe: Mapping[str, Any], mode: str, ways_out: str) -> str | None:
    """Returns a line about a checkpoint that the trainer resumes, or None; `base` is its path.

    `recipe`: what the model will train on now. Other features, or unknown ones, raise MismatchError.
    """
    base = base.removesuffix(_METADATA)
    folder, name = os.path.split(base)
    known, digest = _read(folder), _digest(base + _METADATA)
    one = known["checkpoints"].get(name)
    if one is None or digest is None or one["metadata"] != digest:
        if mode != "precompute":
            return f"{base}: no note says on which features it was trained; taken for those of the trainer's own loader"
        raise MismatchError(
            f"{base}: no note says on which features this checkpoint was trained (it would be in {NOTE} beside it). "
            "So the trainer alone made it, or nobody remembers the cache. A model goes on with other features "
            "without an error, and does not learn.\n"
            + ways_out.replace("the mode that made it", "the mode that made it, --mode parity for the trainer alone")
        )
    was = known["features"][one["features"]]
    # Native features depend on max_frames a little, and the trainer itself lets it change.
    differ = [
        one for one in differences(was["features"], recipe["features"]) if not one.startswith("features.max_frames:")
    ]
    if not differ:
        return None
    lines = [line.replace("in the cache", "then").replace("asked for", "now") for line in differ[:_SHOWN]]
    lines += ["..."] * (len(differ) > _SHOWN)
    if was["recipe"] != recipe["name"]:
        lines = [f"recipe: {was['recipe']} then, {recipe['name']} now"]
    raise MismatchError(
        "\n".join([
            f"{base} was trained on other features than those that it would get now:",
            *(f"    {line}" for line in lines),
            "A model goes on with other features without an error, and does not learn.",
            ways_out.replace("the mode that made it", f"the mode that made it, --mode {was['mode']}"),
        ])
    )  # fmt: skip


def _digests(folder: str) -> Iterator[tuple[str, str]]:
    for path in glob.glob(os.path.join(glob.escape(folder), f"*{_METADATA}")):
        digest = _digest(path)
        if digest is not None:
            yield os.path.basename(path).removesuffix(_METADATA), digest


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[:32]
    except OSError:
        return None


def _read(folder: str) -> dict[str, dict[str, Any]]:
    empty: dict[str, dict[str, Any]] = {"checkpoints": {}, "features": {}}
    try:
        with open(os.path.join(folder, NOTE), encoding="utf-8") as file:
            read = json.load(file)
        return {name: dict(read[name]) for name in empty} if read["format"] == 1 else empty
    except (OSError, ValueError, KeyError, TypeError):
        return empty
