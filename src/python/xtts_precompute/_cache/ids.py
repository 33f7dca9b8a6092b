"""Ids and positions of clips."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Protocol, overload

from .._base.errors import InvalidArgumentError, NotFoundError


class HasIds(Protocol):
    """What Ids needs of a Cache or of RuntimeClips."""

    @property
    def _core(self) -> Any: ...
    def __len__(self) -> int: ...
    def __contains__(self, clip_id: object) -> bool: ...
    def _id(self, position: int) -> str: ...
    def _find(self, clip_id: str) -> int: ...


class Ids(Sequence[str]):
    """The ids of the clips of a Cache or of RuntimeClips, in canonical order."""

    __slots__ = ("_clips",)

    def __init__(self, clips: HasIds) -> None:
        self._clips = clips

    def __len__(self) -> int:
        return len(self._clips)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            found: list[str] = self._clips._core.ids(list(range(*key.indices(len(self)))))
            return found
        return self._clips._id(position_in(key, len(self)))

    def __contains__(self, clip_id: object) -> bool:
        return clip_id in self._clips

    def index(self, clip_id: str, start: int = 0, stop: int | None = None) -> int:
        """Returns the clip's position; raises NotFoundError if it is not there."""
        position = self._clips._find(clip_id)
        if position not in range(*slice(start, stop).indices(len(self))):
            raise NotFoundError(f"'{clip_id}' is at {position}, outside of [{start}, {stop})")
        return position

    def count(self, clip_id: str) -> int:
        try:
            self._clips._find(clip_id)
        except NotFoundError:
            return 0
        except InvalidArgumentError:  # several of the caches have it
            return self[:].count(clip_id)
        return 1

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:3])
        return f"<{len(self)} ids: {shown}{', ...' if len(self) > 3 else ''}>"


def position_in(key: Any, size: int) -> int:
    try:
        position = operator.index(key)
    except TypeError:
        raise InvalidArgumentError(f"clips are asked for by id or position, not by {type(key).__name__}") from None
    if not -size <= position < size:
        raise NotFoundError(f"there is no clip {position}: the cache has {size}")
    return position % size if size else 0


def is_unicode(text: str) -> bool:
    """Returns whether the text can be encoded as UTF-8. No cache has an id that cannot.

    An example is the name of a file that is not UTF-8, from os.listdir().
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
