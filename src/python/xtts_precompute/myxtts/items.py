"""The trainer's clips in caches: which record belongs to which clip, and their mels."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._base.errors import CorruptError, Error, MismatchError, NotFoundError
from .._base.words import counted
from .._build.build import verify
from .._cache.cache import Cache, open
from .features import Asked, has_other_lengths, missing_features
from .lists import texts_of
from .source import cuts_long_clips, recipe_in, rejects_in

_OTHER_TEXTS = 0.5  # with other texts in more than this share of the clips, it is another corpus
_SHOWN = 3


class Clip(NamedTuple):
    """A line of the trainer's list."""

    id: str
    texts: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Folder:
    """One of the trainer's data sets: its clips, and what it asks for."""

    subset: str
    data: str
    table: str
    """The list that the clips are from."""
    clips: Sequence[Clip]
    asked: Asked
    settings: tuple[str, ...] = ()
    """Settings for a build: the folder's lists and sounds."""
    is_exact: bool = True
    """False: the clips are those of several subsets, since the trainer has not divided them yet."""

    def command(self, path: str, overwrite: bool) -> list[str]:
        """Returns the command that makes a cache for this folder."""
        settings = [word for one in self.settings for word in ("--set", one)]
        words = ["xtts-precompute", self.data, path, *self.asked.arguments(overwrite), *settings]
        return words + ["--overwrite"] * overwrite


@dataclasses.dataclass(frozen=True)
class Need:
    """What is wrong with the caches for a folder, and the command that makes it right."""

    folder: Folder
    kind: type[Error]
    what: str
    command: list[str]
    path: str
    """The cache that the command makes."""
    others: str = ""
    """A cache that has these clips, with features that could be taken as they are."""


