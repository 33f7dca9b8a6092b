"""What apply() and verify() say of each setting."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

# A report lists the rows that ask for something to be done before the others.
_ORDER = ("too_late", "warn", "yours", "cannot_tell", "not_here", "set", "already", "pass")


@dataclasses.dataclass(frozen=True)
class Row:
    """A setting, and what has become of it."""

    name: str
    """The framework and the setting, as in "torch.intra_op_threads"."""
    wanted: Any
    """The value that tuning gives it."""
    found: Any
    """The value that is in force now; None if that is not known."""
    status: str
    """What apply() did: "set", "already" (it was so before), "too_late", "not_here" (this machine or
    version does not have it), or "yours" (a line of the trainer's own code). What verify() found:
    "pass", "warn", or "cannot_tell"."""
    reason: str
    """Why the status is this one, then why the setting is wanted."""
    source: str
    """Who says that the setting helps."""


class Report(tuple[Row, ...]):
    """The rows of a call, with a text form."""

    @property
    def too_late(self) -> tuple[str, ...]:
        """The names of the settings that apply() came too late for."""
        return self.names("too_late")

    @property
    def ok(self) -> bool:
        """Whether no setting is too late and none gives a warning."""
        return not self.names("too_late", "warn")

    def names(self, *statuses: str) -> tuple[str, ...]:
        """Returns the names of the settings that have one of these statuses."""
        return tuple(row.name for row in self if row.status in statuses)

    def to_json(self) -> list[dict[str, Any]]:
        """Returns the rows as dicts of numbers, texts, truth values and None."""
        return [dataclasses.asdict(row) for row in self]

    def __str__(self) -> str:
        lines = []
        for row in sorted(self, key=lambda one: _ORDER.index(one.status)):
            found = "not known" if row.found is None else row.found
            lines.append(f"{row.status.replace('_', ' '):<12}{row.name}: wanted {row.wanted}, found {found}")
            lines.append(f"{'':<12}{row.reason} [{row.source}]")
        return "\n".join(lines)


def report_from(rows: Iterable[dict[str, Any]]) -> Report:
    """Returns the report that `to_json()` was made from."""
    return Report(Row(**row) for row in rows)
