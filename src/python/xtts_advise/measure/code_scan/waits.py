"""Where a training step waits for the GPU: .item(), .cpu(), .numpy(), .tolist(), float() of a tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from .files import Source
from .finds import find
from .project import Function, Project, class_of, constant, last_name, loop_around, own_nodes
from .steps import Steps, backwards_in, may_train

_METHODS = {"item", "cpu", "numpy", "tolist"}
_LOSS = re.compile(r"(^|_)(loss(es)?|grad_norm|total_norm)(_|$|\d)", re.IGNORECASE)
# A condition with such a word is met seldom: logging, saving, validation, or an error.
_SELDOM = re.compile(
    r"log|interval|every|freq|verbose|debug|save|ckpt|checkpoint|eval|valid|val_|_val|print|nan|inf|finite|error"
    r"|report|best|summary|wandb|writer|tensorboard|display|show|plot|early",
    re.IGNORECASE,
)
# Settings, counters and names are on the host.
_ON_HOST = re.compile(
    r"(^|_)(lr|args|config|hparams|np|numpy|random)(_|$)|(^|_)(steps?|epochs?|iters?|iterations?|index|idx|count)$"
    r"|path|name|queue",
    re.IGNORECASE,
)
_GATHERS = {"gather", "gather_for_metrics", "reduce"}  # of accelerate: their argument is the value
_MOVES = {"to", "cuda", "to_device", "to_gpu", "move_to_device", "send_to_device", "to_cuda"}


def finds(project: Project, steps: Steps) -> Iterator[dict[str, Any]]:
    """Yields one find for each line that waits in each step of training."""
    for function in project.all_functions():
        for body in _bodies_of_step(steps, function):
            yield from _waits(steps, function, body)


def _bodies_of_step(steps: Steps, function: Function) -> list[ast.AST]:
    """Returns the function that is a step, or the innermost loops that run one."""
    node, source = function.node, function.source
    if not may_train(function):
        return []
    if node is source.script and not _uses_gpu(source):
        return []  # a function may get what another file has moved to a GPU; a script moves it itself
    is_method = class_of(function) is not None and node.name in ("train_step", "training_step")
    if is_method or (node.name in steps.names and steps.is_in_a_loop(function)):
        return [node]
    places = backwards_in(function)
    places += [one for one in source.own_calls(node) if last_name(one.func) in steps.names]
    bodies: list[ast.AST] = []
    for place in sorted(places, key=lambda one: (one.lineno, one.col_offset)):
        around = loop_around(source, place)
        if around is not None and around not in bodies:
            bodies.append(around)
    return bodies


def _uses_gpu(source: Source) -> bool:
    """Whether a file moves something to a device, or leaves that to TensorFlow."""
    has_tensorflow = any(name.split(".")[0] == "tensorflow" for name in source.imports.values())
    return has_tensorflow or any(last_name(call.func) in _MOVES for call, _ in source.calls)


def _waits(steps: Steps, function: Function, body: ast.AST) -> Iterator[dict[str, Any]]:
    source = function.source
    is_graph = steps.is_compiled(function)
    host = _HostNames(source, body)
    losses = _loop_names(body)
    by_line: dict[int, tuple[ast.Call, str]] = {}
    for node in own_nodes(body):
        if not isinstance(node, ast.Call):
            continue
        shown = _wait_of(node, host, losses)
        if not shown or (is_graph and shown.endswith(("numpy()", "item()"))) or _is_seldom(source, node, body):
            continue
        by_line.setdefault(node.lineno, (node, shown))
    for line in sorted(by_line):
        node, shown = by_line[line]
        where = "each step of" if body is not function.node else "each call of"
        name = "this script" if function.node is source.script else f"{function.node.name}()"
        yield find(source, node, "host_sync", f"{shown} waits for the GPU in {where} {name}.")


def _wait_of(call: ast.Call, host: _HostNames, losses: set[str]) -> str:
    """Returns "loss.item()" for a call that waits; "" for any other."""
    if isinstance(call.func, ast.Name):
        is_float = call.func.id == "float" and len(call.args) == 1 and not call.keywords
        if not is_float or not isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Subscript)):
            return ""
        name = _name_of_value(call.args[0])
        is_loss = bool(_LOSS.search(name)) or name in losses
        return f"float({name})" if is_loss and not host.has(call.args[0], call.lineno) else ""
    if not isinstance(call.func, ast.Attribute):
        return ""
    method, value = call.func.attr, call.func.value
    if method == "to":
        is_wait = len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == "cpu"
    else:
        is_wait = method in _METHODS and not call.args
    if not is_wait or host.has(value, call.lineno):
        return ""
    name = _name_of_value(value)
    shown = f"{name}.{method}()" if name else f"(...).{method}()"
    return shown if method != "to" else shown[:-1] + '"cpu")'


def _loop_names(body: ast.AST) -> set[str]:
    """Returns the variables that run over losses: `for key, value in step_losses.items()`."""
    names: set[str] = set()
    for node in ast.walk(body):
        if not isinstance(node, (ast.For, ast.comprehension)) or not isinstance(node.iter, ast.Call):
            continue
        function = node.iter.func
        is_over_values = isinstance(function, ast.Attribute) and function.attr in ("items", "values")
        if is_over_values and _LOSS.search(last_name(function.value)):  # type: ignore[attr-defined]
            names |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    return names


def _name_of_value(node: ast.AST) -> str:
    """Returns the last name of a value: "loss" for `losses["loss"]` or `self.loss.detach()`."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_of_argument = _is_module(node.func.value) or node.func.attr in _GATHERS
            if is_of_argument and not node.args:
                return ""
            node = node.args[0] if is_of_argument else node.func.value
        elif isinstance(node, ast.Subscript):
            key = constant(node.slice)
            if isinstance(key, str):
                return key
            node = node.value
        else:
            return last_name(node)


