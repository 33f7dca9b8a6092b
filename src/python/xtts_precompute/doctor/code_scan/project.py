"""All files together: functions and classes by name, and who calls whom.

A name is looked up by its last part, since files of one project import one another in many ways.
Where two files have a function of one name, both are meant.
"""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, NamedTuple, Set, Union

from .files import Source

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class Function(NamedTuple):
    """A function or method, and the file that has it."""

    source: Source
    node: FunctionNode


class Project:
    """What is known of all files."""

    def __init__(self, sources: List[Source]) -> None:
        self.sources = sources
        self.by_path = {source.path: source for source in sources}
        self.functions: Dict[str, List[Function]] = {}
        for source in sources:
            for node in ast.walk(source.tree):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.functions.setdefault(node.name, []).append(Function(source, node))
        self.uses_cuda = any(_mentions_cuda(source) for source in sources)

    def called_from(self, function: Function) -> Iterator[Function]:
        """Yields the functions of this project that a function calls."""
        source, owner = function.source, class_of(function)
        for call in calls_in(function.node):
            name = source.name_of(call.func)
            last = name.rsplit(".", 1)[-1]
            candidates = self.functions.get(last, [])
            if name.startswith("self."):
                yield from (one for one in candidates if name.count(".") == 1 and _is_method_of(one, owner, source))
            elif name and "." not in name:  # a function of the same file
                yield from (one for one in candidates if one.source is source and class_of(one) is None)
            elif name.startswith(".") or last in source.imports or name.split(".")[0] in source.imports.values():
                module = name.rsplit(".", 1)[0].replace(".", "/").lstrip("/")
                yield from (
                    one
                    for one in candidates
                    if class_of(one) is None and module and one.source.path.endswith(module + ".py")
                )

    def reachable(self, function: Function, depth: int) -> Iterator[Function]:
        """Yields a function, and what it calls, up to some depth; each once."""
        seen: Set[int] = set()
        layer = [function]
        for _ in range(depth + 1):
            following: List[Function] = []
            for one in layer:
                if id(one.node) in seen:
                    continue
                seen.add(id(one.node))
                yield one
                following.extend(self.called_from(one))
            layer = following


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Yields the calls in a function, in the order of the lines."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    yield from sorted(found, key=lambda one: (one.lineno, one.col_offset))


def class_of(function: Function) -> Union[ast.ClassDef, None]:
    """Returns the class whose method this is; None for a plain function."""
    parent = function.source.parents.get(function.node)
    return parent if isinstance(parent, ast.ClassDef) else None


def _is_method_of(function: Function, owner: Union[ast.ClassDef, None], source: Source) -> bool:
    """A method of the same class, or of a base class in the same project."""
    other = class_of(function)
    if owner is None or other is None:
        return False
    if other is owner:
        return True
    return other.name in {source.name_of(base).rsplit(".", 1)[-1] for base in owner.bases}


def _mentions_cuda(source: Source) -> bool:
    return any(
        name.endswith(".cuda") or any(isinstance(one, ast.Constant) and _is_cuda(one.value) for one in call.args)
        for call, name in source.calls()
    )


def _is_cuda(value: object) -> bool:
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))
