"""The parts of a PyTorch step that nobody has named, seen at PyTorch's own calls."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from .profiler import StepProfiler


class TorchParts:
    """Times backward passes and optimizers as phases, within `inside()`. Stays for the process's life."""

    def __init__(self, torch: Any, profiler: StepProfiler) -> None:
        hooks: Any = sys.modules["torch.optim.optimizer"]
        self._profiler = profiler
        self._is_inside = False
        self._optimizers: list[contextlib.AbstractContextManager[None]] = []
        backward = torch.autograd.backward  # what Tensor.backward() calls

        def timed_backward(*arguments: Any, **options: Any) -> Any:
            with self._phase("backward"):
                return backward(*arguments, **options)

        torch.autograd.backward = timed_backward
        hooks.register_optimizer_step_pre_hook(self._begin_optimizer)
        hooks.register_optimizer_step_post_hook(self._end_optimizer)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """The time within is "forward, loss", but for the parts that are seen."""
        self._is_inside = True
        try:
            with self._profiler.phase("forward, loss"):
                yield
        finally:
            self._is_inside = False

    def _phase(self, name: str) -> contextlib.AbstractContextManager[None]:
        return self._profiler.phase(name) if self._is_inside else contextlib.nullcontext()

    def _begin_optimizer(self, *_: object) -> None:
        self._optimizers.append(self._phase("optimizer"))
        self._optimizers[-1].__enter__()

    def _end_optimizer(self, *_: object) -> None:
        self._optimizers.pop().__exit__(None, None, None)


def torch_parts(profiler: StepProfiler) -> TorchParts | None:
    """Returns None where PyTorch is not in use, or is older than 2.0 and has no such hooks."""
    torch = sys.modules.get("torch")
    has_hooks = torch is not None and hasattr(
        sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_pre_hook"
    )
    return TorchParts(torch, profiler) if has_hooks else None