def _is_module(node: ast.AST) -> bool:
    """Whether a node is a module such as torch, whose call makes a value of others."""
    return isinstance(node, ast.Name) and node.id in ("torch", "tf", "F")


class _HostNames:
    """The variables of a loop that are on the host already: batches that are not moved, and copies."""

    def __init__(self, source: Source, body: ast.AST) -> None:
        self.source = source
        self.on_host: dict[str, int] = {}  # from which line
        accelerates = any(one in source.text for one in ("accelerate", "lightning"))
        if isinstance(body, (ast.For, ast.AsyncFor)) and not accelerates:
            self._add(body.target, body.lineno)
        assignments = [one for one in ast.walk(body) if isinstance(one, ast.Assign)]
        for node in sorted(assignments, key=lambda one: one.lineno):
            if self._is_host_value(node.value):
                for target in node.targets:  # from the next line: `loss = loss.item()` waits itself
                    self._add(target, (node.end_lineno or node.lineno) + 1)
            else:
                for target in node.targets:
                    for one in ast.walk(target):
                        self.on_host.pop(last_name(one) if isinstance(one, ast.Name) else "", None)

    def has(self, node: ast.AST, line: int) -> bool:
        """Whether a value is on the host at a line, by its root and its names."""
        root = node
        while True:
            if isinstance(root, ast.Call):
                if isinstance(root.func, ast.Attribute) and root.func.attr in ("cpu", "numpy"):
                    return True  # the inner call waits, not this one
                if _is_module(root.func.value) if isinstance(root.func, ast.Attribute) else False:
                    return bool(root.args) and self.has(root.args[0], line)
                if not isinstance(root.func, ast.Attribute):
                    return False
                root = root.func.value
            elif isinstance(root, (ast.Attribute, ast.Subscript)):
                if isinstance(root, ast.Attribute) and _ON_HOST.search(root.attr):
                    return True
                root = root.value
            else:
                break
        if not isinstance(root, ast.Name):
            return True  # a literal, or a text
        name = self.source.name_of(root)
        return name.startswith("numpy") or bool(_ON_HOST.search(name)) or self.on_host.get(root.id, line + 1) <= line

    def _add(self, target: ast.AST, line: int) -> None:
        for one in ast.walk(target):
            if isinstance(one, ast.Name):
                self.on_host[one.id] = line

    def _is_host_value(self, value: ast.AST) -> bool:
        """A copy on the host, or a part of something on the host."""
        calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
        if any(last_name(one.func) in _MOVES for one in calls):
            return False
        if any(last_name(one.func) in _METHODS or self.source.name_of(one.func).startswith("numpy.") for one in calls):
            return True
        # Not a part of a sum: `loss / len(batch)` is where the loss is.
        if isinstance(value, ast.Call) and last_name(value.func) in ("len", "time", "next"):
            return True
        names = [one.id for one in ast.walk(value) if isinstance(one, ast.Name)]
        is_part = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.ListComp, ast.Tuple))
        return is_part and bool(names) and any(name in self.on_host for name in names)


def _is_seldom(source: Source, node: ast.AST, body: ast.AST) -> bool:
    """Whether the call depends on a condition that is met seldom, or on an error."""
    child = node
    for one in source.above(node):
        if one is body:
            return False
        if isinstance(one, (ast.If, ast.IfExp)) and child is not one.test and _is_seldom_test(one.test):
            return True
        if isinstance(one, (ast.ExceptHandler, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
            return True
        if isinstance(one, ast.With) and any("no_grad" in _text_of(item.context_expr) for item in one.items):
            return True
        if isinstance(one, (ast.For, ast.While)) and child is not getattr(one, "iter", None):
            loops_on_data = re.search(r"val|eval|test", _text_of(getattr(one, "iter", one)), re.IGNORECASE)
            if loops_on_data:
                return True
        child = one
    return False


def _is_seldom_test(test: ast.AST) -> bool:
    for one in ast.walk(test):
        if isinstance(one, ast.Mod):
            return True
        if isinstance(one, (ast.Name, ast.Attribute)) and _SELDOM.search(last_name(one)):
            return True
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and _SELDOM.search(one.value):
            return True
    is_equal = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)
    return is_equal and "rank" not in _text_of(test)


def _text_of(node: ast.AST) -> str:
    return " ".join(last_name(one) for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute)))
