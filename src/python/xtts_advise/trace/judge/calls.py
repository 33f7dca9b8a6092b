"""Stacks as calls: a line of the trainer's own code, and what it calls outside of that code."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from .recording import Place, Stack

_IMPORTS = "importlib"
_MOST = 0.4
_WRAPPERS = ("wrapper", "wrapped", "inner", "decorator", "new_func", "error_handler")  # of decorators
_KERAS = ("keras", "tf_keras", "tensorflow")
CALLBACK, MADE = "callback", "made"  # a call's target
_HEAVY_SHARE = 0.2  # of a call's time: a line that says what the call is


@dataclass
class Call:
    place: Place  # the trainer's own line, the innermost
    name: str  # "torchaudio.load", or the own function that computes
    target: str  # the callee with its whole module
    is_own: bool  # the line itself computes, or calls what is written in C
    wall_s: float = 0.0
    processor_s: float = 0.0
    names: set[str] = field(default_factory=set)  # of all that ran below
    below: list[Stack] = field(default_factory=list)  # what ran below
    outer: tuple[Place, ...] = ()  # own places above, the outermost first
    count: float = 0.0  # in a unit
    c_names: dict[str, float] = field(default_factory=dict)  # functions in C on this line, in a unit
    edges: list[dict[str, Any]] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)  # top modules that the own function calls
    lines: dict[Place, float] = field(default_factory=dict)  # own lines -> seconds

    @property
    def code(self) -> str:
        return " ".join(linecache.getline(self.place.file, self.place.line).split())

    @property
    def title(self) -> str:
        """The line itself where one line of an own function takes most of the time."""
        is_one_line = self.is_own and self.lines[self.place] >= _MOST * self.wall_s
        return self.code.rstrip(":") if is_one_line and self.code else self.name

    @property
    def is_import(self) -> bool:
        return self.name.startswith("import ")

    @property
    def waits(self) -> float:
        """The share of its time in which it stood still."""
        return max(0.0, 1.0 - self.processor_s / self.wall_s) if self.wall_s else 0.0


def calls_of(stacks: Iterable[Stack], counts: dict[str, Any] | None) -> list[Call]:
    """One entry for each own line and callee, the longest first; lines of one function that compute
    by themselves are one entry."""
    found: dict[tuple[Any, ...], Call] = {}
    for stack in stacks:
        own = [number for number, place in enumerate(stack.path) if place.kind == "own"]
        if not own:
            continue
        importing = _import_of(stack.path)
        made = _made_in(stack.path, own)
        callback = callback_of(stack.path)
        number = own[-1] if importing is None else max([n for n in own if n < importing[0]], default=own[0])
        place, inner = stack.path[number], stack.path[number + 1 :]
        key: tuple[Any, ...]
        if importing is not None:
            key = ("import", importing[1])
            name, target, is_own = "import " + importing[1], "", False
        elif callback is not None and callback[0] > own[-1]:
            name, target, is_own = callback[1], CALLBACK, False
            key = (place.file, place.line, name)
        elif made is not None:
            number, name = made
            place, target, is_own = stack.path[number], MADE, False
            key = ("made", place.file, place.line, name)
        elif inner:
            name, target, is_own = name_of_callee(inner), inner[0].name, False
            key = (place.file, place.line, name)
        else:
            name, target, is_own = place.name, "", True
            key = (place.file, place.function)
        call = found.get(key)
        if call is None:
            outer = tuple(stack.path[index] for index in own if index < number)
            call = found[key] = Call(place, name, target, is_own, outer=outer)
        call.wall_s += stack.wall_s
        call.processor_s += stack.processor_s
        call.names.update(below.name for below in inner)
        call.below.append(replace(stack, path=inner))
        call.lines[place] = call.lines.get(place, 0.0) + stack.wall_s
        call.place = max(call.lines, key=call.lines.__getitem__)
    calls = sorted(found.values(), key=lambda call: -call.wall_s)
    if counts and counts["units"]:
        for call in calls:
            _add_counts(call, counts)
    return calls


def callback_of(path: tuple[Place, ...]) -> tuple[int, str] | None:
    """Where Keras calls a callback of its own, and which: "keras.ModelCheckpoint"."""
    for number, place in enumerate(path):
        owner, _, function = place.function.rpartition(".")
        is_one = "callbacks" in place.module and function.startswith("on_") and not owner.endswith("CallbackList")
        if is_one and place.module.startswith(_KERAS):
            return number, f"{place.module.partition('.')[0]}.{owner}"
    return None


def _made_in(path: tuple[Place, ...], own: list[int]) -> tuple[int, str] | None:
    """The line that makes an object of a class of the trainer's own, and the class."""
    for above, number in pairwise(own):
        owner, _, function = path[number].function.rpartition(".")
        if function == "__init__" and not path[above].function.endswith("__init__"):
            return above, owner
    return None


def name_of_callee(inner: tuple[Place, ...]) -> str:
    """The callee as users write it: wrappers of its own package are passed over."""
    first = inner[0]
    package = first.module.partition(".")[0]
    owner, _, name = first.function.rpartition(".")
    if name == "__init__":
        name = owner
    if name in _WRAPPERS and len(inner) > 1:
        return name_of_callee(inner[1:])
    if first.module == "torch.nn.modules.module" and len(inner) > 2:
        for place in inner:
            if place.function.endswith(".forward"):
                return place.name
    return f"{package}.{name}" if package else name


def _import_of(path: tuple[Place, ...]) -> tuple[int, str] | None:
    """Where a stack imports, and the outermost module that is being imported."""
    for number, place in enumerate(path):
        if place.module.startswith(_IMPORTS) and place.function == "_find_and_load":
            for inner in path[number:]:
                if inner.function == "<module>":
                    return number, inner.module
            return number, "of a module"
    return None


def _add_counts(call: Call, counts: dict[str, Any]) -> None:
    units = counts["units"]
    last = call.name.rpartition(".")[2]
    lines = {place.line for place, seconds in call.lines.items() if seconds >= _HEAVY_SHARE * call.wall_s}
    for edge in counts["edges"]:
        if edge["file"] != call.place.file:
            continue
        if edge["caller"] == call.place.function.rpartition(".")[2]:
            call.modules.add(edge["module"].partition(".")[0])
        if edge["line"] not in lines:
            continue
        call.edges.append(edge)
        name = f"{edge['module']}.{edge['function']}"
        if edge["function"].rpartition(".")[2] == last or edge["function"] == last:
            call.count = max(call.count, edge["count"] / units)
        call.c_names[name] = call.c_names.get(name, 0.0) + edge["count"] / units
