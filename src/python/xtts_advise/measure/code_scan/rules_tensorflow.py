"""How a tf.data pipeline is made, and whether TensorFlow may compile."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from . import fallback, words
from .files import Source
from .finds import find
from .project import CallSite, Project, constant, last_name

_EAGER = {"run_functions_eagerly", "experimental_run_functions_eagerly"}
_MAPS = {"map", "interleave", "flat_map", "filter", "apply"}
_SIGNED = {"input_signature", "reduce_retracing", "experimental_relax_shapes"}
_NO_PIPELINES = {"Options", "AUTOTUNE", "TFRecordWriter", "service", "Iterator"}
# In a condition around a call, these words mean that somebody asked for slow, careful running.
_DEBUG = {"debug", "eager", "debugging"}


def finds(project: Project) -> Iterator[dict[str, Any]]:
    """Yields the finds of all files that use TensorFlow."""
    unsigned = {source.path for source in project.sources if _compiles_without_signature(source)}
    for source in project.sources:
        if not any(name.startswith("tensorflow") for name in source.imports.values()):
            continue
        yield from _python_calls(project, source)
        yield from _eager_calls(source)
        pipelines = Pipelines(source)
        for call, name in source.calls:
            project.check_time()
            is_generator = name.startswith("tensorflow.") and last_name(call.func) == "from_generator"
            if is_generator and _is_for_training(project, source, call):
                yield find(source, call, "from_generator", "A dataset is made from a Python generator.")
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("map", "padded_batch"):
                continue
            if pipelines.has(call.func.value) and _is_for_training(project, source, call):
                yield from _of_pipeline(project, source, call, call.func.attr, unsigned)
        yield from _not_prefetched(project, source, pipelines)


def _python_calls(project: Project, source: Source) -> Iterator[dict[str, Any]]:
    """Yields one find for each function that calls Python from a pipeline, at its first line."""
    by_function: dict[ast.AST | None, list[ast.Call]] = {}
    for call, name in source.calls:
        if (
            name.startswith("tensorflow.")
            and last_name(call.func) in fallback.PYTHON
            and _is_for_training(project, source, call)
        ):
            by_function.setdefault(source.function_of(call), []).append(call)
    for function, calls in by_function.items():
        calls.sort(key=lambda call: call.lineno)
        if not _is_in_pipeline(project, source, function, calls[0]):
            continue
        text = f"tf.{last_name(calls[0].func)} calls Python from a tf.data pipeline"
        if len(calls) > 1:
            text += f", {len(calls)} times in one function"
        flag = fallback.flag_around(source, function)
        if flag is None:
            yield find(source, calls[0], "python_in_pipeline", text + ".")
        else:
            text += f". It is the way taken where {flag.key} is off or TensorFlow's own way fails."
            yield find(source, calls[0], "python_in_pipeline", text, status="warn", certainty="low")


def _is_in_pipeline(project: Project, source: Source, function: ast.AST | None, call: ast.Call) -> bool:
    """Whether a pipeline runs it: it stands in a lambda of .map(), or in a function that is handed to one."""
    for one in source.above(call):
        if isinstance(one, ast.Call) and last_name(one.func) in _MAPS:
            return True
    names = {one.name for one in (function, *source.above(call)) if isinstance(one, ast.FunctionDef)}
    for _ in range(3):
        callers = set()
        for name in _MAPS:
            project.check_time()
            for site in project.call_sites.get(name, []):
                handed = {last_name(one) for argument in _arguments(site.call) for one in ast.walk(argument)}
                if handed & names:
                    return True
        for name in names:
            callers |= {site.caller.node.name for site in project.call_sites.get(name, []) if site.caller is not None}
        names = callers
    return False


def _arguments(call: ast.Call) -> list[ast.AST]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _eager_calls(source: Source) -> Iterator[dict[str, Any]]:
    for call, name in source.calls:
        if name.startswith("tensorflow.") and last_name(call.func) in _EAGER and _is_true(call):
            text = f"tf.config.{last_name(call.func)}(True) switches compiled functions off"
            asked = _condition_of_debugging(source, call)
            if words.file_trains(source.path) is False:
                continue
            if asked:
                text += f", where {asked} is on"
            yield find(source, call, "eager_mode", text + ".", **_less_sure(bool(asked)))


def _less_sure(is_conditional: bool) -> dict[str, str]:
    return {"status": "warn", "certainty": "low"} if is_conditional else {}


def _condition_of_debugging(source: Source, call: ast.Call) -> str:
    for one in source.above(call):
        if isinstance(one, ast.If):
            for name in ast.walk(one.test):
                if isinstance(name, (ast.Name, ast.Attribute)) and words.words_of(last_name(name)) & _DEBUG:
                    return last_name(name)
    return ""


def _of_pipeline(
    project: Project, source: Source, call: ast.Call, method: str, unsigned: set[str]
) -> Iterator[dict[str, Any]]:
    given = {keyword.arg for keyword in call.keywords}
    if None in given:  # **options may have all of these
        return
    if method == "map" and "num_parallel_calls" not in given and len(call.args) == 1 and not _is_cheap(call.args[0]):
        yield find(source, call, "map_in_sequence", ".map() is called without num_parallel_calls.")
    if method == "padded_batch" and unsigned & _users_of(project, source, call):
        shapes = [keyword.value for keyword in call.keywords if keyword.arg == "padded_shapes"] or call.args[1:2]
        if not shapes or any(isinstance(one, ast.Constant) and one.value is None for one in ast.walk(shapes[0])):
            text = "padded_batch() pads to the longest clip, and a tf.function has no input_signature."
            yield find(source, call, "varying_shapes", text)


def _users_of(project: Project, source: Source, call: ast.Call) -> set[str]:
    """Returns the files that use the pipeline: its own, and those that call the function which makes it."""
    function = source.function_of(call)
    sites = project.call_sites.get(function.name, []) if function is not None else []
    return {source.path, *(site.source.path for site in sites)}


def _is_cheap(function: ast.AST) -> bool:
    """A lambda that only picks or renames."""
    return isinstance(function, ast.Lambda) and not any(isinstance(one, ast.Call) for one in ast.walk(function.body))


def _not_prefetched(project: Project, source: Source, pipelines: Pipelines) -> Iterator[dict[str, Any]]:
    """Yields a pipeline that is batched in this file, and prefetched neither in it nor by a caller."""
    if ".prefetch" in source.text or "prefetch_to_device" in source.text:
        return
    for call, _ in source.calls:
        if not _is_batch(call, pipelines) or not _is_for_training(project, source, call):
            continue
        function = source.function_of(call)
        names = {function.name} if function is not None else set()
        owner = source.parents.get(function) if function is not None else None
        names |= {owner.name} if isinstance(owner, ast.ClassDef) else set()
        sites: list[CallSite] = [site for name in names for site in project.call_sites.get(name, [])]
        if not any(".prefetch" in site.source.text for site in sites):
            yield find(source, call, "no_prefetch", "A tf.data pipeline is batched and not prefetched.")
            return


def _is_batch(call: ast.Call, pipelines: Pipelines) -> bool:
    if not isinstance(call.func, ast.Attribute) or not pipelines.has(call.func.value):
        return False
    handed = [last_name(one.func) for one in call.args if isinstance(one, ast.Call)]
    name = handed[0] if call.func.attr == "apply" and handed else call.func.attr
    return name in ("batch", "padded_batch", "bucket_by_sequence_length")


def _is_for_training(project: Project, source: Source, call: ast.Call) -> bool:
    for one in source.above(call):
        if isinstance(one, ast.ClassDef) and words.serves_other_files(project.users_of(one) - {source.path}):
            return False
    function = source.function_of(call)
    answer = words.trains(*([function.name] if function is not None else []))
    return (words.file_trains(source.path) if answer is None else answer) is not False


def _is_true(call: ast.Call) -> bool:
    values = _arguments(call)
    return bool(values) and constant(values[0]) is True


def _compiles_without_signature(source: Source) -> bool:
    """Whether a training step is a tf.function that TensorFlow traces again for each new shape."""
    if words.file_trains(source.path) is False:
        return False
    for node in source.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and "step" in words.words_of(node.name):
            for one in node.decorator_list:
                call = one if isinstance(one, ast.Call) else None
                signed = {keyword.arg for keyword in call.keywords} & _SIGNED if call is not None else set()
                if source.name_of(call.func if call is not None else one) == "tensorflow.function" and not signed:
                    return True
    return False


class Pipelines:
    """The variables of a file that hold a tf.data pipeline, by function."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: dict[ast.AST | None, set[str]] = {}
        assignments = [node for node in source.nodes if isinstance(node, ast.Assign)]
        for _ in range(2):  # the second pass follows assignments from the first
            for node in assignments:
                if self.has(node.value):
                    scope = self.names.setdefault(source.function_of(node), set())
                    scope.update(name for name in map(source.name_of, node.targets) if name)

    def has(self, node: ast.AST) -> bool:
        """Whether an expression is a tf.data pipeline: a chain of calls that begins with one."""
        scope = self.source.function_of(node)
        while True:
            name = self.source.name_of(node)
            if name and any(name in self.names.get(one, set()) for one in (scope, None)):
                return True
            if isinstance(node, ast.Call):
                called = self.source.name_of(node.func)
                if called.startswith("tensorflow.data."):
                    return not set(called.split(".")[2:]) & _NO_PIPELINES
                if called.startswith("tensorflow.keras.") and called.endswith("_dataset_from_directory"):
                    return True
                node = node.func
            elif isinstance(node, ast.Attribute):
                node = node.value
            else:
                return False
