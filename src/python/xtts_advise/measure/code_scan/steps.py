"""Training steps: which functions are steps, which loops run them, and whether TensorFlow compiles them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from . import words
from .files import Source
from .finds import find
from .project import Function, Project, class_of, last_name, loop_around

_DEPTH = 3
_GRADIENTS = {"apply_gradients", "gradient", "minimize"}
# Methods that a framework calls once a step.
_STEPS = {"train_step", "training_step", "optimize", "_train_step", "train_one_step"}


class Steps:
    """The training steps of a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.wrapped = _wrapped_names(project)
        self._callers_of: dict[str, list[Function]] = {}
        self._answers: dict[tuple[object, ...], bool] = {}  # what was asked before
        # Functions that run one step: a backward pass that is in no loop of its own.
        self.names: set[str] = set()
        for function in project.all_functions():
            places = backwards_in(function)
            if places and loop_around(function.source, places[-1]) is None and may_train(function):
                self.names.add(function.node.name)
        self.names |= {name for name in _STEPS if name in project.functions}

    def is_compiled(self, function: Function) -> bool:
        """Whether tf.function wraps a function, or a function that calls it.

        A file that does not import TensorFlow has no such function: a train() of PyTorch is another
        one than a train() that TensorFlow compiles.
        """
        return _has_tensorflow(function.source) and self._is_compiled(function, _DEPTH)

    def _is_compiled(self, function: Function, depth: int) -> bool:
        node, source = function.node, function.source
        if node.name in self.wrapped or any(_is_tf_function(source, one) for one in node.decorator_list):
            return True
        owner = class_of(function)
        # Keras compiles the train_step() of a model, and calls it from fit().
        if (
            node.name == "train_step"
            and owner is not None
            and {"Model", "Sequential"} & set(map(last_name, owner.bases))
        ):
            return True
        enclosing = source.function_of(node)
        if enclosing is not None and self._is_compiled(Function(source, enclosing), 0):
            return True
        return depth > 0 and self._of_callers(node.name, depth - 1, self._is_compiled)

    def _of_callers(self, name: str, depth: int, question: Callable[[Function, int], bool]) -> bool:
        """Asks a question about the callers of a name. The answer is kept: many functions may have one name."""
        key = (name, depth, question.__name__)
        if key not in self._answers:
            self._answers[key] = False  # for functions that call one another
            self._answers[key] = any(question(caller, depth) for caller in self._callers(name))
        return self._answers[key]

    def _callers(self, name: str) -> list[Function]:
        if name not in self._callers_of:
            sites = list(self.project.call_sites.get(name, []))
            for run in ("run", "experimental_run_v2", "call_for_each_replica"):
                for site in self.project.call_sites.get(run, []):
                    if any(last_name(one) == name for one in site.call.args):
                        sites.append(site)
            callers = {site.caller.node: site.caller for site in sites if site.caller is not None}
            self._callers_of[name] = list(callers.values())
        return self._callers_of[name]

    def is_in_a_loop(self, function: Function, depth: int = 2) -> bool:
        """Whether a function is called in a loop, directly or through a caller."""
        name, source = function.node.name, function.source
        is_method = class_of(function) is not None
        key = (name, "" if is_method else source.path, "in a loop")
        if key not in self._answers:
            self._answers[key] = any(
                loop_around(site.source, site.call) is not None
                for site in self.project.call_sites.get(name, [])
                if is_method or site.source is source or name in site.source.imports
            )
        return self._answers[key] or (depth > 0 and self._of_callers(name, depth - 1, self.is_in_a_loop))


def finds(project: Project, steps: Steps) -> Iterator[dict[str, Any]]:
    """Yields the steps of TensorFlow that run eagerly."""

    for function in project.all_functions():
        source, node = function.source, function.node
        calls = source.own_calls(node)
        tapes = [one for one in calls if _is_tape(source, one)]
        if not tapes or not may_train(function) or not any(last_name(one.func) in _GRADIENTS for one in calls):
            continue
        loops = loop_around(source, tapes[-1]) is not None or steps.is_in_a_loop(function)
        if loops and not steps.is_compiled(function):
            name = "This script" if node is source.script else f"{node.name}()"
            text = f"{name} trains with a GradientTape in a loop, and no tf.function wraps it."
            yield find(source, tapes[-1] if node is source.script else node, "step_not_compiled", text)


def may_train(function: Function) -> bool:
    """Whether neither the name of a function nor that of its class or file says something else."""
    owner = class_of(function)
    if owner is not None and "Function" in map(last_name, owner.bases):
        return False  # torch.autograd.Function: its backward() is a part of a step
    answer = words.trains(function.node.name, owner.name if owner is not None else "")
    if answer is None or words.file_trains(function.source.path) is False:
        return words.file_trains(function.source.path) is not False
    return answer


def backwards_in(function: Function) -> list[ast.Call]:
    """Returns the backward passes in a function, in order: `.backward()`, or a GradientTape."""
    source = function.source
    return [one for one in source.own_calls(function.node) if _is_backward(one) or _is_tape(source, one)]


def _has_tensorflow(source: Source) -> bool:
    return any(name.split(".")[0] in ("tensorflow", "keras") for name in source.imports.values())


def _is_backward(call: ast.Call) -> bool:
    return last_name(call.func) in ("backward", "manual_backward") and isinstance(call.func, ast.Attribute)


def _is_tape(source: Source, call: ast.Call) -> bool:
    return source.name_of(call.func) == "tensorflow.GradientTape"


def _is_tf_function(source: Source, decorator: ast.AST) -> bool:
    if isinstance(decorator, ast.Call):
        if last_name(decorator.func) == "partial" and decorator.args:
            return _is_tf_function(source, decorator.args[0])
        decorator = decorator.func
    name = source.name_of(decorator)
    return name == "tensorflow.function" or name.endswith("tf.function")


def _wrapped_names(project: Project) -> set[str]:
    """Returns the names of functions that are handed to tf.function somewhere."""
    names: set[str] = set()
    for source in project.sources:
        for call, name in source.calls:
            is_wrapper = _is_tf_function(source, call.func) if name or isinstance(call.func, ast.Call) else False
            if is_wrapper:
                names.update(last_name(one) for one in call.args)
                names.update(last_name(one.value) for one in call.keywords if one.arg == "func")
    return names - {""}
