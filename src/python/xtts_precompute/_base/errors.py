"""One exception class for each kind of failure, chosen by what the caller does next."""

from __future__ import annotations

from typing import Any, NamedTuple


class Error(Exception):
    """The base class of all exceptions of this package. `code` names the kind."""

    code = "unknown"

    def __str__(self) -> str:  # KeyError's own __str__ would quote the message
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(Error, ValueError):
    """An argument is wrong. The message says what is accepted."""

    code = "invalid argument"


class NotFoundError(Error, KeyError, IndexError):
    """There is no such cache, clip, position or column."""

    code = "not found"


class SourceIoError(Error, OSError):
    """A source file could not be read now."""

    code = "source I/O"


class CorruptError(Error):
    """The cache is damaged.

    `xtts-precompute verify CACHE --repair` mends it. A reader with `on_damage="skip"` goes on
    without the damaged clips.
    """

    code = "corrupt"


class UnsupportedError(Error):
    """A newer format, a device, or a part that this installation or process does not have."""

    code = "unsupported"


class MissingPackageError(UnsupportedError, ImportError):
    """A framework that an integration needs is not installed. The message says what to install."""


class MismatchError(Error):
    """Something belongs to another cache, generation, selection, dtype or recipe."""

    code = "mismatch"


class BusyError(Error):
    """Something is in use.

    All slots of the reader are held by batches and arrays that are still referred to, or another
    thread is using the reader, or another builder is writing the cache.
    """

    code = "busy"


class SlotsHeldError(BusyError):
    """All slots are held. The reader waits a while before it raises BusyError instead."""


class ResourceError(Error, OSError):
    """Memory, file descriptors or disk space ran out. Free some and try again."""

    code = "resource"


class TooManyRejectsError(Error):
    """A limit of loss was passed; nothing was published, and finished work is kept.

    More clips were faulty than `max_rejects` allows, dropped by rules than `max_dropped`, or gone
    from DATA than `max_gone`. The message says what would keep them.
    """

    code = "too many rejects"


class Reject(NamedTuple):
    """A clip, or a line of a list, that a build would not store; as in CACHE/rejects.jsonl."""

    kind: str
    """Whose fault it is: policy, input, crash or environment."""
    stage: str
    """Where it failed: list, discover, text, read, decode, condition or features."""
    id: str
    """The clip's full id; empty if none could be read."""
    place: str
    """A line of a list ("metadata.csv:12"), or a path relative to DATA."""
    reason: str
    """The reason, in words."""
    rule: str
    """The rule's name, for programs: too_long, source_empty, ..."""
    numbers: dict[str, float]
    """The rule's numbers, as in {"frames": 1034, "max_frames": 800}."""
    about: str
    """What the rule is about, beside numbers: a column, another clip's id, a library's message."""

    def error(self) -> RejectedClipError:
        """Returns the exception that asking for this clip raises."""
        return RejectedClipError(*self)


class RejectedClipError(Error):
    """A build would not store this clip. Take another one.

    The attributes are those of a Reject.
    """

    code = "rejected"
    kind: str
    stage: str
    id: str
    place: str
    reason: str
    rule: str
    numbers: dict[str, float]
    about: str

    def __init__(
        self, kind: str, stage: str, id: str, place: str, reason: str, rule: str, numbers: dict[str, float], about: str
    ) -> None:
        reject = Reject(kind, stage, id, place, reason, rule, numbers, about)
        super().__init__(f"clip '{reject.id}' is rejected ({reject.stage}, {reject.kind}): {reject.reason}")
        vars(self).update(reject._asdict())

    def __reduce__(self) -> tuple[type[RejectedClipError], tuple[Any, ...]]:
        return RejectedClipError, tuple(getattr(self, name) for name in Reject._fields)


class InternalError(Error):
    """A defect of this package."""

    code = "internal"


# The class for each status code; _core looks it up.
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


# Exit codes, chosen by what the caller does next. Code 2 means: correct the call, its settings, or
# what is installed.
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
    """Returns the exit code of a command that ends with this error, as the program has it.

    None: the error is not one that a command reports.
    """
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), None)
