"""The user's own loader and step for `xtts-precompute profile`: --loader and --step MODULE:NAME."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .._base.errors import InvalidArgumentError
from .profiler import StepProfiler
from .torch_parts import torch_parts

# The exceptions that may end the user's code. A sys.exit() of its own must not look like a success of ours.
_FAILURES = (Exception, SystemExit)


def load(option: str, place: str) -> Any:
    """Returns what MODULE:NAME names; a module in the current folder is found, too."""
    module_name, _, name = place.partition(":")
    example = {"--loader": "train:make_loader", "--step": "train:step"}[option]
    if not module_name or not name:
        raise InvalidArgumentError(f"{option} {place}: write MODULE:NAME, as in {example}")
    if "/" in module_name or module_name.endswith(".py") or module_name.startswith("."):
        raise InvalidArgumentError(
            f"{option} {place}: name the module as Python imports it, as in {example} for train.py, and start the "
            "command in its folder"
        )
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            raise InvalidArgumentError(
                f"{option} {place}: there is no module '{error.name}'; start the command in the folder that holds it"
            ) from error
        _fail(option, place, error)
    except _FAILURES as error:
        _fail(option, place, error)
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidArgumentError(f"{option} {place}: there is no '{part}' in {module_name}")
        found = getattr(found, part)
    return found


def taken_from(place: str, make: Callable[[], Any]) -> Iterator[Any]:
    """The batches of a loader that is made now. A failure of the user's code is told as one."""
    try:
        yield from make()
    except _FAILURES as error:
        _fail("--loader", place, error)


class OwnLoader:
    """The user's batches: of an iterable, or of what a function without arguments returns.

    `begins_anew` is False for an iterator that is there only once, such as a generator.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        found = load("--loader", place)
        self._make: Callable[[], Any] | None = found if callable(found) else None
        self._batches = found if self._make is None else self._made()
        if not hasattr(self._batches, "__iter__"):
            raise InvalidArgumentError(
                f"--loader {place} gives no batches, but an object of type {type(self._batches).__name__}: return a "
                "DataLoader, a tf.data.Dataset or another iterable"
            )
        is_iterator = hasattr(self._batches, "__next__")
        self.begins_anew = not is_iterator or self._make is not None
        self._is_used_up = False

    def __iter__(self) -> Iterator[Any]:
        if self._is_used_up and self.begins_anew and self._make is not None and hasattr(self._batches, "__next__"):
            self._batches = self._made()
        self._is_used_up = True
        try:
            for batch in self._batches:
                if batch is None:
                    break
                yield batch
            else:
                return
        except _FAILURES as error:
            _fail("--loader", self._place, error)
        raise InvalidArgumentError(f"--loader {self._place} gives None instead of a batch")

    def close(self) -> None:
        """Lets the loader go, and its workers with it."""
        self._batches = ()

    def _made(self) -> Any:
        assert self._make is not None
        try:
            return self._make()
        except _FAILURES as error:
            _fail("--loader", self._place, error)


def own_step(place: str, profiler: StepProfiler) -> Callable[[Any], object]:
    """Returns the user's step(batch).

    A step that takes `profiler` names its phases itself. Otherwise a step of PyTorch is "forward,
    loss", "backward" and "optimizer", and any other one is "train".
    """
    step = load("--step", place)
    if not callable(step) or inspect.iscoroutinefunction(step):
        kind = "a coroutine" if callable(step) else f"an object of type {type(step).__name__}"
        raise InvalidArgumentError(f"--step {place} is {kind}: name a function that takes a batch")
    names_phases = _takes_profiler(step)
    if names_phases:
        step = functools.partial(step, profiler=_Phases(profiler))
    parts = None if names_phases else torch_parts(profiler)

    def timed(batch: Any) -> None:
        try:
            if names_phases:
                step(batch)
            elif parts is None:
                with profiler.phase("train"):
                    step(batch)
            else:
                with parts.inside():
                    step(batch)
        except _FAILURES as error:
            _fail("--step", place, error)

    return timed


class _Phases:
    """What a step gets as `profiler`: its phases alone. The wait for a batch is none of them."""

    def __init__(self, profiler: StepProfiler) -> None:
        self._profiler = profiler

    def phase(self, name: str) -> Any:
        """Returns a context: `with profiler.phase("forward"):` counts the time within as "forward"."""
        if name == "data":
            raise InvalidArgumentError("a phase cannot be called 'data': the wait for a batch has this name")
        return self._profiler.phase(name)


def _takes_profiler(step: Callable[..., object]) -> bool:
    try:
        return "profiler" in inspect.signature(step).parameters
    except (TypeError, ValueError):  # compiled functions do not tell
        return False


def _fail(option: str, place: str, error: BaseException) -> NoReturn:
    if isinstance(error, SystemExit):
        raise InvalidArgumentError(f"{option} {place} called sys.exit({error.code})") from error
    traceback.print_exception(error, file=sys.stderr)
    lines = str(error).strip().splitlines() or [""]
    # A worker's message has a traceback of its own, whose last line tells. Others begin with what tells.
    said = lines[-1] if "Traceback" in str(error) else f"{type(error).__name__}: {lines[0]}"
    raise InvalidArgumentError(f"{option} {place} failed: {said}") from error
