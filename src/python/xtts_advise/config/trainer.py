"""A trainer is a folder: keys.yaml, rules.yaml and gpus.yaml of xtts_advise/trainers/NAME, as plain dicts and texts."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

TRAINERS = Path(__file__).resolve().parents[1] / "trainers"
SECTIONS = ("model", "data", "training")


class Trainer:
    def __init__(self, folder: Path) -> None:
        keys, rules = _read(folder / "keys.yaml"), _read(folder / "rules.yaml")
        self.title: str = keys["trainer"]
        self._notes: dict[str, str] = keys["notes"]
        rows = {f"{section}.{name}": row for section in SECTIONS for name, row in keys[section].items()}
        self.fields: dict[str, dict[str, str]] = {name: row for name, row in rows.items() if "type" in row}
        """The trainer's own keys. It stops at any other."""
        self._homes = {name: row["home"] for name, row in rows.items() if "home" in row}
        self.values: dict[str, str] = rules["values"]
        self.rules: list[dict[str, Any]] = rules["rules"]
        self.gpus: dict[str, list[dict[str, str]]] = _read(folder / "gpus.yaml")

    def home_of(self, name: str) -> str:
        """Says where a key belongs that is none of this trainer's; "" where nothing is known of it."""
        home: str = self._homes.get(name, "")
        return self._notes.get(home, home)


@functools.cache
def load(name: str = "myxtts") -> Trainer:
    return Trainer(TRAINERS / name)


def _read(path: Path) -> Any:
    # Every scalar is a text, as the trainer's file writes it.
    return YAML(typ="base", pure=True).load(path.read_text(encoding="utf-8"))
