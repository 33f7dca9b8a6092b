"""One computed clip, and what a build would say of one that it does not store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._base.arrays import Array, to_array
from .._base.choices import no_such
from .._base.errors import NotFoundError, RejectedClipError
from .._cache.clips import ClipFacts

if TYPE_CHECKING:
    from .. import _builder, _core
    from .clips import RuntimeClips


class Reject(NamedTuple):
    """A clip, or a line of a list, that a build would not store; as a line of CACHE/rejects.jsonl."""

    kind: str
    """policy, input, crash, environment"""
    stage: str
    """list, discover, text, read, decode, condition, features"""
    id: str
    """Empty where none could be read."""
    place: str
    """"metadata.csv:12", or a path relative to DATA."""
    reason: str
    """In words."""
    rule: str
    """too_long, source_empty, ...: what programs go by."""
    numbers: dict[str, float]
    """The rule's: {"frames": 1034, "max_frames": 800}."""
    about: str
    """What the rule is about, where it is more than numbers: a column, another clip's id, a library's words."""

    def error(self) -> RejectedClipError:
        """As what who asks for the clip gets."""
        return RejectedClipError(
            self.id, self.stage, self.kind, self.reason, self.place, self.rule, self.numbers, self.about
        )


class RuntimeClip(ClipFacts):
    """One computed clip: its columns as attributes or by `clip["mel"]`, read-only, without padding; `mel_len` and `text_len` their
    lengths. What is not known of a clip is None."""

    __slots__ = ("__weakref__", "_arrays", "_clips", "_facts", "duration_s", "position")

    _facts: _builder.RuntimeClip
    duration_s: float
    """Of its features, in seconds."""
    position: int
    """Its place in canonical order."""

    def __init__(
        self, clips: RuntimeClips, position: int, parts: list[tuple[_core.Memory, int, int]], duration_s: float
    ) -> None:
        self._clips = clips
        self._facts = clips._core.clip(position)
        self._arrays = {
            column.name: to_array(memory, column.dtype, (length, *column.shape[1:]), f"column '{column.name}'")
            for column, (memory, length, _) in zip(clips._columns.values(), parts)
        }
        self.position = position
        self.duration_s = duration_s

    @property
    def id(self) -> str:
        """Its id, or "data set/id" where the corpus has data sets."""
        return self._facts.id

    @property
    def source(self) -> str:
        """The file, relative to DATA."""
        return self._facts.source

    @property
    def speaker_number(self) -> int:
        """In the table of speakers; -1: unknown."""
        return self._facts.speaker_number

    @property
    def language_number(self) -> int:
        """In the table of languages; -1: unknown."""
        return self._facts.language_number

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self._arrays)

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str) or name not in self._arrays:
            raise NotFoundError(no_such("column", name, self.columns))
        return self._arrays[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._arrays:
            return self._arrays[name]
        column = "tokens" if name == "text_len" else name.removesuffix("_len")
        if name.endswith("_len") and column in self._arrays:
            return len(self._arrays[column])
        raise AttributeError(no_such("column", name, self.columns))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns]

    def __repr__(self) -> str:
        return f"<RuntimeClip '{self.id}' of {self._clips._shown}>"
