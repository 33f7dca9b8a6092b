"""scan(): all rules over all files."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from . import getitem, loader, pytorch, steps, tensorflow
from .files import Source, read_all
from .project import Project

_FINDS_MAX = 1000


def scan(folder: str, config: Optional[str] = None) -> Dict[str, Any]:
    """Returns what the files below a folder do to a GPU.

    Args:
        folder: The trainer's code, or one file.
        config: The trainer's config.yaml; its keys may decide which loader is used.
    """
    if not os.path.exists(folder):
        return {"format": 1, "files_read": 0, "not_read": [{"file": folder, "reason": "it is not there"}],
                "finds": [], "loader": {}}  # fmt: skip
    sources, not_read = read_all(folder)
    project = Project(sources)
    finds: List[Dict[str, Any]] = []
    for rules in (tensorflow.finds, pytorch.finds, getitem.finds, steps.finds):
        finds.extend(one for one in rules(project) if not _is_ignored(project.by_path[one["file"]], one))
    unique = {(one["file"], one["line"], one["rule"]): one for one in finds}
    ordered = [unique[key] for key in sorted(unique)]
    return {
        "format": 1, "files_read": len(sources), "not_read": not_read, "finds": ordered[:_FINDS_MAX],
        "loader": loader.loader_in_use(project, config),
    }  # fmt: skip


def _is_ignored(source: Source, found: Dict[str, Any]) -> bool:
    rules = source.ignored.get(found["line"])
    return rules is not None and (not rules or found["rule"] in rules)
