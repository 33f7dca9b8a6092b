"""scan(): all rules over all files."""

from __future__ import annotations

import os
from typing import Any

from . import getitem, loader, rules_tensorflow, rules_torch, steps, waits
from .files import Source, printable, read_all
from .project import Project

_FINDS_MAX = 1000
_SECONDS_MAX = 15.0  # of the rules, beside those of reading


def scan(folder: str, config: str | None = None) -> dict[str, Any]:
    """Returns what the files below a folder do to a GPU.

    Args:
        folder: The trainer's code, or one file.
        config: The trainer's config.yaml; its keys may decide which loader is used.
    """
    if os.path.exists(folder):
        sources, not_read = read_all(folder)
    else:
        sources, not_read = [], [{"file": printable(folder), "reason": "it is not there"}]
    project = Project(sources, _SECONDS_MAX)
    found: list[dict[str, Any]] = []
    answer: dict[str, Any] = {}
    try:
        answer = loader.loader_in_use(project, config)
        all_steps = steps.Steps(project)
        for finds in (
            rules_tensorflow.finds(project),
            rules_torch.finds(project),
            getitem.finds(project),
            steps.finds(project, all_steps),
            waits.finds(project, all_steps),
        ):
            for one in finds:
                found.append(one)
    except TimeoutError:
        not_read.append({"file": printable(folder), "reason": f"the rules took more than {_SECONDS_MAX:.0f} s"})
    unique = {
        (one["file"], one["line"], one["rule"]): one
        for one in found
        if not _is_ignored(project.by_path[one["file"]], one)
    }
    return {
        "format": 1,
        "files_read": len(sources),
        "not_read": not_read,
        "finds": [unique[key] for key in sorted(unique)][:_FINDS_MAX],
        "loader": answer,
    }


def _is_ignored(source: Source, found: dict[str, Any]) -> bool:
    rules = source.ignored.get(found["line"])
    return rules is not None and (not rules or found["rule"] in rules)
