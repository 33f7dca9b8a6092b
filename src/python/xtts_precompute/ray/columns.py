"""Further columns by the user's function: an actor for each GPU, which gets part after part."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NamedTuple

from .._base.errors import BusyError
from .._cache.add_column import add_column
from .._cache.cache import Cache
from .attempt import BUSY, Outcome
from .cluster import LOST, Calls
from .folder import Folder


class Column(NamedTuple):
    """A column that all parts get: the arguments of Cache.add_column()."""

    name: str
    module: str
    """It holds the function, and every node can import it."""
    function: str
    axis: str
    batch: int | None
    version: str
    max_length: int | None
    like: str | None = None
    """A part that has the column, for parts without clips."""


class ColumnMaker:
    """The actor. The function stays loaded, so a model is loaded once for all parts."""

    def __init__(self, out: str, column: Column, paths: list[str]) -> None:
        self._out, self._column = out, column
        sys.path += [path for path in paths if path not in sys.path]
        self._function = getattr(importlib.import_module(column.module), column.function)

    def add(self, part: int, attempt: int, token: str) -> Outcome:
        """Adds the column to a published part, or goes on with what a lost actor has left."""
        folder, column = Folder(self._out), self._column
        with folder.claim(part, attempt, token) as log:
            if log is None:
                return Outcome(BUSY, "another attempt is at work there")

            def tell(figures: Any) -> None:
                print(f"0%, {figures.done}/{figures.total}", file=log, flush=True)

            try:
                add_column(
                    Cache([str(folder.part(part))]),
                    column.name,
                    self._function,
                    like=Cache([column.like]).columns[column.name] if column.like else None,
                    axis=column.axis,
                    batch=column.batch,
                    version=column.version,
                    max_length=column.max_length,
                    workers=0,
                    allow_nonfinite=False,
                    from_npy=None,
                    data=None,
                    progress=tell,
                )
            except BusyError as error:
                return Outcome(BUSY, str(error))
        return Outcome(0)


class Columns(Calls):
    """Attempts at columns. Each actor has one at a time; one that died is replaced by the next start."""

    def __init__(self, ray: Any, out: str, column: Column, gpus: float) -> None:
        super().__init__(ray, {"CPU": 1, "GPU": gpus})
        self._actor = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0, max_task_retries=0)(ColumnMaker)
        self._given = (out, column, [os.getcwd()])
        self._idle: list[Any] = []
        self._of: dict[Any, Any] = {}

    def room(self) -> int:
        # An actor that waits for a node would wait for ever beside idle ones.
        return self.slot_count() - len(self._refs)

    def start(self, part: int, attempt: int, token: str) -> Any:
        actor = self._idle.pop() if self._idle else self._actor.remote(*self._given)
        ref = actor.add.remote(part, attempt, token)
        self._refs.add(ref)
        self._of[ref] = actor
        return ref

    def ended(self, timeout_s: float) -> Any:
        found = super().ended(timeout_s)
        for ref, outcome in found:
            actor = self._of.pop(ref)
            # Where nodes are gone, an actor that waits for one needs this one's place.
            if outcome.code != LOST and len(self._of) + len(self._idle) < self.slot_count():
                self._idle.append(actor)
        return found
