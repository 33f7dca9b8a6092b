"""One exception class for each kind of failure, chosen by what the caller does next."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Whatever this package raises. `code` is the kind, in words."""

    code = "unknown"

    def __str__(self) -> str:  # a KeyError would quote its message
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(Error, ValueError):
    """Fix the call: the message says what there is to choose from."""

    code = "invalid argument"


class NotFoundError(Error, KeyError, IndexError):
    """There is no such cache, clip, position or column."""

    code = "not found"


class SourceIoError(Error, OSError):
    """A source could not be read now."""

    code = "source I/O"


class CorruptError(Error):
    """The cache is damaged: `xtts-precompute verify CACHE --repair` mends it; `on_damage="skip"` goes on without the clip."""

    code = "corrupt"


class UnsupportedError(Error):
    """A newer format, a device or a part that this build or process does not have."""

    code = "unsupported"


class MissingPackageError(UnsupportedError, ImportError):
    """A framework that an integration is for is not installed: the message says what to install."""


class MismatchError(Error):
    """Of another cache, generation, selection, dtype or recipe than this."""

    code = "mismatch"


class BusyError(Error):
    """All slots are held by batches and arrays that are still referred to, another thread is using the reader, or another builder the cache."""

    code = "busy"


class SlotsHeldError(BusyError):
    """The first of the two, for Reader, which waits a while before it says so."""


class ResourceError(Error, OSError):
    """Memory, descriptors, disk: make room and try again."""

    code = "resource"


class TooManyRejectsError(Error):
    """More clips were at fault than `max_rejects`, dropped by rules than `max_dropped`, or gone from DATA than `max_gone`; nothing was
    published, and what is done is kept. The message says what would keep them."""

    code = "too many rejects"


class RejectedClipError(Error):
    """A clip that a build would not store, as CACHE/rejects.jsonl would have it: take another."""

    code = "rejected"

    def __init__(
        self, id: str, stage: str, kind: str, reason: str, place: str, rule: str, numbers: dict[str, float], about: str
    ) -> None:
        super().__init__(f"clip '{id}' is rejected ({stage}, {kind}): {reason}")
        self.id = id
        """Its full id."""
        self.stage = stage
        """list, discover, text, read, decode, condition, features"""
        self.kind = kind
        """policy, input, crash, environment"""
        self.reason = reason
        """In words."""
        self.place = place
        """"metadata.csv:12", or a path relative to DATA."""
        self.rule = rule
        """too_long, source_empty, ...: what programs go by."""
        self.numbers = numbers
        """The rule's: {"frames": 1034, "max_frames": 800}."""
        self.about = about
        """What the rule is about, where it is more than numbers: a column, another clip's id, a library's words."""

    def __reduce__(self) -> tuple[type[RejectedClipError], tuple[Any, ...]]:
        return RejectedClipError, (
            self.id,
            self.stage,
            self.kind,
            self.reason,
            self.place,
            self.rule,
            self.numbers,
            self.about,
        )


class InternalError(Error):
    """A defect of ours."""

    code = "internal"


# Of a status's code, for _core.
CLASSES: dict[str, type[Error]] = {
    kind.code: kind
    for kind in (
        InvalidArgumentError,
        NotFoundError,
        SourceIoError,
        CorruptError,
        UnsupportedError,
        MismatchError,
        BusyError,
        ResourceError,
        TooManyRejectsError,
        InternalError,
    )
}
CLASSES["slots held"] = SlotsHeldError


# By what the caller does next; other errors are 2: the call, its settings, or what is installed.
_EXIT_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (InternalError, 1),
    (TooManyRejectsError, 3),
    (CorruptError, 4),
    (BusyError, 5),
    (ResourceError, 6),
    (SourceIoError, 6),
    (Error, 2),
    (OSError, 6),
    (MemoryError, 6),
)


def exit_code(error: BaseException) -> int | None:
    """Of a command that ends with this error: the program's (README.md); None where it is none that a command tells of."""
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), None)
