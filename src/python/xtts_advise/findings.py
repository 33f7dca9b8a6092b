"""Checks and their findings: plain values, how they are ranked, and their JSON (docs/json.md).

A check passes or fails by what was measured or read. Where nothing could be, it says "cannot_tell", and its summary
says what is missing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from .charts import Chart

ORDER = ("fail", "warn", "cannot_tell", "pass")  # the worst first


@dataclasses.dataclass(frozen=True)
class Change:
    """A change of the configuration. An empty `before`: no such key; an empty `after`: its lines become comments."""

    key: str
    before: str
    after: str
    reason: str

    def json(self) -> dict[str, Any]:
        return {"after": self.after, "before": self.before or None, "key": self.key, "reason": self.reason}


@dataclasses.dataclass(frozen=True)
class Gain:
    """How many times as fast training becomes: 1 is no gain. `basis` says how the range is known."""

    low: float
    high: float
    basis: str = "documented, not measured here"

    @property
    def words(self) -> str:
        low, high = (f"{round(one, 1):g}" for one in (self.low, self.high))
        return f"{low if low == high else f'{low} to {high}'} times as fast"


@dataclasses.dataclass
class Finding:
    status: str  # of ORDER
    text: str
    remedy: str = ""
    place: str = ""  # "train.py:120"
    gain: Gain | None = None
    changes: list[Change] = dataclasses.field(default_factory=list)

    def json(self) -> dict[str, Any]:
        return {
            "config_changes": [change.json() for change in self.changes],
            "gain": self.gain and dataclasses.asdict(self.gain),
            "place": self.place or None,
            "remedy": self.remedy or None,
            "status": self.status,
            "text": self.text,
        }


@dataclasses.dataclass(frozen=True)
class Evidence:
    """A fact that a check rests on: "sequential read", "182 MB/s", and how it is known."""

    what: str
    value: str
    source: str
    number: float | None = None  # the value for programs, in `unit`
    unit: str = ""

    def json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "unit": self.unit or None}


@dataclasses.dataclass
class Check:
    name: str  # "storage": part of the JSON, so it never changes
    title: str
    summary: str = ""  # the answer in one sentence
    findings: list[Finding] = dataclasses.field(default_factory=list)
    evidence: list[Evidence] = dataclasses.field(default_factory=list)
    charts: list[Chart] = dataclasses.field(default_factory=list)
    is_judged: bool = True  # False: nothing could be measured

    @property
    def status(self) -> str:
        worst = min((one.status for one in self.findings), key=ORDER.index, default="pass")
        return worst if self.is_judged or worst != "pass" else "cannot_tell"

    def by_status(self) -> list[Finding]:
        return sorted(self.findings, key=lambda one: ORDER.index(one.status))

    def conclude(self, otherwise: str) -> Check:
        """Answers with the first finding's text, or `otherwise`."""
        self.summary = self.findings[0].text if self.findings else otherwise
        return self

    def json(self) -> dict[str, Any]:
        advice = recommended([self])
        return {
            "evidence": [one.json() for one in self.evidence],
            "findings": [one.json() for one in self.findings],
            "name": self.name,
            "remedy": advice[0].remedy if advice else None,
            "status": self.status,
            "summary": self.summary,
            "title": self.title,
        }


def cannot_tell(name: str, title: str, why: str) -> Check:
    return Check(name, title, why, is_judged=False)


def issues(checks: Iterable[Check]) -> list[Finding]:
    """What fails, then what warns."""
    bad = [one for check in checks for one in check.findings if one.status in ("fail", "warn")]
    return sorted(bad, key=lambda one: ORDER.index(one.status))


def recommended(checks: Iterable[Check]) -> list[Finding]:
    """What has a remedy: known gains first, larger first, then the worst. Each remedy of a place stands once."""
    with_remedy = [one for check in checks for one in check.findings if one.remedy]
    chosen: dict[tuple[str, str], Finding] = {}
    for finding in sorted(with_remedy, key=_usefulness):
        chosen.setdefault((finding.place, finding.remedy), finding)
    return list(chosen.values())


def _usefulness(finding: Finding) -> tuple[float, int]:
    gain = finding.gain
    return (-(gain.low + gain.high) if gain else 0.0, ORDER.index(finding.status))


def changes(checks: Iterable[Check]) -> list[Change]:
    """One change for each key: that of the most useful finding."""
    chosen: dict[str, Change] = {}
    for finding in recommended(checks):
        for change in finding.changes:
            chosen.setdefault(change.key, change)
    return list(chosen.values())


def document_of(checks: list[Check]) -> dict[str, Any]:
    return {
        "checks": [check.json() for check in checks],
        "config_changes": [change.json() for change in changes(checks)],
        "issues": [one.json() for one in issues(checks)],
        "recommendations": [one.json() for one in recommended(checks)],
    }


def reached(checks: Iterable[Check], fail_on: str) -> str:
    """The titles of the checks at which --fail-on ("warn", "fail" or "") ends with exit code 4; "" if there is none."""
    limit = {"": (), "warn": ("warn", "fail"), "fail": ("fail",)}[fail_on]
    return ", ".join(check.title for check in checks if check.status in limit)
