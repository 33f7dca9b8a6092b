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

    def __init__(self, cache: Stored, position: int) -> None:
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
