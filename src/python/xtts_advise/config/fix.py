"""Mends a configuration by the changes that a check finds, and keeps the old file beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..findings import Change, Check
from ..words import Failure
from .edit import remove_key, set_value
from .trainer import Trainer
from .tree import Node, read_map

# A mend may uncover another fault: graph mode that is on again needs static shapes.
_ROUNDS_MAX = 8
# Each change parses the text twice. The trainer has 203 keys, so a file with so many faults is none of its own.
_CHANGES_MAX = 400


@dataclasses.dataclass
class Fix:
    text: str  # as it is to be
    check: Check  # of the last round
    changes: list[Change] = dataclasses.field(default_factory=list)  # one for each key
    refused: list[str] = dataclasses.field(default_factory=list)  # what the file's form does not allow
    backup: str = ""  # the old file; "": nothing was written

    def json(self) -> dict[str, Any]:
        return {
            "fixed": [change.json() for change in self.changes],
            "refused": self.refused,
            "backup": self.backup or None,
        }


def mend(text: str, origin: str, trainer: Trainer, check: Callable[[str], Check]) -> Fix:
    fix = Fix(text, check(text))
    for round_ in range(_ROUNDS_MAX):
        if round_:
            fix.check = check(fix.text)
        count = sum(len(finding.changes) for finding in fix.check.findings)
        if count > _CHANGES_MAX:
            raise Failure(
                "invalid_argument",
                f"{origin}: {count} changes would be needed, so it is not the trainer's config.yaml",
            )
        before = fix.text
        _apply_all(fix, origin, trainer)
        if fix.text == before:
            break
    old, new = read_map(text, origin), read_map(fix.text, origin)
    # Rules that disagree change nothing in the end.
    fix.changes = [one for one in fix.changes if _values(old, one.key) != _values(new, one.key)]
    return fix


def _values(root: Node, key: str) -> list[tuple[str, str, bool]]:
    section, _, name = key.partition(".")
    found = root.find(section)
    if name:
        found = [entry for part in found for entry in part.value.find(name)]
    return [(entry.value.kind, entry.value.text, entry.value.quoted) for entry in found]


def _apply_all(fix: Fix, origin: str, trainer: Trainer) -> None:
    """What is refused in one round may be possible in the next, so the last round's refusals count."""
    touched: set[str] = set()
    fix.refused = []
    for finding in fix.check.findings:
        if not finding.changes or touched & {change.key for change in finding.changes}:
            continue
        try:
            fix.text = _applied(fix.text, origin, trainer, finding.changes)
        except Failure as error:
            if str(error) not in fix.refused:
                fix.refused.append(str(error))
            continue
        for change in finding.changes:
            touched.add(change.key)
            _note(fix.changes, change)


def _applied(text: str, origin: str, trainer: Trainer, changes: list[Change]) -> str:
    """All changes of a finding, or none: a key that moves must not stand twice."""
    for change in changes:
        if change.after:
            is_text = trainer.fields.get(change.key, {}).get("type", "").startswith("text")
            text = set_value(text, origin, change.key, change.after, is_text)
        else:
            text = remove_key(text, origin, change.key)
    return text


def _note(changes: list[Change], change: Change) -> None:
    """Gives one change for each key, though several rounds may have changed it."""
    for at, earlier in enumerate(changes):
        if earlier.key == change.key:
            changes[at] = dataclasses.replace(earlier, after=change.after, reason=change.reason)
            return
    changes.append(change)
