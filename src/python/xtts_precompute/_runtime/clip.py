"""One computed clip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.arrays import Array, to_array
from .._base.choices import no_such
from .._base.errors import NotFoundError
from .._cache.clips import AnyClip
from .._cache.readable import Readable

if TYPE_CHECKING:
    from .. import _builder, _core


class RuntimeClip(AnyClip):
    """One computed clip. Its columns are attributes, or items: `clip.mel`, `clip["mel"]`.

    Columns are read-only arrays without padding; `clip.mel_len` and `clip.text_len` are their
    lengths. `clip.padded("mel")` is the column as a batch has it, `clip.padding("mel")` the
    padding's number. Unknown facts (`text`, `speaker`, ...) are None.
    """

    __slots__ = ("__weakref__", "_clips", "_facts", "_records", "duration_s", "position")

    _facts: _builder.RuntimeClip
    duration_s: float
    """The length of its features, in seconds."""
    position: int
    """The clip's place in canonical order."""

    def __init__(
        self, clips: Readable, position: int, parts: list[tuple[_core.Memory, int, float]], duration_s: float
    ) -> None:
        self._clips = clips
        self._facts = clips._core.clip(position)
        self._records = {
            column.name: (
                to_array(memory, column.dtype, (length, *column.shape[1:]), f"column '{column.name}'"),
                padding,
            )
            for column, (memory, length, padding) in zip(clips.columns.values(), parts)
        }
        self.position = position
        self.duration_s = duration_s

    @property
    def id(self) -> str:
        """The clip's id; "data set/id" where the corpus has data sets."""
        return self._facts.id

    @property
    def source(self) -> str:
        """The sound's file, relative to DATA."""
        return self._facts.source

    @property
    def speaker_number(self) -> int:
        """The speaker's place in `clips.speakers`; -1: unknown."""
        return self._facts.speaker_number

    @property
    def language_number(self) -> int:
        """The language's place in `clips.languages`; -1: unknown."""
        return self._facts.language_number

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self._records)

    def _record(self, name: str) -> tuple[Array, float]:
        if not isinstance(name, str) or name not in self._records:
            raise NotFoundError(no_such("column", name, self.columns))
        return self._records[name]

    def _padded_shape(self, name: str) -> tuple[int, ...]:
        return self._clips.columns[name].shape

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._records:
            return self[name]
        column = "tokens" if name == "text_len" else name.removesuffix("_len")
        if name.endswith("_len") and column in self._records:
            return len(self[column])
        raise AttributeError(no_such("column", name, self.columns))

    def __repr__(self) -> str:
        return f"<RuntimeClip '{self.id}' of {self._clips._shown}>"
