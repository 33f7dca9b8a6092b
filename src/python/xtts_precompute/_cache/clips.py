"""A cache's clips."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .. import _core
from .._base.arrays import Array, to_array
from .._base.choices import no_such
from .._base.errors import NotFoundError
from .ids import is_unicode
from .stored import Stored


class ClipFacts(ABC):
    """What the corpus says of a clip. Unknown facts are None."""

    __slots__ = ()

    @property
    @abstractmethod
    def _facts(self) -> Any:
        """The facts in C++'s form, where an empty text means unknown."""

    @property
    def text(self) -> str | None:
        """The text, as the corpus has it."""
        return self._facts.text or None

    @property
    def text_normalized(self) -> str | None:
        """The text in words alone, if the corpus has that, too."""
        return self._facts.text_normalized or None

    @property
    def speaker(self) -> str | None:
        """The speaker's name."""
        return self._facts.speaker or None

    @property
    def language(self) -> str | None:
        """The language's name."""
        return self._facts.language or None

    @property
    def dataset(self) -> str | None:
        """The name of the clip's data set, in a cache of several."""
        return self._facts.dataset or None

    @property
    def split(self) -> str:
        """The clip's split: "train", "validation" or "test"."""
        return str(self._facts.split)


class Clip(ClipFacts):
    """One clip of a cache. Its columns are attributes, or items: `clip.mel`, `clip["mel"]`.

    Columns are read-only arrays without padding, views of the cache's file where it can be mapped.
    Each is checked when it is first asked for, and raises CorruptError if it is damaged. Unknown
    facts (`text`, `speaker`, ...) are None.
    """

    __slots__ = ("__weakref__", "_cache", "position")

    position: int
    """The clip's place in the cache's canonical order."""

    def __init__(self, cache: Stored, position: int) -> None:
        self._cache = cache
        self.position = position

    @property
    def id(self) -> str:
        """The clip's id; "data set/id" where the corpus has data sets."""
        return self._cache._id(self.position)

    @property
    def duration_s(self) -> float:
        """The length of its features, in seconds."""
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
