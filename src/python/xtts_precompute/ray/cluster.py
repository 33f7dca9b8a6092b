"""The cluster: the only file that knows Ray. Nothing but numbers and messages goes through it."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .._base.errors import Error, exit_code
from .._base.frameworks import framework
from .attempt import Outcome, build_part, collect_local

_COLLECT_S = 60.0
LOST = -9  # the code of an attempt whose worker or node has died


@contextlib.contextmanager
def connect(address: str | None) -> Iterator[Any]:
    """Yields the module `ray`, connected to the cluster."""
    ray = framework("ray", "'xtts-precompute[ray]'")
    ray.init(address=address, log_to_driver=False, logging_level="warning")
    try:
        yield ray
    finally:
        ray.shutdown()


class Calls:
    """Calls that run in the cluster, by their references."""

    def __init__(self, ray: Any, needs: dict[str, float]) -> None:
        self._ray, self._needs = ray, needs
        self._refs: set[Any] = set()

    def slot_count(self) -> int:
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        return sum(
            int(min(node.get(name, 0.0) / amount for name, amount in self._needs.items() if amount)) for node in nodes
        )

    def room(self) -> int:
        # Some attempts wait in the cluster, so that no node is idle, and an autoscaler sees them.
        return 2 * self.slot_count() + 1 - len(self._refs)

    def ended(self, timeout_s: float) -> Sequence[tuple[Any, Outcome]]:
        if not self._refs:
            time.sleep(timeout_s)
            return []
        ready, _ = self._ray.wait(list(self._refs), timeout=timeout_s)
        self._refs.difference_update(ready)
        return [(ref, self._outcome(ref)) for ref in ready]

    def cancel(self, known_by: Any) -> None:
        self._ray.cancel(known_by)

    def _outcome(self, ref: Any) -> Outcome:
        try:
            return Outcome(*self._ray.get(ref))
        except self._ray.exceptions.RayTaskError as error:
            code = exit_code(error.cause)
            kind = "" if isinstance(error.cause, Error) else f"{type(error.cause).__name__}: "
            return Outcome(1 if code is None else code, f"{kind}{error.cause}")
        except self._ray.exceptions.RayError as error:
            return Outcome(LOST, str(error).split("\n", 1)[0])


class Builds(Calls):
    """Attempts at parts: a task each, which needs some processors, and perhaps a GPU."""

    def __init__(
        self,
        ray: Any,
        out: str,
        cpus: int,
        gpus: float,
        memory: str | None,
        limits: Sequence[str],
        local: str | None,
    ) -> None:
        super().__init__(ray, {"CPU": cpus, "GPU": gpus})
        self._task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(build_part)
        self._of_all = (out, cpus, memory, limits, local)

    def start(self, part: int, attempt: int, token: str) -> Any:
        out, *others = self._of_all
        ref = self._task.remote(out, part, attempt, token, *others)
        self._refs.add(ref)
        return ref

    def collect_local(self) -> None:
        """Removes what lost attempts have left on the nodes' own disks."""
        out, *_, local = self._of_all
        if local is None:
            return
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        task = self._ray.remote(num_cpus=0, max_retries=0)(collect_local)
        refs = []
        for node in self._ray.nodes():
            if node["Alive"]:
                there = strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                refs.append(task.options(scheduling_strategy=there).remote(out, local))
        self._ray.wait(refs, num_returns=len(refs), timeout=_COLLECT_S)
