"""What a tracer answered, and whether that is true."""

import dataclasses
import json
import pathlib
import re

from table import Row

FIRST_RANKS = 2


@dataclasses.dataclass(frozen=True)
class Finding:
    rank: int
    title: str
    call: str
    file: str
    line: int
    function: str
    share: float
    remedy: str
    cache: str  # yes, no, part, or nothing


def read_findings(path):
    """Returns the findings in a tracer's JSON: the one place that knows its shape."""
    found = json.loads(pathlib.Path(path).read_text())["findings"]
    return sorted((finding_of(place, entry) for place, entry in enumerate(found, 1)), key=lambda finding: finding.rank)


def finding_of(place, entry):
    def text(key):
        value = entry.get(key)
        return {True: "yes", False: "no", None: ""}.get(value, value) if not isinstance(value, str) else value

    words = {key: str(text(key)) for key in ("title", "call", "file", "function", "remedy", "cache")}
    numbers = {"line": int(entry.get("line") or 0), "share": float(entry.get("share") or 0)}
    return Finding(rank=int(entry.get("rank") or place), **words, **numbers)


@dataclasses.dataclass
class Verdict:
    row: Row
    rank: int | None = None  # of the first finding that names the cause
    placed: bool = False  # whether it has the cause's file and line, too
    untrue: tuple = ()
    seconds: float = 0.0
    said: str = ""  # what came first
    skipped: str = ""

    @property
    def good(self):
        return not self.said if self.row.healthy else self.rank is not None and self.rank <= FIRST_RANKS


def judged(row, findings):
    verdict = Verdict(
        row, said=(findings[0].title or findings[0].call or "a finding without words") if findings else ""
    )
    if row.healthy:
        return verdict
    for finding in findings:
        if re.search(row.names, f"{finding.call}\n{finding.function}\n{finding.title}", re.IGNORECASE):
            verdict.rank = finding.rank
            verdict.placed = finding.file.endswith(row.file) and abs(finding.line - row.line()) <= 2
            if {finding.cache, row.cache} == {"yes", "no"}:
                verdict.untrue += (f"cache: {finding.cache}",)
            break
    remedies = "\n".join(finding.remedy for finding in findings[:FIRST_RANKS])
    matches = (re.search(pattern, remedies, re.IGNORECASE) for pattern in row.untrue_words)
    verdict.untrue += tuple(match[0] for match in matches if match)
    return verdict
