"""The trainer's own lists and splits, so that its validation clips stay validation clips.

They are read as its LJSpeechDataset reads them (myxtts/data/ljspeech.py at 7e78353).
"""

from __future__ import annotations

import collections
import glob
import json
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .._base.choices import listed, text
from .._base.errors import InvalidArgumentError, MismatchError, NotFoundError
from .._base.warn import warn
from .._base.words import counted
from .config import Config

_HEADERS = ("id|", "fileid|", "wav_id|")
_THEIR_NAMES = {"train": "train", "validation": "val", "test": "test"}
_SHOWN = 3  # clips that a message names


class Row(NamedTuple):
    id: str
    normalized: str


# ---- which lists there are


def named_list(config: Config, split: str) -> str | None:
    """Returns the list that the configuration names for a split, or None."""
    return config.words("metadata_train_file" if split == "train" else "metadata_eval_file")


def named_sound(config: Config, split: str) -> str | None:
    """Returns the folder with the sound of that list, or None."""
    return config.words("wavs_train_dir" if split == "train" else "wavs_eval_dir")


def lists_in(config: Config, data: str | None) -> list[str]:
    """Returns the splits whose lists lie in this folder.

    The trainer has a folder for each split, so one of the lists may be elsewhere.
    """
    named = [(split, named_list(config, split)) for split in ("train", "validation")]
    return [split for split, name in named if data is not None and name and os.path.isfile(os.path.join(data, name))]


def training_folder(config: Config, data: str) -> str:
    """Returns the trainer's folder for training.

    It is DATA, or the folder below DATA that has the training list, where DATA holds both folders.
    """
    name = named_list(config, "train")
    if not name or os.path.isfile(os.path.join(data, name)):
        return data
    below = glob.glob(os.path.join(glob.escape(data), "*", glob.escape(name)))
    return below[0].removesuffix(f"/{name}") if len(below) == 1 else data


def training_list(config: Config, data: str) -> list[Row]:
    """Returns the clips of the training folder. Their texts number the trainer's phonemes."""
    name = named_list(config, "train")
    table = os.path.join(data, name or "metadata.csv")
    sound = _sound_of(config, "train", data) if name else os.path.join(data, "wavs")
    return read_list(table, lambda clip_id: _has_sound(sound, clip_id)) if os.path.isfile(table) else []


def _sound_of(config: Config, split: str, data: str) -> str:
    name, folder = named_list(config, split), named_sound(config, split)
    return (
        os.path.join(data, folder) if folder else os.path.join(os.path.dirname(os.path.join(data, name or "")), "wavs")
    )


def _has_sound(folder: str, clip_id: str) -> bool:
    return os.path.exists(os.path.join(folder, f"{clip_id}.wav"))


def read_list(path: str, is_there: Callable[[str], bool]) -> list[Row]:
    """Returns the lines of a list, in order, that have an id whose sound is there."""
    rows = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except OSError as error:
        raise InvalidArgumentError(f"the list {path} cannot be read: {error.strerror}") from None
    for line in lines:
        words = line.strip().lstrip("\ufeff")
        if words.lower().startswith(_HEADERS) or "|" not in words:
            continue
        # The id ends at the first bar, and the normalized text begins after the last one: a text
        # may have bars.
        clip_id, normalized = words.split("|", 1)[0].strip(), words.rsplit("|", 1)[1].strip()
        if clip_id and is_there(clip_id):
            rows.append(Row(clip_id, normalized))
    return rows


def sound_beside(table: str, folder: str) -> tuple[int, dict[str, int]]:
    """Returns how many lines a list has, and of how many the sound is no WAV file, by its suffix."""
    names = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    suffixes = dict(os.path.splitext(name) for name in names if not name.endswith(".wav"))
    ids = [row.id for row in read_list(table, lambda _: True)]
    return len(ids), collections.Counter(suffixes[one] for one in ids if one in suffixes and f"{one}.wav" not in names)


# ---- whose split it is


def has_own_split(config: Config, data: str | None, split: str | None) -> bool:
    """Returns whether the trainer's folder says which clips a split has.

    It does by a list for the split, or by `processed/splits.json`.
    """
    if data is None or split is None:
        return False
    names, found = [named_list(config, one) for one in ("train", "validation")], lists_in(config, data)
    if None not in names:
        if found and ("train" if split == "train" else "validation") not in found:
            raise InvalidArgumentError(
                f"{data} has the list {named_list(config, found[0])}, and not "
                f"{named_list(config, split)}, which has the clips of {split}: give data= the "
                "trainer's folder that has it"
            )
        return bool(found)
    # If there is only one list, the trainer trains on all of it and has no clips for validation.
    # Then the cache divides the clips, so that no clip is in both.
    return names == [None, None] and all(os.path.isfile(path) for path in _split_files(data))


def _split_files(data: str) -> tuple[str, str]:
    return os.path.join(data, "processed", "splits.json"), os.path.join(data, "metadata.csv")


