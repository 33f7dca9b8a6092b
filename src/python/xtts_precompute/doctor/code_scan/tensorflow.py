"""How a tf.data pipeline is made, and whether TensorFlow may compile."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, Optional, Set

from .files import Source
from .finds import find
from .project import Project

_PYTHON = {"numpy_function", "py_function", "py_func"}
_EAGER = {"run_functions_eagerly", "experimental_run_functions_eagerly"}


def finds(project: Project) -> Iterator[Dict[str, Any]]:
    """Yields the finds of all files that use TensorFlow."""
    compiles = any(_is_compiled(source) for source in project.sources)
    for source in project.sources:
        if "tensorflow" not in source.text:
            continue
        datasets = _dataset_names(source)
        for call, name in source.calls():
            yield from _of_call(source, call, name, datasets, compiles)
        yield from _of_file(source)


def _of_call(
    source: Source, call: ast.Call, name: str, datasets: Dict[Optional[ast.AST], Set[str]], compiles: bool
) -> Iterator[Dict[str, Any]]:
    last = name.rsplit(".", 1)[-1]
    if name.startswith("tensorflow.") and last in _PYTHON:
        yield find(source, call, "python_in_pipeline", f"tf.{last} calls Python from the graph.")
    if name.startswith("tensorflow.") and last == "from_generator":
        yield find(source, call, "from_generator", "A dataset is made from a Python generator.")
    if name.startswith("tensorflow.") and last in _EAGER and _is_true(call):
        yield find(source, call, "eager_mode", f"tf.config.{last}(True) switches compiled functions off.")
    if not isinstance(call.func, ast.Attribute) or not _is_dataset(source, call.func.value, datasets):
        return
    given = {keyword.arg for keyword in call.keywords}
    if call.func.attr == "map" and "num_parallel_calls" not in given and len(call.args) < 2 and None not in given:
        yield find(source, call, "map_in_sequence", ".map() is called without num_parallel_calls.")
    if call.func.attr == "padded_batch" and compiles and "padded_shapes" not in given and len(call.args) < 2:
        yield find(
            source, call, "varying_shapes", "padded_batch() pads to the longest clip, and the step is compiled."
        )


def _of_file(source: Source) -> Iterator[Dict[str, Any]]:
    """A pipeline that is batched in this file, and prefetched nowhere in it."""
    if ".prefetch(" in source.text:
        return
    datasets = _dataset_names(source)
    for call, _ in source.calls():
        is_batch = isinstance(call.func, ast.Attribute) and call.func.attr in ("batch", "padded_batch")
        if is_batch and _is_dataset(source, call.func.value, datasets):
            yield find(source, call, "no_prefetch", "A tf.data pipeline is batched and not prefetched.")
            return


def _is_true(call: ast.Call) -> bool:
    values = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
    return bool(values) and isinstance(values[0], ast.Constant) and values[0].value is True


def _is_compiled(source: Source) -> bool:
    """A tf.function without a signature: it traces again for each new shape."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if any(source.name_of(one) == "tensorflow.function" for one in node.decorator_list):
                return True
    return False


def _dataset_names(source: Source) -> Dict[Optional[ast.AST], Set[str]]:
    """Returns, for each function, the variables that hold a tf.data pipeline."""
    names: Dict[Optional[ast.AST], Set[str]] = {}
    for _ in range(2):  # the second pass follows assignments from the first
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assign) and _is_dataset(source, node.value, names):
                scope = names.setdefault(source.function_of(node), set())
                scope.update(source.name_of(target) for target in node.targets)
    return names


def _is_dataset(source: Source, node: ast.AST, names: Dict[Optional[ast.AST], Set[str]]) -> bool:
    """Whether an expression is a tf.data pipeline: a chain of calls that begins with one."""
    scope = source.function_of(node)
    for _ in range(64):
        if isinstance(node, ast.Call):
            called = source.name_of(node.func)
            if called.startswith("tensorflow.data.") and called.rsplit(".", 1)[-1] not in ("Options", "AUTOTUNE"):
                return True
            node = node.func
        elif isinstance(node, ast.Attribute):
            node = node.value
        else:
            break
    return isinstance(node, ast.Name) and node.id in names.get(scope, set())
