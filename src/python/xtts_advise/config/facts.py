"""What a configuration says, what is known of the machine it is for, and the language that rules ask it in."""

from __future__ import annotations

import ast
import dataclasses
import functools
import operator
import re
from collections.abc import Callable
from typing import Any

from .. import words
from ..words import Failure
from . import gpus, scalars
from .trainer import Trainer
from .tree import Entry, Node, read_map


@dataclasses.dataclass
class Situation:
    """What the file is for."""

    gpu: gpus.Gpu | None = None
    gpu_count: int | None = None
    cache: str = ""
    reader: str = "launcher"  # or "trainer"


@dataclasses.dataclass
class Given:
    """A key of the file: "data.batch_size"."""

    name: str
    line: int
    value: Node
    first_line: int | None = None  # it stands twice


class Facts:
    def __init__(self, text: str, origin: str, trainer: Trainer, situation: Situation) -> None:
        self.origin, self.trainer, self.situation = origin, trainer, situation
        self.given: dict[str, Given] = {}
        self.empty_sections: list[Given] = []
        self.section_lines: dict[str, int] = {}
        for section in read_map(text, origin).entries:
            self._collect(section)
        if not self.section_lines:
            sections = words.listed(trainer.sections, "or")
            raise Failure(
                "invalid_argument",
                f"{origin}: there is no section {sections}, so it is not the trainer's config.yaml",
            )

    def _collect(self, section: Entry) -> None:
        if section.key == "<<":
            self._refuse_merge(section)
        if section.key not in self.trainer.sections:
            self._add(section.key, section)
            return
        if section.key in self.section_lines:
            self._refuse(
                section.line,
                f"the section {section.key} stands twice, and the trainer reads the last alone: make one of them",
            )
        self.section_lines[section.key] = section.line
        if section.value.kind == "null" or (section.value.kind == "scalar" and not section.value.text):
            self.empty_sections.append(Given(section.key, section.line, section.value))
            return
        if section.value.kind != "map":
            self._refuse(section.line, f"{section.key} is {section.value.name}, and a section of keys is needed")
        for entry in section.value.entries:
            if entry.key == "<<":
                self._refuse_merge(entry)
            self._add(f"{section.key}.{entry.key}", entry)

    def _add(self, name: str, entry: Entry) -> None:
        first = self.given.pop(name, None)  # PyYAML takes the last
        self.given[name] = Given(name, entry.line, entry.value, first.line if first else None)

    def _refuse(self, line: int, what: str) -> None:
        raise Failure("unsupported", f"{self.origin}:{line}: {what}")

    def _refuse_merge(self, entry: Entry) -> None:
        self._refuse(entry.line, "merge keys (<<) are not read here: write the keys out")

    # ---- keys

    def plain(self, key: str) -> str | None:
        """Returns the plain scalar of a key, else the trainer's default; None: neither."""
        given = self.given.get(key)
        if given is None:
            return self.trainer.fields.get(key, {}).get("default")
        return None if given.value.kind != "scalar" or given.value.quoted else given.value.text

    def number(self, key: str) -> float | None:
        text = self.plain(key)
        return None if text is None else scalars.number_of(text)

    def flag(self, key: str) -> bool | None:
        text = self.plain(key)
        return None if text is None else scalars.bool_of(text)

    def text(self, key: str) -> str:
        """Returns the value as the file has it, else the trainer's default."""
        if key in self.given:
            value = self.given[key].value
            return value.text if value.kind == "scalar" else value.name
        return self.trainer.fields.get(key, {}).get("default", "")

    def place(self, key: str) -> str:
        """Returns "config.yaml:12": the key's line, else that of its section, else 1."""
        given = self.given.get(key)
        line = given.line if given else self.section_lines.get(key.partition(".")[0], 1)
        return f"{self.origin}:{line}"

    # ---- the language of rules.yaml

    def holds(self, expression: str) -> bool:
        return bool(self.value(expression))

    def value(self, expression: str) -> Any:
        return _value(_parsed(expression).body, self)

    def filled(self, text: str) -> str:
        """Replaces "{EXPRESSION}" by its value, and "{data.batch_size}" by what the file has."""
        return re.sub(r"\{([^{}]+)\}", lambda one: self._shown(one[1]), text)

    def _shown(self, expression: str) -> str:
        if expression in self.trainer.fields:
            return self.text(expression) or "nothing"
        value = self.value(expression)
        return words.number(value) if isinstance(value, (int, float)) else str("nothing" if value is None else value)

    def named(self, name: str) -> Any:
        """Returns the value of a name of an expression."""
        section, _, field = name.partition(".")
        if name in self.trainer.fields:
            return self.number(name)
        if section == "gpu":
            return (self.situation.gpu or {}).get(field or "name")
        if section == "two":
            # Without a GPU: the defaults of train_main.py.
            return gpus.two_of(self.trainer, (self.situation.gpu or {}).get("memory_gb", 24))[field]
        if name == "gpus":
            return self.situation.gpu_count
        if name in self.trainer.values:
            return self.value(self.trainer.values[name])
        raise ValueError(f"{name} is no name that an expression may have")


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


@functools.cache
def _parsed(expression: str) -> ast.Expression:
    return ast.parse(expression.strip(), mode="eval")


def _value(node: ast.expr, facts: Facts) -> Any:
    """Evaluates the few forms that a rule may have. None is a value that is not known."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Name, ast.Attribute)):
        return facts.named(ast.unparse(node))
    if isinstance(node, ast.BoolOp):
        parts = (_value(one, facts) for one in node.values)
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, facts)
    if isinstance(node, ast.BinOp):
        return _applied(_OPERATORS[type(node.op)], _value(node.left, facts), _value(node.right, facts))
    if isinstance(node, ast.Compare):
        values = [_value(one, facts) for one in (node.left, *node.comparators)]
        return all(bool(_applied(_OPERATORS[type(op)], a, b)) for op, a, b in zip(node.ops, values, values[1:]))
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, facts) else node.orelse, facts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _called(node.func.id, node.args, facts)
    raise ValueError(f"an expression may not have this: {ast.unparse(node)}")


def _applied(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    try:
        return None if a is None or b is None else operation(a, b)
    except (ZeroDivisionError, OverflowError):
        return None


def _called(name: str, arguments: list[ast.expr], facts: Facts) -> Any:
    if name in ("on", "off"):
        return facts.flag(ast.unparse(arguments[0])) is (name == "on")
    values = [_value(one, facts) for one in arguments]
    known = [one for one in values if one is not None]
    if name == "known":
        return bool(known)
    if name in ("min", "max"):
        return (min if name == "min" else max)(known) if known else None
    if name == "round":
        return round(known[0]) if known else None
    if name == "size":
        return words.size(known[0]) if known else None
    raise ValueError(f"an expression may not call {name}")
