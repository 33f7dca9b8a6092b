"""The trainer's clips in caches: which record belongs to which clip, and their mels."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import CorruptError, MismatchError, NotFoundError
from .._build.build import verify
from .._cache.cache import Cache, open
from .source import cuts_long_clips

How = Callable[[str, bool], str]  # returns the command that makes a cache, or overwrites it
_OTHER_TEXTS = 0.5  # with other texts in more than this share of the clips, it is another corpus


class Items:
    """For each of the trainer's clips, the cache that has it and its position there; -1: none has it."""

    def __init__(
        self,
        ids: list[str],
        caches: Sequence[Cache],
        where: npt.NDArray[np.int64],
        frames: npt.NDArray[np.int64],
        beside: str,
    ) -> None:
        self.ids = ids
        self.frames = frames
        """The frames of each clip, as it is stored."""
        self.beside = beside
        """Where a cache for these clips would be made."""
        self._caches = caches
        self._where = where  # [clips, 2]

    @property
    def paths(self) -> list[str]:
        used = sorted({int(cache) for cache in self._where[:, 0] if cache >= 0})
        return [self._caches[cache].path for cache in used]

    @property
    def opened(self) -> list[str]:
        """The paths of all caches that exist."""
        return [cache.path for cache in self._caches]

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
        made = np.zeros((len(places), frames or int(lengths.max(initial=0)), views[0].shape[1]), np.float32)
        for row, view, length in zip(made, views, lengths):
            row[:length] = view[:length]
        return made, lengths.astype(np.int32)

    def _view(self, place: int) -> Any:
        cache, position = self._where[place]
        return self._caches[cache][int(position)]["mel"]


def find_items(theirs: Any, paths: Sequence[str], differences: Callable[[str], list[str]], how: How) -> Items:
    """Finds the trainer's clips in these caches, which must be whole and have the features asked for.

    A cache that does not exist is left out, since it may be that of the trainer's other folder. If
    none exists, NotFoundError is raised.
    """
    absent = [path for path in paths if not _is_there(path)]
    if len(absent) == len(paths):
        raise NotFoundError(f"the cache {absent[0]} is not there, or not finished. {how(absent[0], False)}")
    caches = [_open(path, differences, how) for path in paths if path not in absent]
    rows = rows_of(theirs)
    ids = [str(row["id"]) for row in rows]
    where = np.full((len(rows), 2), -1, np.int64)
    frames = np.zeros(len(rows), np.int64)
    others = 0
    for place, row in enumerate(rows):
        found = sorted(
            _candidates(caches, ids[place]), key=lambda one: _text_differs(caches[one[0]]._core.clip(one[1]), row)
        )
        if not found:
            continue
        cache, position = where[place] = found[0]
        facts = caches[cache]._core.clip(int(position))
        frames[place] = facts.frame_count
        others += _text_differs(facts, row)
    present = int((where[:, 0] >= 0).sum())
    if others > _OTHER_TEXTS * present:
        raise MismatchError(
            f"{others} of {present} clips have other texts in {', '.join(paths)} than in "
            f"{theirs.metadata_file}: it is the cache of another corpus, or an old "
            "one. A build of this corpus into it brings an old one up to date; a cache of this corpus can "
            f"also stand beside it. {how(_beside(paths, theirs, 0), False)}"
        )
    return Items(ids, caches, where, frames, absent[0] if absent else _beside(paths, theirs, present))


def _is_there(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "manifest.json"))


def _beside(paths: Sequence[str], theirs: Any, present: int) -> str:
    # A cache for the trainer's other folder has none of these clips: the command makes a second
    # cache, and does not overwrite the first.
    return paths[-1] if present else f"{paths[-1]}-{theirs.subset}"


def _open(path: str, differences: Callable[[str], list[str]], how: How) -> Cache:
    cache = open(path)
    differ = differences(path)
    if differ:
        lines = "\n".join(f"    {one}" for one in differ)
        raise MismatchError(
            f"the cache {path} has other features than the trainer asks for:\n{lines}\n{how(path, True)}"
        )
    if "mel" not in cache.columns:
        raise MismatchError(f"the cache {path} has no mels. {how(path, True)}")
    lost = verify(path, level="quick", progress=False).findings
    if lost:
        raise CorruptError(
            f"the cache {path} is damaged: {lost[0].file}: {lost[0].what}. This mends it:\n    "
            + shlex.join(["xtts-precompute", "verify", str(path), "--repair"])
        )
    return cache


def _candidates(caches: Sequence[Cache], clip_id: str) -> Iterator[tuple[int, int]]:
    for number, cache in enumerate(caches):
        for name in (clip_id, *(f"{dataset}/{clip_id}" for dataset in cache.datasets)):
            position = cache._core.find(name)
            if position is not None:
                yield number, position


def _text_differs(facts: Any, row: Any) -> bool:
    known = {" ".join(text.split()) for text in (facts.text, facts.text_normalized) if text}
    return bool(known) and not known & {
        " ".join(str(row[name]).split()) for name in ("transcription", "normalized_transcription")
    }


def rows_of(theirs: Any) -> list[Any]:
    """Returns the rows of the trainer's list, in the order of its data set."""
    places = range(len(theirs))
    chosen = getattr(theirs, "_custom_index_map", None) if theirs.use_custom_metadata else theirs.items
    return [theirs.metadata.iloc[place if chosen is None else chosen[place]] for place in places]
