"""Which loader trains: the class, its data set, and what decides where there are two ways."""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from . import config_file, fallback, words
from .files import Source, printable
from .project import Class, Project, last_name
from .rules_torch import arguments_of, is_for_training, is_loader

_TF_SOURCE = re.compile(r"tensorflow\.data\.(Dataset\.(from_\w+|list_files|range)|(experimental\.)?\w+Dataset)")


def loader_in_use(project: Project, config: str | None) -> dict[str, Any]:
    """Returns the kind of loader, and the place that decides.

    kind: "native" or "python" (a pipeline that has both ways behind a key), "tf.data", "DataLoader", or
    "cannot_tell".
    """
    for source in project.sources:
        if words.file_trains(source.path) is False:
            continue
        for _, function in fallback.python_calls(source):
            flag = fallback.flag_around(source, function)
            if flag is not None:
                return _of_flag(project, source, flag, config)
    places = _places(project)
    if not places:
        return _answer("cannot_tell", None, None, "no loader of PyTorch or TensorFlow is made")
    rank, kind, source, call, name = places[0]
    others = sum(1 for one in places[1:] if one[0] < 4)
    more = f"; {others} more places make one for training" if others > 1 else ""
    dataset = _dataset_of(project, source, call) if kind == "DataLoader" else None
    text = f"{name} is made" + (" for training" if rank < 4 else "")
    if dataset is None:
        return _answer(kind, source, call, text + more)
    text = f"{name} over {dataset.node.name}"
    answer = _answer(kind, source, call, text + more)
    answer["dataset"] = dataset.node.name
    for method in ("__getitem__", "__iter__"):
        for one in project.methods_of(dataset.source, dataset.node, method):
            answer["getitem"] = f"{one.source.path}:{one.node.lineno}"
            answer["text"] = f"{text}, whose {method} is in {answer['getitem']}{more}"
            return answer
    return answer


def _places(project: Project) -> list[tuple[int, str, Source, ast.Call, str]]:
    """Returns where loaders are made, the likeliest for training first."""
    found: list[tuple[int, str, Source, ast.Call, str]] = []
    for source in project.sources:
        in_file = words.file_trains(source.path)
        for call, name in source.calls:
            kind = "DataLoader" if is_loader(name) else "tf.data" if _TF_SOURCE.fullmatch(name) else ""
            if not kind:
                continue
            function = source.function_of(call)
            by_name = words.trains(*([function.name] if function is not None else []))
            trains = (
                is_for_training(source, call, arguments_of(call))
                if kind == "DataLoader"
                else (by_name or in_file) is not False
            )
            rank = (0 if trains else 4) + (0 if in_file else 1 if in_file is None else 2)
            found.append((rank, kind, source, call, name))
    return sorted(found, key=lambda one: (one[0], one[2].path, one[3].lineno))


def _dataset_of(project: Project, source: Source, call: ast.Call) -> Class | None:
    """Returns the class of a DataLoader's data set, followed through variables of the file."""
    node = arguments_of(call).get("dataset")
    for _ in range(4):
        if isinstance(node, ast.Call):
            found = project.classes.get(last_name(node.func), [])
            same = [one for one in found if one.source is source] or found
            if same:
                return same[0]
            node = _returned(project, last_name(node.func))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            node = _assigned(source, call, source.name_of(node))
        else:
            return None
    return None


def _assigned(source: Source, call: ast.Call, name: str) -> ast.AST | None:
    """Returns what a name is assigned last before a call; else anywhere in the file."""
    assignments = [node for node in source.nodes if isinstance(node, ast.Assign)]
    values = [one for one in assignments if name and name in {source.name_of(target) for target in one.targets}]
    function = source.function_of(call)
    before = [one for one in values if one.lineno <= call.lineno and source.function_of(one) is function]
    values = before or values
    return values[-1].value if values else None


def _returned(project: Project, name: str) -> ast.AST | None:
    """Returns what a function of the project returns, where there is one of that name."""
    functions = project.functions.get(name, [])
    if len(functions) != 1:
        return None
    for node in ast.walk(functions[0].node):
        if isinstance(node, ast.Return) and node.value is not None:
            return node.value
    return None


# Two ways behind a key


def _of_flag(project: Project, source: Source, flag: fallback.Flag, config: str | None) -> dict[str, Any]:
    """Answers by the configuration, by a training script that sets the key, and by the key's default."""
    decided: list[tuple[bool, str]] = []  # the value, and where it comes from
    place: tuple[str, int] | None = None
    in_config = config_file.switch_in(config, flag.key)
    if in_config is not None and config is not None:
        value, line = in_config
        place = (printable(os.path.basename(config)), line)
        decided.append((value, f"{place[0]}:{line} has {flag.key}: {str(value).lower()}"))
    for other, node, value in _set_in_scripts(project, flag.key):
        place = place or (other.path, node.lineno)
        decided.append((value, f"{other.path}:{node.lineno} sets {flag.key}={value}, whatever a file says"))
    if not decided:
        default = _default_of(project, flag)
        if default is None:
            text = f"{flag.key} decides, and neither the code nor a configuration gives it a value"
            return _answer("cannot_tell", source, flag.place, text)
        other, key, value = default
        place = (other.path, getattr(key, "lineno", 1))
        decided.append((value, f"{flag.key} is {str(value).lower()} by default"))
    text = "; ".join(said for _, said in decided)
    if len({value for value, _ in decided}) > 1:
        return _answer("cannot_tell", source, flag.place, text + ": it depends on which script trains")
    kind = "python" if decided[0][0] is flag.python_when else "native"
    if kind == "native" and flag.falls_back:
        text += "; where that fails, the code goes through Python"
    answer = _answer(kind, source, flag.place, text)
    if place is not None:
        answer["file"], answer["line"] = place
    return answer


def _set_in_scripts(project: Project, key: str) -> list[tuple[Source, ast.expr, bool]]:
    """Returns where a script that trains gives the key a fixed value, as in DataConfig(key=True)."""
    found: list[tuple[Source, ast.expr, bool]] = []
    for source in project.sources:
        if words.file_trains(source.path) is not True:
            continue
        for call, _ in source.calls:
            for keyword in call.keywords:
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if keyword.arg == key and isinstance(value, bool):
                    found.append((source, keyword.value, value))
    return found[:3]


def _default_of(project: Project, flag: fallback.Flag) -> tuple[Source, ast.AST, bool] | None:
    """Returns the default in a class of settings, and else the one where the code reads the key."""
    for source in project.sources:
        for node in source.nodes:
            is_field = isinstance(node, ast.AnnAssign) and isinstance(source.parents.get(node), ast.ClassDef)
            if is_field and source.name_of(node.target) == flag.key:  # type: ignore[attr-defined]
                value = node.value  # type: ignore[attr-defined]
                if isinstance(value, ast.Constant) and isinstance(value.value, bool):
                    return source, node, value.value
    if flag.default is None:
        return None
    source = next(one for one in project.sources if flag.place in one.parents)
    return source, flag.place, flag.default


def _answer(kind: str, source: Source | None, node: ast.AST | None, text: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "file": source.path if source is not None else "",
        "line": getattr(node, "lineno", 0),
        "text": text,
        "dataset": "",
        "getitem": "",
    }
