"""A cache's clips and their ids."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _core
from ._array import Array, to_array
from ._choices import no_such
from ._errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from ._cache import Cache
    from ._runtime import RuntimeClips


class Ids(Sequence[str]):
    """The ids of a cache's, or of runtime(), clips, in canonical order."""

    __slots__ = ("_cache",)

    def __init__(self, cache: Cache | RuntimeClips) -> None:
        self._cache = cache

    def __len__(self) -> int:
        return len(self._cache)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            return self._cache._core.ids(list(range(*key.indices(len(self)))))
        return self._cache._id(position_in(key, len(self)))

    def __contains__(self, clip_id: object) -> bool:
        return clip_id in self._cache

    def index(self, clip_id: str, start: int = 0, stop: int | None = None) -> int:
        """The clip's position; NotFoundError where it is not there."""
        position = self._cache._find(clip_id)
        if position not in range(*slice(start, stop).indices(len(self))):
            raise NotFoundError(f"'{clip_id}' is at {position}, outside of [{start}, {stop})")
        return position

    def count(self, clip_id: str) -> int:
        return int(clip_id in self._cache)

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:3])
        return f"<{len(self)} ids: {shown}{', ...' if len(self) > 3 else ''}>"


class ClipFacts(ABC):
    """What a corpus says of a clip. What is not known is None."""

    __slots__ = ()

    @property
    @abstractmethod
    def _facts(self) -> Any:
        """With empty texts where nothing is known."""

    @property
    def text(self) -> str | None:
        """As the corpus has it."""
        return self._facts.text or None

    @property
    def text_normalized(self) -> str | None:
        """As the corpus has it in words alone, where it has that, too."""
        return self._facts.text_normalized or None

    @property
    def speaker(self) -> str | None:
        """Their name."""
        return self._facts.speaker or None

    @property
    def language(self) -> str | None:
        """Its name."""
        return self._facts.language or None

    @property
    def dataset(self) -> str | None:
        """Of several in one cache."""
        return self._facts.dataset or None

    @property
    def split(self) -> str:
        """train, validation or test."""
        return str(self._facts.split)


class Clip(ClipFacts):
    """One clip: its columns as attributes or by `clip["mel"]`: read-only views of the cache where its file can be mapped, without
    padding, checked when they are first asked for. What is not known of a clip is None."""

    __slots__ = ("__weakref__", "_cache", "position")

    position: int
    """Its place in the cache's canonical order."""

    def __init__(self, cache: Cache, position: int) -> None:
        self._cache = cache
        self.position = position

    @property
    def id(self) -> str:
        """Its id, or "data set/id" where the corpus has data sets."""
        return self._cache._id(self.position)

    @property
    def duration_s(self) -> float:
        """Of its features, in seconds."""
        return self._facts.duration_s

    @property
    def _facts(self) -> _core.ClipInfo:
        return self._cache._core.clip(self.position)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self._cache.columns)

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str) or not is_unicode(name):
            raise NotFoundError(no_such("column", name, self.columns))
        memory, dtype, shape = self._cache._core.view(name, self.position)
        return to_array(memory, dtype, tuple(shape), f"column '{name}'")

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.columns:
            raise AttributeError(no_such("column", name, self.columns))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clip) and self._cache is other._cache and self.position == other.position

    def __hash__(self) -> int:
        return hash((id(self._cache), self.position))

    def __repr__(self) -> str:
        return f"<Clip '{self.id}' of {self._cache._shown}>"


def position_in(key: Any, size: int) -> int:
    try:
        position = operator.index(key)
    except TypeError:
        raise InvalidArgumentError(f"clips are asked for by id or position, not by {type(key).__name__}") from None
    if not -size <= position < size:
        raise NotFoundError(f"there is no clip {position}: the cache has {size}")
    return position % size if size else 0


def is_unicode(text: str) -> bool:
    """What is not (a file's name that is no UTF-8, from os.listdir()) is in no cache."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
