"""How a PyTorch DataLoader is made."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any, TypeVar

from . import options, words
from .files import Source
from .finds import find
from .project import Class, Function, Project, calls_in, constant, last_name, loop_around, own_nodes

_Named = TypeVar("_Named", Function, Class)

_LOADERS = {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}
_ARGUMENTS = "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory".split()
_ARGUMENTS_OF_TRAINER = {"transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"}


def finds(project: Project) -> Iterator[dict[str, Any]]:
    """Yields the finds of all DataLoaders that train."""
    compiles = any(_is_static_compile(call, name) for source in project.sources for call, name in source.calls)
    for source in project.sources:
        project.check_time()
        for call, name in source.calls:
            if name in _LOADERS:
                for place, node, given in _makers(project, source, call):
                    if is_for_training(place, node, given):
                        yield from _of_loader(project, place, node, given, compiles)
            if name in _ARGUMENTS_OF_TRAINER:
                yield from _of_trainer(source, call)


def _makers(
    project: Project, source: Source, call: ast.Call
) -> Iterator[tuple[Source, ast.Call, dict[str | None, ast.AST]]]:
    """Yields a loader's place and arguments; the callers' where a function hands its own `**options` on."""
    given = arguments_of(call)
    function = source.function_of(call)
    options = function.args.kwarg if function is not None else None
    if None not in given or function is None or options is None or source.name_of(given[None]) != options.arg:
        yield source, call, given
        return
    for site in project.call_sites.get(function.name, []):
        if site.source is source or function.name in site.source.imports:
            merged = dict(given)
            del merged[None]
            merged.update(zip(["dataset"], site.call.args))
            for keyword in site.call.keywords:
                merged[keyword.arg] = keyword.value
            yield site.source, site.call, merged


def is_loader(name: str) -> bool:
    """Whether a name is that of PyTorch's DataLoader."""
    return name in _LOADERS


def arguments_of(call: ast.Call) -> dict[str | None, ast.AST]:
    """Returns the arguments of a DataLoader by name; None: `**options`."""
    given: dict[str | None, ast.AST] = {keyword.arg: keyword.value for keyword in call.keywords}
    given.update(zip(_ARGUMENTS, call.args))
    return given


def is_for_training(source: Source, call: ast.Call, given: dict[str | None, ast.AST]) -> bool:
    """Whether a loader trains, by the names around it, and else by its order: a loader that trains shuffles."""
    names = [*_assigned_names(source, call), _expression_name(source, given.get("dataset"))]
    answer = words.trains(*names)
    if _is_trial(source, call) or (answer is None and _stands_in_evaluation(source, call)):
        return False
    function = source.function_of(call)
    if answer is None:
        answer = _loops_train(source, call, function or source.tree)
    if answer is None and function is not None:
        answer = words.trains(function.name)
    if answer is None:
        answer = words.file_trains(source.path)
    shuffle = given.get("shuffle")
    in_order = (shuffle is None or constant(shuffle) is False) and not given.keys() & {"sampler", "batch_sampler", None}
    return answer is True or (answer is None and not in_order)


def _assigned_names(source: Source, call: ast.Call) -> list[str]:
    parent = source.parents.get(call)
    if isinstance(parent, ast.Assign):
        return [_expression_name(source, target) for target in parent.targets]
    if isinstance(parent, ast.keyword):
        return [parent.arg or ""]
    return []


def _expression_name(source: Source, node: ast.AST | None) -> str:
    """Returns the words of an expression: "loaders train" for `loaders["train"]`."""
    if node is None:
        return ""
    found = []
    for one in ast.walk(node):
        if isinstance(one, (ast.Name, ast.Attribute)):
            found.append(last_name(one))
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            found.append(one.value)
    return " ".join(found)


def _is_trial(source: Source, call: ast.Call) -> bool:
    """Whether a data set's own file tries it below `if __name__ == "__main__":`, without training."""
    if source.function_of(call) is not None or "def __getitem__" not in source.text or ".backward(" in source.text:
        return False
    return any(
        isinstance(one, ast.If) and "__name__" in _expression_name(source, one.test) for one in source.above(call)
    )


def _stands_in_evaluation(source: Source, call: ast.Call) -> bool:
    """Whether it stands below `if is_eval:`, or in the else of `if not is_eval:`."""
    child: ast.AST = call
    for one in source.above(call):
        if isinstance(one, ast.If):
            test, is_other = one.test, child in one.orelse
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, is_other = test.operand, not is_other
            if not is_other and words.trains(_expression_name(source, test)) is False:
                return True
        child = one
    return False


def _loops_train(source: Source, call: ast.Call, scope: ast.AST) -> bool | None:
    """Whether a loop over this loader has a backward pass; None where no loop of the function tells."""
    parent = source.parents.get(call)
    if not isinstance(parent, ast.Assign):
        return None
    trains = _trained_in_loops(scope)
    answers = [trains[one.id] for one in parent.targets if isinstance(one, ast.Name) and one.id in trains]
    if any(answers):
        return True
    return False if answers and any(trains.values()) else None


