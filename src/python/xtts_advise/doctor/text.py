"""A diagnosis in plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..findings import Change, Check, changes, recommended
from ..words import visible
from . import help
from .diagnose import Diagnosis

_LABELS = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "cannot_tell": "?"}
_COLOURS = {"pass": "32", "warn": "33", "fail": "31", "cannot_tell": "2"}  # green, yellow, red and dim, as ANSI says
_MARGIN = 8  # of the labels
_CHANGES_SHOWN = 20


def text_of(diagnosis: Diagnosis, config: str, width: int, is_whole: bool = False, is_coloured: bool = False) -> str:
    """is_whole: also what checks rest on that found nothing. config: the file of the changes."""
    lines = [*_wrapped(", ".join(diagnosis.machine), 0, width), ""]
    for check in diagnosis.checks:
        title, *rest = _lines_of(check, width, is_whole)
        lines += [f"\x1b[1;{_COLOURS[check.status]}m{title}\x1b[0m" if is_coloured else title, *rest]
    advice = [*_advice(diagnosis.checks, width), *_changes(changes(diagnosis.checks), config, width)]
    if not advice:
        is_judged = any(check.status != "cannot_tell" for check in diagnosis.checks)
        advice = ["Nothing was found that holds training back." if is_judged else "Nothing could be judged."]
    return "".join(f"{line}\n" for line in [*lines, *advice])


def _lines_of(check: Check, width: int, is_whole: bool) -> Iterator[str]:
    yield _label_of(check).ljust(_MARGIN) + check.title
    yield from _wrapped(check.summary, _MARGIN, width)
    for finding in check.findings:
        if finding.text != check.summary:  # which is most often the first finding's text
            yield from _wrapped(f"- {_place(finding.place)}{finding.text}", _MARGIN, width)
    if is_whole or check.name == help.NAME or check.status in ("warn", "fail"):
        for one in check.evidence:
            yield from _wrapped(f"{one.what}: {one.value} ({one.source})", _MARGIN + 2, width)
    yield ""


def _label_of(check: Check) -> str:
    """The first check answers a question, so its label is the answer."""
    answer = re.match("Yes|No|Perhaps", check.summary)
    if check.name == help.NAME and check.status != "cannot_tell" and answer:
        return answer[0]
    return _LABELS[check.status]


def _advice(checks: list[Check], width: int) -> Iterator[str]:
    for number, finding in enumerate(recommended(checks), 1):
        if number == 1:
            yield "What to do, most useful first:"
        gain = f" ({finding.gain.words}; {finding.gain.basis})" if finding.gain else ""
        yield from _wrapped(f"{number}. {_place(finding.place)}{finding.remedy}{gain}", 2, width)


def _changes(found: list[Change], config: str, width: int) -> Iterator[str]:
    if found:
        yield f"Changes of {visible(config)}, which --quick-fix writes:"
    for change in found[:_CHANGES_SHOWN]:
        before = f"{change.before} " if change.before else ""
        yield from _wrapped(f"{change.key}: {before}-> {change.after}. {change.reason}", 2, width)


def _place(place: str) -> str:
    return f"{place}: " if place else ""


def _wrapped(text: str, indent: int, width: int) -> Iterator[str]:
    """Breaks a text between words. A command in backticks is one word, so that it can be copied from one line."""
    room = max(width - indent, 20)
    line = ""
    for word in re.findall(r"(?:`[^`]*`|\S)+", visible(text)):
        if line and _columns(line) + 1 + _columns(word) > room:
            yield " " * indent + line
            line = ""
        line += f" {word}" if line else word
    if line:
        yield " " * indent + line


def _columns(text: str) -> int:
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )
