"""All files together: functions and classes by name, and who calls whom.

A name is looked up by its last part, since files of one project import one another in many ways.
Where two files have a function of one name, and nothing tells them apart, both are meant.
"""

from __future__ import annotations

import ast
import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .files import INNER, Source

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


class Function(NamedTuple):
    """A function or method, and the file that has it."""

    source: Source
    node: ast.FunctionDef | ast.AsyncFunctionDef


class Class(NamedTuple):
    """A class, and the file that has it."""

    source: Source
    node: ast.ClassDef


class CallSite(NamedTuple):
    """A call, its file, and the function that it stands in."""

    source: Source
    call: ast.Call
    caller: Function | None


class Project:
    """What is known of all files."""

    def __init__(self, sources: list[Source], seconds_max: float = math.inf) -> None:
        self.end = time.monotonic() + seconds_max
        self.sources = sources
        self.by_path = {source.path: source for source in sources}
        self.functions: dict[str, list[Function]] = {}
        self.classes: dict[str, list[Class]] = {}
        self.call_sites: dict[str, list[CallSite]] = {}
        for source in sources:
            for node in source.nodes:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self.functions.setdefault(node.name, []).append(Function(source, node))
                elif isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, []).append(Class(source, node))
            for call, _ in source.calls:
                caller = source.function_of(call)
                site = CallSite(source, call, Function(source, caller) if caller is not None else None)
                self.call_sites.setdefault(last_name(call.func), []).append(site)
        self._calls: dict[ast.AST, list[ast.Call]] = {}
        self._users: dict[ast.ClassDef, set[str]] = {}
        self._places = _places_of_names(sources, set(self.classes))
        self.uses_cuda = any(_mentions_cuda(source) for source in sources)

    def all_functions(self) -> Iterator[Function]:
        """Yields every function, in the order of the names, then what stands in none, file by file."""
        for name in sorted(self.functions):
            self.check_time()
            yield from self.functions[name]
        for source in self.sources:
            self.check_time()
            yield Function(source, source.script)

    def check_time(self) -> None:
        """Raises TimeoutError where the time of the scan is over."""
        if time.monotonic() > self.end:
            raise TimeoutError

    def calls_of(self, function: Function) -> list[ast.Call]:
        """Returns the calls in a function, in the order of the lines."""
        if function.node not in self._calls:
            self._calls[function.node] = list(calls_in(function.node))
        return self._calls[function.node]

    def called_by(self, function: Function, call: ast.Call) -> list[Function]:
        """Returns the functions of this project that a call in a function may run."""
        self.check_time()
        source = function.source
        name = source.name_of(call.func)
        first, _, rest = name.partition(".")
        if not name:
            return []
        if first == "self" and rest:
            owner = class_of(function)
            if "." not in rest:
                return self.methods_of(source, owner, rest)
            attribute, _, method = rest.partition(".")
            made = self.attribute_of(source, owner, attribute)
            if made is None or "." in method:
                return []
            return self.methods_of(made.source, made.node, method)
        last = name.rsplit(".", 1)[-1]
        candidates = [one for one in self.functions.get(last, []) if class_of(one) is None]
        if "." not in name:
            return [one for one in candidates if one.source is source]
        module = name.rsplit(".", 1)[0].lstrip(".").replace(".", "/")
        return [one for one in candidates if module and _is_module(one.source.path, module)]

    def methods_of(self, source: Source, owner: ast.ClassDef | None, name: str, depth: int = 4) -> list[Function]:
        """Returns the method of a class, or that of its nearest base class in this project."""
        if owner is None:
            return []
        for node in owner.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
                return [Function(source, node)]
        if depth == 0:
            return []
        for base in owner.bases:
            for one in self.classes.get(last_name(base), []):
                found = self.methods_of(one.source, one.node, name, depth - 1) if one.node is not owner else []
                if found:
                    return found
        return []

    def attribute_of(self, source: Source, owner: ast.ClassDef | None, name: str) -> Class | None:
        """Returns the class whose object a class keeps as `self.name`."""
        if owner is None:
            return None
        for node in ast.walk(owner):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if any(source.name_of(target) == "self." + name for target in node.targets):
                found = self.classes.get(last_name(node.value.func), [])
                return found[0] if len(found) == 1 else None
        return None

    def users_of(self, owner: ast.ClassDef) -> set[str]:
        """Returns the files that name a class outside of its own body.

        A package's `__init__.py` does not count, nor does a trial in the class's own file.
        """
        if owner not in self._users:
            self._users[owner] = {
                source.path
                for source, node in self._places.get(owner.name, [])
                if owner not in source.above(node) and not (owner in source.parents and _is_trial(source, node))
            }
        return self._users[owner]

    def reachable(
        self,
        function: Function,
        depth: int,
        follows: Callable[[Function, ast.Call], bool] = lambda function, call: True,
    ) -> Iterator[Function]:
        """Yields a function, and what it calls, up to some depth; each once, the nearest first.

        Calls for which `follows` says no lead nowhere.
        """
        seen: set[ast.AST] = set()
        layer = [function]
        for _ in range(depth + 1):
            following: list[Function] = []
            for one in layer:
                if one.node in seen:
                    continue
                seen.add(one.node)
                yield one
                for call in self.calls_of(one):
                    if follows(one, call):
                        following.extend(self.called_by(one, call))
            layer = following


def last_name(node: ast.AST) -> str:
    """Returns "DataLoader" for `data.DataLoader`; "" for no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Yields the calls in a node, in the order of the lines."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    yield from sorted(found, key=lambda one: (one.lineno, one.col_offset))


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes below a node, without those of functions and classes inside of it."""
    pending = list(ast.iter_child_nodes(node))
    while pending:
        one = pending.pop()
        yield one
        if not isinstance(one, INNER):
            pending.extend(ast.iter_child_nodes(one))


def class_of(function: Function) -> ast.ClassDef | None:
    """Returns the class whose method this is; None for a plain function."""
    parent = function.source.parents.get(function.node)
    return parent if isinstance(parent, ast.ClassDef) else None


def loop_around(source: Source, node: ast.AST) -> ast.AST | None:
    """Returns the innermost loop around a node, within its function."""
    for one in source.above(node):
        if isinstance(one, _LOOPS):
            return one
        if isinstance(one, INNER):
            return None
    return None


def constant(node: ast.AST | None) -> object:
    """Returns the value of a literal; None for anything else."""
    if type(node).__name__ == "Index":  # around the key of a subscript, up to Python 3.8
        node = getattr(node, "value", None)
    return node.value if isinstance(node, ast.Constant) else None


def _is_trial(source: Source, node: ast.AST) -> bool:
    """Whether a node stands below `if __name__ == "__main__":`, in a file that does not train."""
    if any(word in source.text for word in (".backward(", ".fit(", "Trainer", "def train")):
        return False
    return any(
        isinstance(one, ast.If) and any(last_name(inner) == "__name__" for inner in ast.walk(one.test))
        for one in source.above(node)
    )


def _places_of_names(sources: list[Source], names: set[str]) -> dict[str, list[tuple[Source, ast.AST]]]:
    """Returns where each of some names stands, without the files that only hand names on."""
    places: dict[str, list[tuple[Source, ast.AST]]] = {}
    for source in sources:
        if source.path.endswith("__init__.py"):
            continue
        for node in source.nodes:
            name = node.name if isinstance(node, ast.alias) else last_name(node)
            if name in names:
                places.setdefault(name, []).append((source, node))
    return places


def _is_module(path: str, module: str) -> bool:
    return ("/" + path).endswith(("/" + module + ".py", "/" + module + "/__init__.py"))


def _mentions_cuda(source: Source) -> bool:
    return any(
        name.endswith(".cuda") or last_name(call.func) == "cuda" or any(_is_cuda(constant(one)) for one in call.args)
        for call, name in source.calls
    ) or "torch.cuda.is_available" in {name for _, name in source.calls}


def _is_cuda(value: object) -> bool:
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))