class Items:
    """For each of the trainer's clips, the cache that has it and its position there; -1: none has it."""

    def __init__(
        self, ids: list[str], caches: Sequence[Cache], where: npt.NDArray[np.int64], frames: npt.NDArray[np.int64]
    ) -> None:
        self.ids = ids
        self.frames = frames
        """The frames of each clip, as it is stored."""
        self._caches = caches
        self._where = where  # [clips, 2]

    @property
    def paths(self) -> list[str]:
        used = sorted({int(cache) for cache in self._where[:, 0] if cache >= 0})
        return [self._caches[cache].path for cache in used]

    @property
    def recipes(self) -> list[dict[str, Any]]:
        """The recipes of the caches that are read."""
        return [recipe_in(path) for path in self.paths]

    @property
    def lacking(self) -> npt.NDArray[np.int64]:
        """The places of clips that no cache has."""
        return np.flatnonzero(self._where[:, 0] < 0)

    def cut_before(self, frames: int | None) -> npt.NDArray[np.int64]:
        """Returns the places of clips that fill their records, where these are shorter than `frames`.

        The rest of such a clip may be lost.
        """
        # A cache that leaves out long clips has cut none.
        endless = np.iinfo(np.int64).max
        limits = np.array(
            [
                cache.columns["mel"].shape[0] if cuts_long_clips(cache._absolute[0])[0] else endless
                for cache in self._caches
            ]
        )
        limit = limits[self._where[:, 0]] if len(limits) else np.zeros(len(self.ids), np.int64)
        return np.flatnonzero((self.frames >= limit) & (limit < (frames or np.inf)))

    def mels(
        self, places: npt.NDArray[Any], most: int | None, frames: int | None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Returns mels [clips, frames, channels], padded with zeros, and their lengths.

        `frames` None: as many as the longest clip has.
        """
        lengths = np.minimum(self.frames[places], most or np.iinfo(np.int64).max)
        views = [self._view(place) for place in places]
        made = aligned_zeros((len(places), frames or int(lengths.max(initial=0)), views[0].shape[1]))
        for row, view, length in zip(made, views, lengths):
            row[:length] = view[:length]
        return made, lengths.astype(np.int32)

    def _view(self, place: int) -> Any:
        cache, position = self._where[place]
        return self._caches[cache][int(position)]["mel"]


def aligned_zeros(shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Returns float32 zeros whose memory TensorFlow takes as it is; it would copy less aligned memory."""
    count = int(np.prod(shape))
    memory = np.zeros(count * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * 4].view(np.float32).reshape(shape)


def look(folder: Folder, given: Sequence[str], used: Sequence[str] = ()) -> Items | Need:
    """Finds a folder's clips in the given caches, and in those that an earlier build made beside them.

    `used` are places that commands for other folders make already.
    """
    asked = folder.asked
    fitting: list[Cache] = []
    others: list[tuple[str, list[str]]] = []
    for path in [*given, *_beside(given)]:
        if not _is_there(path):
            continue
        differ = missing_features(asked, recipe_in(path))
        if differ:
            others.append((path, differ))
            continue
        cache = open(path)
        if "mel" not in cache.columns:
            others.append((path, ["the column mel is not there"]))
            continue
        lost = verify(path, level="quick", progress=False).findings
        if lost:
            mend = ["xtts-precompute", "verify", path, "--repair"]
            return Need(
                folder, CorruptError, f"the cache {path} is damaged: {lost[0].file}: {lost[0].what}.", mend, path
            )
        fitting.append(cache)
    items, other_texts = _found(folder, fitting)
    present = len(items.ids) - len(items.lacking)
    if other_texts > _OTHER_TEXTS * present:
        what = (
            f"{other_texts} of {present} clips have other texts in {', '.join(given)} than in {folder.table}: it is "
            "the cache of another corpus, or an old one. A build of this corpus into it brings an old one up to date."
        )
        return _need(folder, given, used, MismatchError, what, "")
    lacking = _without_rejected(items, fitting) if asked.takes else items.lacking
    if len(lacking) and (folder.is_exact or not present):
        return _lacking(folder, given, used, items, lacking, fitting, others)
    short = items.cut_before(asked.max_frames)
    if len(short):
        path = items.paths[0]
        what = (
            f"{counted(len(short), 'clip is', 'clips are')} cut in the cache {path}, and the trainer reads "
            f"{asked.max_frames or 'all'} of their frames ({items.ids[short[0]]})."
        )
        return Need(folder, MismatchError, what, folder.command(path, overwrite=True), path)
    return items


def _lacking(
    folder: Folder, given: Sequence[str], used: Sequence[str], items: Items, lacking: Any, fitting: Any, others: Any
) -> Need:
    """Returns the Need of a folder whose clips are not all in a cache."""
    whose = f"the trainer has for {folder.subset}"
    if len(lacking) < len(items.ids):
        named = ", ".join(items.ids[place] for place in lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
        path = items.paths[0]
        overwrite = has_other_lengths(folder.asked, recipe_in(path)["features"])
        what = (
            f"{len(lacking)} of the {len(items.ids)} clips that {whose} are not in {path}: {named}. "
            "A build's rejects.jsonl says why it left a clip out."
        )
        return Need(folder, MismatchError, what, folder.command(path, overwrite), path)
    if fitting:  # of the trainer's other folder
        need = _need(folder, given, used, MismatchError, "", f"-{folder.subset}")
        if need.path in given:
            return dataclasses.replace(need, kind=NotFoundError, what=_not_there(need.path))
        what = f"{' and '.join(given)} {'hold' if given[1:] else 'holds'} other clips: none of {folder.table} is there."
        return dataclasses.replace(need, what=what)
    if others:
        # Of several, the one that has these clips.
        path, differ = next((one for one in others if _has(one[0], folder)), others[0])
        lines = "\n".join(f"    {one}" for one in differ)
        what = f"the cache {path} has other features than the trainer asks for:\n{lines}"
        need = _need(folder, [*given, path], used, MismatchError, what, "" if folder.asked.takes else "-parity")
        return dataclasses.replace(need, others=path)
    need = _need(folder, given, used, NotFoundError, "", f"-{folder.subset}")
    return dataclasses.replace(need, what=_not_there(need.path))


def _has(path: str, folder: Folder) -> bool:
    return any(True for clip in folder.clips[:1] for _ in _candidates([open(path)], clip.id))


def _not_there(path: str) -> str:
    return f"the cache {path} is not there, or not finished."


def _need(folder: Folder, given: Sequence[str], used: Sequence[str], kind: type[Error], what: str, suffix: str) -> Need:
    """Returns a Need whose cache is made where the user named a place that is free, else beside the given ones."""
    free = [path for path in given if not _is_there(path) and path not in used]
    path = free[0] if free else given[-1] + suffix
    if path in used or (path in given and not free):
        path += f"-{folder.subset}"
    return Need(folder, kind, what, folder.command(path, _is_there(path)), path)


_SUFFIXES = ("-val", "-train", "-parity", "-parity-val")


def _beside(given: Sequence[str]) -> list[str]:
    """Returns the caches that commands of an earlier start made beside the given ones."""
    names = [path + suffix for path in given for suffix in _SUFFIXES]
    return [path for path in names if path not in given and _is_there(path)]


def _is_there(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "manifest.json"))


def _found(folder: Folder, caches: Sequence[Cache]) -> tuple[Items, int]:
    """Returns the clips' records, and how many clips have another text there."""
    where = np.full((len(folder.clips), 2), -1, np.int64)
    frames = np.zeros(len(folder.clips), np.int64)
    others = 0
    for place, clip in enumerate(folder.clips):
        found = sorted(
            _candidates(caches, clip.id), key=lambda one: _text_differs(caches[one[0]]._core.clip(one[1]), clip)
        )
        if not found:
            continue
        cache, position = where[place] = found[0]
        facts = caches[cache]._core.clip(int(position))
        frames[place] = facts.frame_count
        others += _text_differs(facts, clip)
    return Items([clip.id for clip in folder.clips], caches, where, frames), others


def _candidates(caches: Sequence[Cache], clip_id: str) -> Iterator[tuple[int, int]]:
    for number, cache in enumerate(caches):
        for name in (clip_id, *(f"{dataset}/{clip_id}" for dataset in cache.datasets)):
            position = cache._core.find(name)
            if position is not None:
                yield number, position


def _text_differs(facts: Any, clip: Clip) -> bool:
    known = texts_of(facts)
    return bool(known) and not known & clip.texts


def _without_rejected(items: Items, caches: Sequence[Cache]) -> npt.NDArray[np.int64]:
    """Returns the places of clips that no cache has, and that no build has looked at and left out."""
    lacking = items.lacking
    if not len(lacking):
        return lacking
    rejected = {name for cache in caches for name in _rejected_in(cache._absolute[0])}
    return np.array([place for place in lacking if items.ids[place] not in rejected], np.int64)


def _rejected_in(path: str) -> Iterator[str]:
    """Yields the ids of clips that a build left out, with and without their data set."""
    for name in (str(one["id"]) for one in rejects_in(path)):
        yield name
        yield name.rsplit("/", 1)[-1]


def failure(needs: Sequence[Need], mode: str, by_launcher: bool) -> Error:
    """Returns one error for all that is needed. Its last lines are the commands."""
    whats = list(dict.fromkeys(need.what for need in needs))
    commands = list(dict.fromkeys(shlex.join(need.command) for need in needs))
    if len(whats) == 1:
        told = whats[0]
    else:
        told = "the caches do not have all that the trainer reads:"
        told += "".join(f"\n  {need.folder.subset}, {need.folder.data}: {need.what}" for need in needs)
    others = next((need.others for need in needs if need.others), "")
    if others and mode != "precompute":
        told += (
            f"\nTo train on the features that {others} has, give --mode precompute, or write "
            "preprocessing_mode: precompute into the trainer's file."
        )
    how = "This makes it" if len(commands) == 1 else "These make them"
    if all(need.kind is CorruptError for need in needs):
        how = "This mends it"
    elif len(commands) == 1 and "--overwrite" in needs[0].command:
        how = "This overwrites it"
    how += " (--build does it here)" if by_launcher else ""
    how += "; another folder in the command keeps the cache" if how.startswith("This overwrites") else ""
    separator = "\n" if "\n" in told else " "
    return needs[0].kind("\n".join([f"{told}{separator}{how}:", *(f"    {command}" for command in commands)]))