@functools.lru_cache(maxsize=1)  # the loaders of one function come one after another
def _trained_in_loops(function: ast.AST) -> dict[str, bool]:
    """Returns the variables that loops run over, and whether one of these loops has a backward pass."""
    trains: dict[str, bool] = {}
    for loop in own_nodes(function):
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            is_training = any(isinstance(one, ast.Attribute) and one.attr == "backward" for one in ast.walk(loop))
            for one in ast.walk(loop.iter):
                if isinstance(one, ast.Name):
                    trains[one.id] = trains.get(one.id, False) or is_training
    return trains


def _of_loader(
    project: Project, source: Source, call: ast.Call, given: dict[str | None, ast.AST], compiles: bool
) -> Iterator[dict[str, Any]]:
    if None in given:  # **options may have all of these
        return
    workers = given.get("num_workers")
    if workers is None or constant(workers) == 0:
        how = "without num_workers" if workers is None else "with num_workers=0"
        yield find(source, call, "no_workers", f"A DataLoader is made {how}.")
    elif _default_of(project, source, workers) == 0:
        text = f"A DataLoader is made with num_workers={source.name_of(workers)}, which is 0 by default."
        yield find(source, call, "no_workers", text, certainty="medium")
    elif "persistent_workers" not in given or constant(given["persistent_workers"]) is False:
        if _is_made_in_each_epoch(source, call):
            text = "A DataLoader with workers is made in each epoch."
            remedy = "Make it once before the loop, with persistent_workers=True."
            yield find(source, call, "workers_restart", text, remedy=remedy)
        else:
            count = constant(workers)
            text = "A DataLoader has workers, but not persistent_workers=True."
            if not isinstance(count, int):  # a setting, which may also be 0
                text = "A DataLoader is made without persistent_workers=True. Its num_workers is a setting."
            yield find(source, call, "workers_restart", text)
    pinned = given.get("pin_memory")
    if project.uses_cuda and (pinned is None or constant(pinned) is False):
        yield find(source, call, "no_pinned_memory", "A DataLoader for a GPU is made without pin_memory=True.")
    if compiles and _pads_to_longest(project, source, given.get("collate_fn")):
        text = "Batches are padded to their longest clip, and torch.compile is used."
        yield find(source, call, "varying_shapes", text)


def _is_made_in_each_epoch(source: Source, call: ast.Call) -> bool:
    loop = loop_around(source, call)
    return isinstance(loop, ast.For) and any(
        word.startswith("epoch")
        for word in words.words_of(_expression_name(source, loop.target) + " " + _expression_name(source, loop.iter))
    )


def _default_of(project: Project, source: Source, node: ast.AST) -> object:
    """Returns the default of a parameter or a command's option; None where a caller gives it, or there is none."""
    if isinstance(node, ast.Attribute):
        return options.default_of(source, node)
    function = source.function_of(node)
    if function is None or not isinstance(node, ast.Name):
        return None
    for site in project.call_sites.get(function.name, []):
        if any(keyword.arg in (node.id, None) for keyword in site.call.keywords):
            return None
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = dict(zip((one.arg for one in reversed(positional)), reversed(given.defaults)))
    defaults.update((one.arg, value) for one, value in zip(given.kwonlyargs, given.kw_defaults) if value is not None)
    return constant(defaults.get(node.id))


def _of_trainer(source: Source, call: ast.Call) -> Iterator[dict[str, Any]]:
    """Hugging Face's Trainer makes the DataLoader by its TrainingArguments; their default is no workers."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given:
        return
    workers = given.get("dataloader_num_workers")
    if workers is None or constant(workers) == 0:
        how = "without dataloader_num_workers" if workers is None else "with dataloader_num_workers=0"
        text = f"{last_name(call.func)} is made {how}: the Trainer's DataLoader has no workers."
        remedy = (
            "Give dataloader_num_workers, or read a cache with xtts_precompute.torch.Loader, which needs no workers."
        )
        yield find(source, call, "no_workers", text, remedy=remedy)


def _is_static_compile(call: ast.Call, name: str) -> bool:
    """torch.compile() that may compile for each new shape."""
    return name == "torch.compile" and not any(keyword.arg == "dynamic" for keyword in call.keywords)


def _nearest(found: list[_Named], source: Source, name: str) -> list[_Named]:
    """Returns those of one name that a file means: its own, and else all if it imports the name."""
    own = [one for one in found if one.source is source]
    return own or (list(found) if name in source.imports else [])


def _pads_to_longest(project: Project, source: Source, collate: ast.AST | None) -> bool:
    if collate is None:
        return False
    name = last_name(collate.func if isinstance(collate, ast.Call) else collate)
    functions = _nearest(project.functions.get(name, []), source, name)
    for one in _nearest(project.classes.get(name, []), source, name):
        functions += project.methods_of(one.source, one.node, "__call__")
    return any(
        last_name(call.func) == "pad_sequence" or function.source.name_of(call.func) == "max"
        for function in functions
        for call in calls_in(function.node)
    )
