"""The recordings of a trace, one for each Python process that ran."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FRAMEWORKS = ("torch", "tensorflow", "keras", "jax", "numpy", "xtts_precompute")


@dataclass(frozen=True)
class Place:
    """A line of a function that runs."""

    file: str
    line: int
    module: str
    function: str
    kind: str  # "own", "library", "standard" or "trace"

    @property
    def name(self) -> str:
        return f"{self.module}.{self.function}" if self.module else self.function


@dataclass(frozen=True)
class Stack:
    """What was open while time passed: places, the outermost first."""

    thread: str
    path: tuple[Place, ...]
    wall_s: float
    processor_s: float


class Recording:
    def __init__(self, document: dict[str, Any], profile: bytes = b"") -> None:
        self.facts = document
        self.profile = profile  # of some steps, by TensorFlow
        self.process: int = document["process"]
        self.parent: int = document["parent"]
        own_modules = _modules_of_the_trainer(document)
        self.places = [
            Place(file, line, module, function, "own" if module.partition(".")[0] in own_modules else kind)
            for file, line, module, function, kind in document["places"]
        ]
        self.stacks = [
            Stack(
                row["thread"],
                tuple(self.places[number] for number in reversed(row["key"])),
                row["wall_s"],
                row["processor_s"],
            )
            for row in document["stacks"]
        ]


def _modules_of_the_trainer(document: dict[str, Any]) -> set[str]:
    """A trainer may be an installed package, whose files are then no library."""
    names = {loop["facts"].get("data") or "" for loop in document["loops"]}
    names |= {unit["name"] for unit in document["units"]}
    modules = {name.partition(".")[0] for name in names} - {"", "tf"}
    return {name for name in modules if name not in _FRAMEWORKS and name not in sys.stdlib_module_names}


def read_recordings(folder: str) -> list[Recording]:
    """Recordings that a killed process left half-written are not there: they are renamed when whole."""
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            document = json.loads(Path(folder, name).read_text(encoding="utf-8"))
            profiles = [Path(folder, row["file"]).read_bytes() for row in document["events"].get("profile", [])]
            found.append(Recording(document, b"".join(profiles)))
    return found
