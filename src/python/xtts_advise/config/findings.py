"""Findings and checks: plain values, as the doctor has them, and their JSON (docs/json.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

_ORDER = ("fail", "warn", "cannot_tell", "pass")  # the worst first


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of the file. An empty `before`: it has no such key; an empty `after`: its lines become comments."""

    key: str
    before: str
    after: str
    reason: str

    def json(self) -> dict[str, Any]:
        return {"after": self.after, "before": self.before or None, "key": self.key, "reason": self.reason}


@dataclasses.dataclass
class Finding:
    status: str  # of _ORDER
    text: str
    remedy: str = ""
    place: str = ""
    gain: tuple[float, float] | None = None  # how many times as fast
    changes: list[Change] = dataclasses.field(default_factory=list)

    BASIS = "documented, not measured here"

    def json(self) -> dict[str, Any]:
        gain = self.gain and {"basis": self.BASIS, "high": self.gain[1], "low": self.gain[0]}
        return {
            "config_changes": [change.json() for change in self.changes],
            "gain": gain,
            "place": self.place or None,
            "remedy": self.remedy or None,
            "status": self.status,
            "text": self.text,
        }


@dataclasses.dataclass
class Check:
    findings: list[Finding]
    summary: str
    evidence: list[tuple[str, str, str]]  # what, value, source

    @property
    def status(self) -> str:
        return min((one.status for one in self.findings), key=_ORDER.index, default="pass")

    def by_status(self) -> list[Finding]:
        return sorted(self.findings, key=lambda one: _ORDER.index(one.status))

    def json(self) -> dict[str, Any]:
        issues = [one for one in self.by_status() if one.status in ("fail", "warn")]
        advice = _recommended(self.findings)
        changes: dict[str, Change] = {}
        for finding in advice:
            for change in finding.changes:
                changes.setdefault(change.key, change)
        check = {
            "evidence": [
                {"number": None, "source": source, "unit": None, "value": value, "what": what}
                for what, value, source in self.evidence
            ],
            "findings": [one.json() for one in self.findings],
            "name": "configuration",
            "remedy": advice[0].remedy if advice else None,
            "status": self.status,
            "summary": self.summary,
            "title": "Configuration",
        }
        return {
            "checks": [check],
            "config_changes": [change.json() for change in changes.values()],
            "issues": [one.json() for one in issues],
            "recommendations": [one.json() for one in advice],
        }


def _recommended(findings: Iterable[Finding]) -> list[Finding]:
    """What has a remedy: known gains first, larger first, then the worst. Each remedy of a place stands once."""
    chosen: dict[tuple[str, str], Finding] = {}
    with_remedy = [one for one in findings if one.remedy]
    for finding in sorted(with_remedy, key=lambda one: (-sum(one.gain or (-2, 0)), _ORDER.index(one.status))):
        chosen.setdefault((finding.place, finding.remedy), finding)
    return list(chosen.values())