def own_split(config: Config, data: str, split: str, source: Any) -> list[Row]:
    """Returns the split's clips, as the trainer has them.

    A clip counts if its WAV file is there, or if the source has it.
    """
    name = named_list(config, split)
    sound = _sound_of(config, split, data) if name else os.path.join(data, "wavs")

    def is_there(clip_id: str) -> bool:
        return _name_in(source, clip_id) is not None or _has_sound(sound, clip_id)

    if name is not None:
        return read_list(os.path.join(data, name), is_there)
    splits, table = _split_files(data)
    places = _read_splits(splits)
    rows = read_list(table, is_there)
    numbered = sum(map(len, places.values()))
    if numbered != len(rows):
        raise MismatchError(
            f"{splits} divides {counted(numbered, 'clip', 'clips')}, and {table} has {len(rows)}, so that its numbers "
            "may mean other clips. Delete it, and the cache's own split holds until the trainer divides them anew; or "
            "ids= says which clips are meant"
        )
    return [rows[place] for place in places[_THEIR_NAMES[split]]]


def texts_of(facts: Any) -> set[str]:
    """Returns the texts of a clip, as they are compared."""
    return {" ".join(text.split()) for text in (facts.text, facts.text_normalized) if text}


def tell_of_old_texts(source: Any, rows: list[Row], command: str) -> None:
    """Warns if the trainer's list has been edited since the cache was made."""
    differ = []
    for row in rows:
        name = _name_in(source, row.id)
        known = set() if name is None else texts_of(source._core.clip(source._core.find(name)))
        if known and row.normalized and " ".join(row.normalized.split()) not in known:
            differ.append(row.id)
    if differ:
        named = ", ".join(differ[:_SHOWN]) + (", ..." if len(differ) > _SHOWN else "")
        warn(
            f"{counted(len(differ), 'clip has another text', 'clips have other texts')} in the trainer's list "
            f"than in {source._shown}: {named}. This brings it up to date:\n    {command}"
        )


def _read_splits(path: str) -> dict[str, list[int]]:
    try:
        with open(path, encoding="utf-8") as file:
            splits = json.load(file)
        made = {name: list(splits[name]) for name in _THEIR_NAMES.values()}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidArgumentError(f"{path} is no file of the trainer's splits: {error!r}") from None
    count = sum(map(len, made.values()))
    for places in made.values():
        for place in places:
            if type(place) is not int or not 0 <= place < count:
                raise InvalidArgumentError(
                    f"{path} is no file of the trainer's splits: {place!r} numbers none of its "
                    f"{counted(count, 'clip', 'clips')}"
                )
    return made


def splits_in(data: str) -> dict[str, list[int]] | None:
    """Returns the trainer's own splits, by its names for them; None if it has made none yet."""
    splits, _ = _split_files(data)
    return _read_splits(splits) if os.path.isfile(splits) else None


def chosen_clips(source: Any, ids: list[str], are_own: bool) -> list[str]:
    """Returns the names that these clips have in a source.

    `are_own`: they are the trainer's split, of which a build may have rejected some; these are
    warned of. Otherwise a clip that the source lacks raises NotFoundError.
    """
    found = {clip_id: _name_in(source, clip_id) for clip_id in ids}
    lacking = [clip_id for clip_id, name in found.items() if name is None]
    named = ", ".join(lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
    if lacking and (not are_own or len(lacking) == len(found)):
        whose = " of the trainer's own split" if are_own else ""
        lost = f"{len(lacking)} of {counted(len(found), 'clip', 'clips')}{whose}"
        raise NotFoundError(f"{lost} {'is' if len(lacking) == 1 else 'are'} not in {source._shown}: {named}")
    if lacking:
        warn(
            f"{len(lacking)} of the {len(found)} clips of the trainer's own split "
            f"{'is' if len(lacking) == 1 else 'are'} not in {source._shown}: {named}. "
            "A build brings in what is new, and its rejects.jsonl says why others are not"
        )
    return [name for name in found.values() if name is not None]


def _name_in(source: Any, clip_id: str) -> str | None:
    if clip_id in source:
        return clip_id
    names = [name for name in (f"{dataset}/{clip_id}" for dataset in getattr(source, "datasets", ())) if name in source]
    if len(names) > 1:
        raise MismatchError(f"{clip_id} may be {' or '.join(names)} in {source._shown}: ids= says which is meant")
    return names[0] if names else None


def listed_ids(ids: Iterable[str]) -> list[str]:
    """Returns the caller's argument `ids` as a list."""
    if isinstance(ids, str):
        raise InvalidArgumentError(f"ids must be a list of ids, not one text: ids=[{ids!r}]")
    made = [text("one of ids", one) for one in listed("ids", ids)]
    if not made:
        raise InvalidArgumentError("ids is empty, so no clip is chosen: ids=None takes those of the split")
    return made


def tell_of_checkpoint(config: Config, split: str | None) -> None:
    """Warns if a model has been trained on the trainer's own split.

    It may have seen clips that validate here.
    """
    folder = config.value("training.checkpoint_dir") or ""
    if split is None or named_list(config, split) is not None or not os.path.isdir(folder):
        return
    try:
        has_one = any(name.endswith("_model.weights.h5") for name in os.listdir(folder))
    except OSError:
        return
    if has_one:
        warn(
            f"{folder} has a checkpoint, and the clips of {split} are those of the cache's split, not "
            "of the trainer's: some of its training clips may validate "
            "here. data=, where its processed/splits.json is, takes the trainer's own; so does ids="
        )
