"""How a PyTorch DataLoader is made."""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, Iterator, Optional

from .files import Source
from .finds import find
from .project import Project, calls_in

_LOADERS = {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader", "torch_geometric.data.DataLoader"}
# A loader for validation runs seldom. Its speed does not matter.
_NOT_TRAINING = re.compile(r"val|eval|test|dev|infer|sample|predict|generat|demo|stat", re.IGNORECASE)


def finds(project: Project) -> Iterator[Dict[str, Any]]:
    """Yields the finds of all DataLoaders that train."""
    compiles = any(name == "torch.compile" for source in project.sources for _, name in source.calls())
    for source in project.sources:
        for call, name in source.calls():
            if name in _LOADERS and not _is_not_training(source, call):
                yield from _of_loader(project, source, call, compiles)


def _of_loader(project: Project, source: Source, call: ast.Call, compiles: bool) -> Iterator[Dict[str, Any]]:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given:  # **options may have all of these
        return
    workers = given.get("num_workers", call.args[5] if len(call.args) > 5 else None)
    if workers is None or _constant(workers) == 0:
        how = "without num_workers" if workers is None else "with num_workers=0"
        yield find(source, call, "no_workers", f"A DataLoader is made {how}.")
    elif "persistent_workers" not in given or _constant(given["persistent_workers"]) is False:
        yield find(source, call, "workers_restart", "A DataLoader has workers, but not persistent_workers=True.")
    pinned = given.get("pin_memory")
    if project.uses_cuda and (pinned is None or _constant(pinned) is False):
        yield find(source, call, "no_pinned_memory", "A DataLoader for a GPU is made without pin_memory=True.")
    if compiles and "collate_fn" in given and _pads_to_longest(project, source, given["collate_fn"]):
        yield find(source, call, "varying_shapes", "Batches are padded to their longest clip, and torch.compile is used.")


def _constant(node: ast.AST) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _is_not_training(source: Source, call: ast.Call) -> bool:
    """By the names around it: the variable, the data set and the function."""
    words = [source.name_of(argument) for argument in call.args[:1]]
    words += [source.name_of(keyword.value) for keyword in call.keywords if keyword.arg == "dataset"]
    parent = source.parents.get(call)
    if isinstance(parent, ast.Assign):
        words += [source.name_of(target) for target in parent.targets]
    function = source.function_of(call)
    words.append(getattr(function, "name", ""))
    words = [word for word in words if word]
    if any("train" in word.lower() for word in words):
        return False
    return any(_NOT_TRAINING.search(word) for word in words) or _NOT_TRAINING.search(source.path) is not None


def _pads_to_longest(project: Project, source: Source, collate: ast.AST) -> bool:
    name: Optional[str] = source.name_of(collate.func if isinstance(collate, ast.Call) else collate)
    last = (name or "").rsplit(".", 1)[-1]
    for function in project.functions.get(last, []):
        for call in calls_in(function.node):
            called = function.source.name_of(call.func)
            if called.endswith("pad_sequence") or called == "max":
                return True
    return False
