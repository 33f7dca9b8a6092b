"""A trainer is a folder, xtts_advise/trainers/NAME, found by its name alone: keys.yaml, rules.yaml and more.

A file belongs to the trainer of which it has the most sections. One that reads a dict needs all of its sections, and
shares their names with many programs: a file with less than half of them is none of its own.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from .file import read_bytes
from .tree import read_map, read_text

TRAINERS = Path(__file__).resolve().parents[1] / "trainers"
_USUAL = "myxtts"


class Trainer:
    def __init__(self, folder: Path) -> None:
        keys, rules = _read(folder / "keys.yaml"), _read(folder / "rules.yaml")
        self.folder = folder
        self.title: str = keys["trainer"]
        self.reads_dict = keys.get("reads") == "dict"
        """It does not see a key that it does not ask for, and stops where one is missing."""
        self._notes: dict[str, str] = keys.pop("notes", {})
        tables = {name: table for name, table in keys.items() if isinstance(table, dict)}
        self.sections = tuple(tables)
        rows = {f"{section}.{name}": row for section, table in tables.items() for name, row in table.items()}
        self.fields: dict[str, dict[str, str]] = {name: row for name, row in rows.items() if "type" in row}
        """The trainer's own keys. It stops at any other, or does not see it."""
        self._homes = {name: row["home"] for name, row in rows.items() if "home" in row}
        self.values: dict[str, str] = rules.get("values", {})
        self.rules: list[dict[str, Any]] = rules["rules"]
        self.has_launcher = rules.get("launcher") == "yes"  # `xtts-precompute train` runs it on a cache
        has_gpus = (folder / "gpus.yaml").exists()
        self.gpus: dict[str, list[dict[str, str]]] = _read(folder / "gpus.yaml") if has_gpus else {}

    def home_of(self, name: str) -> str:
        """Says where a key belongs that is none of this trainer's; "" where nothing is known of it."""
        home: str = self._homes.get(name, "")
        return self._notes.get(home, home)


@functools.cache
def load(name: str = _USUAL) -> Trainer:
    return Trainer(TRAINERS / name)


def of_text(text: str, origin: str) -> Trainer:
    """The trainer that this configuration is for."""
    given = {entry.key for entry in read_map(text, origin).entries}
    known = [load(folder.name) for folder in sorted(TRAINERS.iterdir()) if (folder / "keys.yaml").exists()]
    return max(known, key=lambda one: (_fit(one, given), one.folder.name == _USUAL))


def of_file(path: str) -> Trainer:
    return of_text(read_text(read_bytes(path), path), path)


def _fit(trainer: Trainer, given: set[str]) -> int:
    count = len(given & set(trainer.sections))
    return count if not trainer.reads_dict or 2 * count > len(trainer.sections) else 0


def _read(path: Path) -> Any:
    # Every scalar is a text, as the trainer's file writes it.
    return YAML(typ="base", pure=True).load(path.read_text(encoding="utf-8"))
