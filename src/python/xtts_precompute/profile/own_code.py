"""The user's own loader and step for `xtts-precompute profile`: --loader and --step MODULE:FUNCTION."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .._base.errors import InvalidArgumentError
from .profiler import StepProfiler
from .torch_parts import torch_parts


def load(option: str, place: str) -> Any:
    """Returns what MODULE:FUNCTION names; a module in the current folder is found, too."""
    module_name, _, name = place.partition(":")
    if not module_name or not name:
        raise InvalidArgumentError(f"{option} {place}: write MODULE:FUNCTION, as in my_trainer:make_loader")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            raise InvalidArgumentError(
                f"{option} {place}: there is no module '{error.name}'; start the command in the folder that holds it"
            ) from error
        _fail(option, place, error)
    except Exception as error:
        _fail(option, place, error)
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidArgumentError(f"{option} {place}: there is no '{part}' in {found.__name__}")
        found = getattr(found, part)
    return found


class OwnLoader:
    """The user's batches: of an iterable, or of what a function without arguments returns."""

    def __init__(self, place: str) -> None:
        self._place = place
        found = load("--loader", place)
        if callable(found):
            try:
                found = found()
            except Exception as error:
                _fail("--loader", place, error)
        if not hasattr(found, "__iter__"):
            raise InvalidArgumentError(
                f"--loader {place} gives a {type(found).__name__}, and no batches can be taken from it: "
                "return a DataLoader, a tf.data.Dataset or another iterable"
            )
        self._batches = found

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._batches
        except Exception as error:
            _fail("--loader", self._place, error)

    def close(self) -> None:
        """Lets the loader go, and its workers with it."""
        self._batches = ()


def own_step(place: str, profiler: StepProfiler) -> Callable[[Any], object]:
    """Returns the user's step(batch).

    A step that takes `profiler` names its phases itself. Otherwise a step of PyTorch is "forward,
    loss", "backward" and "optimizer", and any other one is "train".
    """
    step = load("--step", place)
    if not callable(step):
        raise InvalidArgumentError(f"--step {place} is a {type(step).__name__}: name a function that takes a batch")
    names_phases = _takes_profiler(step)
    parts = None if names_phases else torch_parts(profiler)

    def timed(batch: Any) -> None:
        try:
            if names_phases:
                step(batch, profiler=profiler)
            elif parts is None:
                with profiler.phase("train"):
                    step(batch)
            else:
                with parts.inside():
                    step(batch)
        except InvalidArgumentError:
            raise
        except Exception as error:
            _fail("--step", place, error)

    return timed


def _takes_profiler(step: Callable[..., object]) -> bool:
    try:
        return "profiler" in inspect.signature(step).parameters
    except (TypeError, ValueError):  # compiled functions do not tell
        return False


def _fail(option: str, place: str, error: Exception) -> NoReturn:
    traceback.print_exception(error, file=sys.stderr)
    raise InvalidArgumentError(f"{option} {place} failed: {type(error).__name__}: {error}") from error
