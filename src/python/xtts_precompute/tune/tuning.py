"""The calls: apply(), verify() and environment()."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

from .._base.choices import one_of, switch, whole
from .._base.cores import usable_cores
from .._base.errors import MissingPackageError
from . import of_tensorflow, of_torch
from .rows import Report
from .settings import Plan, Setting, applied, is_late, set_variable, verified

FRAMEWORKS: dict[str, Any] = {"torch": of_torch, "tensorflow": of_tensorflow}
_MOST_MB = 2**24


def apply(
    framework: str = "auto",
    *,
    cores: int | None = None,
    xla: bool = True,
    mixed_precision: bool = True,
    memory_limit: int | None = None,
) -> Report:
    """Sets everything that can still be set in this process, and says what cannot.

        report = xp.tune.apply(framework="torch")  # before `import torch`
        print(report)

    Args:
        framework: "torch" or "tensorflow", which is imported. "auto": those that are imported
            already, else the first of the two that is installed.
        cores: The cores for this process. None: all that it may use by affinity and by its control
            group's quota. If several processes train on one machine, give each its share. Half of
            them run an operation, which suits steps on a GPU; for steps on the CPU alone you may
            set more threads afterwards.
        xla: TensorFlow compiles functions for GPUs. PyTorch has `torch.compile()` instead, which
            is the trainer's to call.
        mixed_precision: TensorFloat-32 and 16-bit floats. For TensorFlow it is Keras' policy; for
            PyTorch `torch.autocast` is the trainer's to use, and the report says so.
        memory_limit: MB of each GPU's memory. None: memory is taken as it is needed.

    Environment variables are replaced, and child processes have them; other flags of
    `TF_XLA_FLAGS` and `PYTORCH_CUDA_ALLOC_CONF` are kept. What is False is left as it is.
    """
    plan = plan_of(cores, xla, mixed_precision, memory_limit)
    rows = []
    for name in _in_this_process(framework):
        settings = FRAMEWORKS[name].settings(plan)
        before = [(is_late(setting), os.environ.get(setting.variable)) for setting in settings]
        for setting in settings:
            set_variable(setting)  # all of them before the import, which reads them
        of_torch.is_new = "torch" not in sys.modules
        FRAMEWORKS[name].load()
        rows += [applied(setting, *state) for setting, state in zip(settings, before)]
        of_torch.is_new = False
    return Report(rows)


def verify(
    framework: str = "auto",
    *,
    cores: int | None = None,
    xla: bool = True,
    mixed_precision: bool = True,
    memory_limit: int | None = None,
) -> Report:
    """Returns what is in force in this process now; nothing is set. The arguments are apply()'s.

    A setting passes, gives a warning, or cannot be seen from outside: `torch.autocast`, for
    example, can be seen within the step only. The framework is imported.
    """
    plan = plan_of(cores, xla, mixed_precision, memory_limit)
    rows = []
    for name in _in_this_process(framework):
        settings = FRAMEWORKS[name].settings(plan)
        FRAMEWORKS[name].load()
        rows += [verified(setting) for setting in settings]
    return Report(rows)


def environment(
    framework: str = "auto",
    *,
    cores: int | None = None,
    xla: bool = True,
    mixed_precision: bool = True,
    memory_limit: int | None = None,
) -> dict[str, str]:
    """Returns the environment variables by name. No framework is imported.

    The arguments are apply()'s; "auto" is all frameworks that are installed.
    """
    plan = plan_of(cores, xla, mixed_precision, memory_limit)
    return {setting.variable: setting.value for setting in exported(installed(framework), plan)}


def exported(names: tuple[str, ...], plan: Plan) -> list[Setting]:
    """Returns the settings that an environment variable can set."""
    return [one for name in names for one in FRAMEWORKS[name].settings(plan) if one.variable]


def plan_of(cores: int | None, xla: bool, mixed_precision: bool, memory_limit: int | None) -> Plan:
    """Returns the checked arguments."""
    return Plan(
        usable_cores() if cores is None else whole("cores", cores, 1, 65_536),
        switch("xla", xla),
        switch("mixed_precision", mixed_precision),
        None if memory_limit is None else whole("memory_limit", memory_limit, 1, _MOST_MB),
    )


def installed(framework: str) -> tuple[str, ...]:
    """Returns the framework, or for "auto" all that are installed. They are not imported."""
    if one_of("framework", framework, ("auto", *FRAMEWORKS)) != "auto":
        return (framework,)
    names = tuple(name for name in FRAMEWORKS if name in sys.modules or importlib.util.find_spec(name) is not None)
    if not names:
        raise MissingPackageError("xtts_precompute.tune needs a framework: pip install torch, or tensorflow")
    return names


def _in_this_process(framework: str) -> tuple[str, ...]:
    names = installed(framework)
    return tuple(name for name in names if name in sys.modules) or names[:1]
