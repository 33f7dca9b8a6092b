"""The trainer's own lists and splits, read as its LJSpeechDataset reads them (myxtts/data/ljspeech.py at 7e78353): a validation clip of its stays one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from ._choices import listed, text
from ._errors import InvalidArgumentError, MismatchError, NotFoundError
from ._myxtts_config import Config, warn

_HEADERS = ("id|", "fileid|", "wav_id|")
_SHOWN = 3  # clips that a message names
_THEIR_NAMES = {"train": "train", "validation": "val", "test": "test"}


class Row(NamedTuple):
    id: str
    normalized: str


def split_ids(config: Config, data: str | None, split: str | None) -> list[str] | None:
    """The clips of a split that the trainer has made: `processed/splits.json` numbers the lines of metadata.csv. None where it has made none."""
    if data is None or split is None or _list_of(config, split) is not None:
        return None  # lists of their own divide the clips, and the cache has read them
    splits = os.path.join(data, "processed", "splits.json")
    table = os.path.join(data, "metadata.csv")
    if not os.path.isfile(splits) or not os.path.isfile(table):
        return None
    try:
        with open(splits, encoding="utf-8") as file:
            places = [int(place) for place in json.load(file)[_THEIR_NAMES[split]]]
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidArgumentError(f"{splits} is no file of the trainer's splits: {error!r}") from None
    rows = read_list(table, os.path.join(data, "wavs"))
    beyond = [place for place in places if not 0 <= place < len(rows)]
    if beyond:
        raise MismatchError(
            f"{splits} numbers {max(beyond) + 1} clips, and {table} has {len(rows)} with their sound: one of the two has changed since. "
            "The trainer makes new splits once that file is gone"
        )
    return [rows[place].id for place in places]


def chosen_clips(source: Any, ids: list[str] | None, own: list[str] | None) -> list[str] | None:
    """The ids of a cache (or of clips at runtime) that the caller has chosen, or that the trainer has in its own split. None: all of a split."""
    wanted = own if ids is None else ids
    if wanted is None:
        return None
    found = {clip_id: _name_in(source, clip_id) for clip_id in wanted}
    lacking = [clip_id for clip_id, name in found.items() if name is None]
    named = ", ".join(lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
    if lacking and (ids is not None or len(lacking) == len(found)):
        raise NotFoundError(f"{len(lacking)} of {len(found)} clips are not in {source._shown}: {named}")
    if lacking:
        warn(f"{len(lacking)} of the {len(found)} clips of the trainer's own split are not in {source._shown}: {named}. A build's rejects.jsonl says why")
    return [name for name in found.values() if name is not None]


def _name_in(source: Any, clip_id: str) -> str | None:
    names = (clip_id, *(f"{dataset}/{clip_id}" for dataset in getattr(source, "datasets", ())))
    return next((name for name in names if name in source), None)


def listed_ids(ids: Iterable[str]) -> list[str]:
    """The caller's argument."""
    if isinstance(ids, str):
        raise InvalidArgumentError(f"ids must be a list of ids, not one text: ids=[{ids!r}]")
    made = [text("one of ids", one) for one in listed("ids", ids)]
    if not made:
        raise InvalidArgumentError("ids is empty: no clips chosen. None takes those of the split")
    return made


def tell_of_checkpoint(config: Config, split: str | None) -> None:
    """A model that was trained on the trainer's own split has seen clips of ours."""
    folder = config.value("training.checkpoint_dir") or ""
    if split is None or _list_of(config, split) is not None or not os.path.isdir(folder):
        return
    if any(name.endswith("_model.weights.h5") for name in os.listdir(folder)):
        warn(
            f"{folder} has a checkpoint, and the clips of {split} are those of the cache's split, not of the trainer's: some of its training clips may validate "
            "here. data=, where its processed/splits.json is, takes the trainer's own; so does ids="
        )


def symbols_of(config: Config, data: str, folder: str) -> tuple[str, list[Row]]:
    """The trainer's file of symbols under this folder of its, and the clips whose texts it makes one of where there is none."""
    name = _list_of(config, "train")
    table = os.path.join(data, name or "metadata.csv")
    given = config.words("wavs_train_dir") if name else None
    sound = os.path.join(data, given) if given else os.path.join(os.path.dirname(table), "wavs")
    rows = read_list(table, sound) if os.path.isfile(table) else []
    return os.path.join(data, "processed", folder, "symbols.json"), rows


def _list_of(config: Config, split: str) -> str | None:
    return config.words("metadata_train_file" if split == "train" else "metadata_eval_file")


def read_list(path: str, sound: str) -> list[Row]:
    """The lines of a list that have an id and a WAV file, in its order."""
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.strip().lstrip("\ufeff")
            if words.lower().startswith(_HEADERS) or "|" not in words:
                continue
            # The id ends at the first bar, and the normalized text begins behind the last: a text may have bars of its own.
            clip_id, normalized = words.split("|", 1)[0].strip(), words.rsplit("|", 1)[1].strip()
            if clip_id and os.path.exists(os.path.join(sound, f"{clip_id}.wav")):
                rows.append(Row(clip_id, normalized))
    return rows
