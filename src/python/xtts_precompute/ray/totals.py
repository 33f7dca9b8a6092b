"""What the published parts hold together, read from their manifests; its size does not grow with their number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Kind(NamedTuple):
    """Rejects of one rule."""

    reject_class: str
    stage: str
    rule: str


class Totals:
    def __init__(self) -> None:
        self.empty_parts: list[int] = []
        """Parts without a record: a plan may have more parts than shards."""
        self.clips = 0
        """Clips that were planned, rejected ones included."""
        self.records = 0
        self.sound_seconds = 0.0
        self.rejects: dict[Kind, int] = {}
        self.examples: dict[Kind, str] = {}

    def add(self, number: int, part: Path) -> None:
        counts = json.loads((part / "manifest.json").read_text(encoding="utf-8"))["counts"]
        if counts["records"] == 0:
            self.empty_parts.append(number)
        self.clips += counts["planned"]
        self.records += counts["records"]
        self.sound_seconds += counts["seconds"]
        with open(part / "rejects.jsonl", encoding="utf-8") as lines:
            for line in lines:
                reject = json.loads(line)
                kind = Kind(reject["class"], reject["stage"], reject["rule"])
                self.rejects[kind] = self.rejects.get(kind, 0) + 1
                self.examples.setdefault(kind, reject["path"])
