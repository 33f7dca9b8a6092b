"""Which patterns in the trainer's own code starve a GPU?"""

from __future__ import annotations

from typing import Any

from .. import words
from ..findings import ORDER, Check, Evidence, Finding, cannot_tell
from .answers import at, count, items, text

_TITLE = "Patterns in the code"
_FINDINGS_MAX = 200  # one check stays readable


def check(scan: dict[str, Any] | str, folder: str) -> Check:
    """scan: what measure/code_scan answered; a text: why the code was not read."""
    if isinstance(scan, str):
        return cannot_tell("code", _TITLE, f"The code in {folder} was not read: {scan}.")
    finds, not_read, read_count = items(scan, "finds"), items(scan, "not_read"), count(scan, "files_read")
    files = words.counted(read_count, "file", "files")
    read = Evidence("files", f"{files} read, {len(not_read):,} not", folder, read_count, "files")
    unread = [Evidence(f"not read: {text(one, 'file')}", text(one, "reason"), "the scan") for one in not_read]
    made = Check("code", _TITLE, evidence=[read, *_loader(at(scan, "loader")), *unread])
    made.findings = [_finding(find) for find in finds[:_FINDINGS_MAX]]
    if read_count == 0:
        made.summary, made.is_judged = f"There is no Python file to read in {folder}.", False
        return made
    made.summary = (
        f"{words.counted(len(finds), 'place', 'places')} in {files} may starve a GPU."
        if finds
        else f"None of the known patterns that starve a GPU is in {files}."
    )
    if not_read:
        made.summary += f" {words.counted(len(not_read), 'file was', 'files were')} not read."
    return made


def _place(value: Any) -> str:
    line = count(value, "line")
    return text(value, "file") + (f":{line}" if line else "")


def _finding(find: Any) -> Finding:
    status, rule = text(find, "status"), text(find, "rule")
    # The rule's name is what a comment names to hide the find.
    said = (text(find, "text"), text(find, "why"), f"[{rule}]" if rule else "")
    what = " ".join(filter(None, said))
    return Finding(status if status in ORDER else "warn", what, text(find, "remedy"), _place(find))


def _loader(loader: Any) -> list[Evidence]:
    kind = text(loader, "kind")
    if not kind:
        return []
    source = ": ".join(filter(None, (_place(loader), text(loader, "text"))))
    return [
        Evidence("the loader in use", "cannot tell" if kind == "cannot_tell" else kind, source or "the code's calls")
    ]
