"""A cache's clips."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._base.arrays import Array, to_array
from .._base.choices import no_such
from .._base.errors import NotFoundError
from .ids import is_unicode
from .stored import Stored


class AnyClip(ABC):
    """What clips of a cache and computed ones share: their columns, and what the corpus says of them.

    Unknown facts are None.
    """

    __slots__ = ()

    # ---- its columns

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""

    @abstractmethod
    def _record(self, name: str) -> tuple[Array, float]:
        """Returns a column's record, and the number of its padding. All readers of clips ask here."""

    @abstractmethod
    def _padded_shape(self, name: str) -> tuple[int, ...]:
        """Returns the shape of a column's padded records."""

    def __getitem__(self, name: str) -> Array:
        return self._record(name)[0]

    def padding(self, name: str) -> float:
        """Returns the number that stands behind a column's true rows in a batch.

        Each clip has its own in Whisper's recipes: what silence comes to beside this clip's sound.
        """
        return self._record(name)[1]

    def padded(self, name: str) -> npt.NDArray[Any]:
        """Returns a column as a batch has it, padded to the cache's length: a new array."""
        record, padding = self._record(name)
        made = np.full(self._padded_shape(name), padding, record.dtype)
        made[: len(record)] = record
        return made

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    # ---- what the corpus says

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


class Clip(AnyClip):
    """One clip of a cache. Its columns are attributes, or items: `clip.mel`, `clip["mel"]`.

    Columns are read-only arrays without padding, views of the cache's file where it can be mapped.
    `clip.padded("mel")` is the column as a batch has it, `clip.padding("mel")` the padding's number.
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

    def _record(self, name: str) -> tuple[Array, float]:
        if not isinstance(name, str) or not is_unicode(name):
            raise NotFoundError(no_such("column", name, self.columns))
        memory, dtype, shape, padding = self._cache._core.view(name, self.position)
        return to_array(memory, dtype, tuple(shape), f"column '{name}'"), padding

    def _padded_shape(self, name: str) -> tuple[int, ...]:
        return self._cache.columns[name].shape

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.columns:
            raise AttributeError(no_such("column", name, self.columns))
        return self[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clip) and self._cache is other._cache and self.position == other.position

    def __hash__(self) -> int:
        return hash((id(self._cache), self.position))

    def __repr__(self) -> str:
        return f"<Clip '{self.id}' of {self._cache._shown}>"
