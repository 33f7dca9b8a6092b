"""A pipeline with two ways: TensorFlow's own, and one through Python, behind a key of the configuration."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .files import Source
from .project import calls_in, constant, last_name

PYTHON = {"numpy_function", "py_function", "py_func"}


class Flag(NamedTuple):
    """The key that chooses the way."""

    key: str
    default: bool | None  # where the code reads it; None: it has none there
    place: ast.AST  # where the key is read
    python_when: bool  # the value with which the way leads through Python
    falls_back: bool  # whether an error leads through Python, too


def flag_around(source: Source, function: ast.AST | None) -> Flag | None:
    """Returns the flag that decides whether `.map()` is called with this function.

    It is a variable that is tested around the `.map()` and assigned from a key of the configuration.
    """
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    outer = source.function_of(function)
    if outer is None:
        return None
    for call in calls_in(outer):
        if last_name(call.func) != "map" or not any(last_name(one) == function.name for one in call.args):
            continue
        child: ast.AST = call
        for one in source.above(call):
            if one is outer:
                break
            if isinstance(one, ast.If):
                flag = _flag_of(source, outer, one, child)
                if flag is not None:
                    return flag
            child = one
    return None


def _flag_of(source: Source, outer: ast.AST, test: ast.If, child: ast.AST) -> Flag | None:
    python_when = child not in test.orelse
    condition = test.test
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        condition, python_when = condition.operand, not python_when
    if isinstance(condition, ast.Attribute):
        return Flag(condition.attr, None, condition, python_when, False)
    if not isinstance(condition, ast.Name):
        return None
    key: Flag | None = None
    falls_back = False
    for node in ast.walk(outer):
        if not isinstance(node, ast.Assign) or source.name_of(node.targets[0]) != condition.id:
            continue
        if any(isinstance(one, ast.ExceptHandler) for one in source.above(node)):
            falls_back = falls_back or constant(node.value) is python_when
        key = key or _key_of(node.value, python_when)
    return key._replace(falls_back=falls_back) if key is not None else None


def _key_of(value: ast.AST, python_when: bool) -> Flag | None:
    """Reads getattr(config, "key", default), config.get("key", default), config["key"] or config.key."""
    if isinstance(value, ast.Attribute):
        return Flag(value.attr, None, value, python_when, False)
    if isinstance(value, ast.Subscript):
        key = constant(value.slice)
        return Flag(key, None, value, python_when, False) if isinstance(key, str) else None
    if not isinstance(value, ast.Call):
        return None
    first = 1 if last_name(value.func) == "getattr" else 0
    if last_name(value.func) not in ("getattr", "get") or len(value.args) <= first:
        return None
    key = constant(value.args[first])
    default = constant(value.args[first + 1]) if len(value.args) > first + 1 else None
    if not isinstance(key, str):
        return None
    return Flag(key, default if isinstance(default, bool) else None, value, python_when, False)


def python_calls(source: Source) -> list[tuple[ast.Call, ast.AST]]:
    """Returns the calls of Python from TensorFlow's graph, each with its function."""
    found: list[tuple[ast.Call, ast.AST]] = []
    for call, name in source.calls:
        function = source.function_of(call)
        if name.startswith("tensorflow.") and last_name(call.func) in PYTHON and function is not None:
            found.append((call, function))
    return found
