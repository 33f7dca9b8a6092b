"""What a training step does: whether it is compiled, and where it waits for the GPU."""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, Iterator, List, Optional, Set

from .files import Source
from .finds import find
from .project import Function, Project, calls_in, class_of

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SYNC = {"item", "cpu", "numpy", "tolist"}
_DEPTH = 3
_NOT_TRAINING = re.compile(r"val|eval|test|infer|sample|generat", re.IGNORECASE)


def finds(project: Project) -> Iterator[Dict[str, Any]]:
    """Yields the finds of all functions that train."""
    wrapped = _wrapped_names(project)
    for functions in project.functions.values():
        for function in functions:
            if _NOT_TRAINING.search(function.node.name):
                continue
            yield from _not_compiled(project, function, wrapped)
            yield from _syncs(function)


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yields the nodes of a function, without those of functions inside of it."""
    pending: List[ast.AST] = list(ast.iter_child_nodes(function.node))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))


# Compiled steps


def _not_compiled(project: Project, function: Function, wrapped: Set[str]) -> Iterator[Dict[str, Any]]:
    source, node = function.source, function.node
    tape = next(
        (
            one
            for one in _own_nodes(function)
            if isinstance(one, ast.Call) and source.name_of(one.func) == "tensorflow.GradientTape"
        ),
        None,
    )
    if tape is None or _is_compiled(project, function, wrapped, _DEPTH):
        return
    yield find(source, node, "step_not_compiled", f"{node.name}() trains with a GradientTape and is not compiled.")


def _is_compiled(project: Project, function: Function, wrapped: Set[str], depth: int) -> bool:
    name = function.node.name
    if name in wrapped or any(_is_tf_function(function.source, one) for one in function.node.decorator_list):
        return True
    owner = class_of(function)
    if name == "train_step" and owner is not None:  # Keras compiles it, and only Keras' own models call it
        bases = [function.source.name_of(base) for base in owner.bases]
        if any(base.endswith(".Model") for base in bases):
            return True
    enclosing = function.source.function_of(function.node)
    if isinstance(enclosing, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if _is_compiled(project, Function(function.source, enclosing), wrapped, 0):
            return True
    if depth == 0:
        return False
    return any(_is_compiled(project, caller, wrapped, depth - 1) for caller in _callers(project, name))


def _callers(project: Project, name: str) -> Iterator[Function]:
    for functions in project.functions.values():
        for function in functions:
            for call in calls_in(function.node):
                called = function.source.name_of(call.func)
                is_handed_on = any(function.source.name_of(one).rsplit(".", 1)[-1] == name for one in call.args)
                if called.rsplit(".", 1)[-1] == name or (called.endswith(".run") and is_handed_on):
                    yield function
                    break


def _is_tf_function(source: Source, decorator: ast.AST) -> bool:
    if isinstance(decorator, ast.Call):
        if source.name_of(decorator.func).endswith("partial") and decorator.args:
            return _is_tf_function(source, decorator.args[0])
        decorator = decorator.func
    name = source.name_of(decorator)
    return name in ("tensorflow.function", "tensorflow.compat.v2.function") or name.endswith("tf.function")


def _wrapped_names(project: Project) -> Set[str]:
    """Returns the names of functions that are handed to tf.function somewhere."""
    names: Set[str] = set()
    for source in project.sources:
        for call, name in source.calls():
            is_wrapper = name == "tensorflow.function" or (
                isinstance(call.func, ast.Call) and source.name_of(call.func.func) == "tensorflow.function"
            )
            if is_wrapper:
                names.update(source.name_of(one).rsplit(".", 1)[-1] for one in call.args)
    return names


# Waits for the GPU


def _syncs(function: Function) -> Iterator[Dict[str, Any]]:
    """Yields one find for each line that waits in each step of training."""
    body = _body_of_step(function)
    if body is None:
        return
    source = function.source
    lines: Set[int] = set()
    for node in ast.walk(body):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in _SYNC or node.args or node.lineno in lines:
            continue
        if _is_seldom(source, node, body) or not _may_be_tensor(source, node.func.value):
            continue
        lines.add(node.lineno)
        shown = source.name_of(node.func) or f"(...).{node.func.attr}"
        shown = shown.rsplit(".", 2)[-2] + "." + node.func.attr if shown.count(".") > 1 else shown
        yield find(source, node, "host_sync", f"{shown}() is called in each step of {function.node.name}().")


def _body_of_step(function: Function) -> Optional[ast.AST]:
    """Returns the innermost loop that trains; the whole function where its name says that it is a step."""
    source = function.source
    backward = [
        one
        for one in _own_nodes(function)
        if isinstance(one, ast.Call)
        and (
            (isinstance(one.func, ast.Attribute) and one.func.attr == "backward")
            or source.name_of(one.func) == "tensorflow.GradientTape"
        )
    ]
    if not backward:
        return None
    for one in source.above(backward[-1]):
        if isinstance(one, _LOOPS):
            return one
        if one is function.node:
            break
    return function.node if re.search(r"step|update|optimize", function.node.name) else None


def _is_seldom(source: Source, node: ast.AST, body: ast.AST) -> bool:
    """Whether the call depends on a condition, or on an error."""
    for one in source.above(node):
        if one is body:
            return False
        if isinstance(one, (ast.If, ast.IfExp, ast.ExceptHandler, ast.Lambda)):
            return True
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
        if isinstance(one, ast.With) and any("no_grad" in source.name_of(_called(i)) for i in one.items):
            return True
    return False


def _called(item: ast.withitem) -> ast.AST:
    expression = item.context_expr
    return expression.func if isinstance(expression, ast.Call) else expression


def _may_be_tensor(source: Source, node: ast.AST) -> bool:
    """Lengths and names are most often on the host already."""
    name = source.name_of(node).lower()
    return not re.search(r"(^|[._])(len|lens|length|lengths|lr|args|config|hparams)$|length|np\.|numpy", name)
