"""One setting: its environment variable, its call, and how to see what is in force."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .rows import Row


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the user asked for."""

    cores: int
    xla: bool
    mixed_precision: bool
    memory_limit: int | None
    """MB of each GPU's memory; None: no limit."""

    @property
    def inter_op(self) -> int:
        """Threads that run operations which do not depend on each other."""
        return self.cores

    @property
    def intra_op(self) -> int:
        """Threads within one operation: the other half is left to the data and the trainer."""
        return max(1, self.cores // 2)


class Unset(Exception):
    """A setting was not set. `status` is the row's, the text its reason."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Unknown(Exception):
    """The value that is in force cannot be seen; the text says why."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting of one framework."""

    name: str
    wanted: Any
    why: str
    source: str
    variable: str = ""
    """The environment variable that sets it, if there is one."""
    value: str = ""
    """The variable's value."""
    call: Callable[[], None] | None = None
    """Sets it. May raise Unset."""
    find: Callable[[], Any] | None = None
    """Returns what is in force. May raise Unknown. None: only the variable tells."""
    by_default: bool = False
    """Whether the wanted value is the framework's default."""

    @property
    def module(self) -> str:
        """The framework, as it is imported."""
        return self.name.split(".")[0]


# Variables that apply() has set before the framework was imported, with their values.
_in_time: dict[str, str] = {}


def set_variable(setting: Setting) -> None:
    """Puts the variable into the environment, for this process if it is in time, and its children."""
    if not setting.variable or (setting.by_default and setting.variable not in os.environ):
        return
    if not is_late(setting):
        _in_time[setting.variable] = setting.value
    os.environ[setting.variable] = setting.value


def is_late(setting: Setting) -> bool:
    """Returns whether the variable may have been read already."""
    if setting.module in sys.modules:
        return True
    # The OpenMP library reads its variables when it is loaded, and other packages load it, too.
    return setting.variable.startswith("OMP_") and "omp" in _mapped_libraries()


def in_force(variable: str) -> str | None:
    """Returns the variable's value if it was there in time for the framework, else None."""
    value = os.environ.get(variable)
    return value if value is not None and (_in_time.get(variable) == value or _was_at_start(variable)) else None


def applied(setting: Setting, was_late: bool, had: str | None) -> Row:
    """Sets a setting whose variable is in the environment already; returns the row about it.

    `had` is the variable's value before, `was_late` whether it may have been read by then.
    """
    was_so = had == setting.value or (had is None and setting.by_default)
    status, reason = "set", ""
    if setting.call is not None:
        if _found(setting)[0] == setting.wanted and (was_so or not setting.variable):
            status, reason = "already", "It was so before."
        else:
            try:
                setting.call()
            except Unset as unset:
                status, reason = unset.status, str(unset)
            except (RuntimeError, ValueError) as error:  # TensorFlow says so after its first operation
                status, reason = "too_late", f"{setting.module} refuses: {error}"
    elif was_so and (had is None or in_force(setting.variable) is not None):
        status, reason = "already", "It was so before."
    elif was_late:
        status = "too_late"
        reason = (
            f"{setting.variable} is read when {setting.module} is imported or OpenMP is loaded, and that has happened: "
            "call apply() before, or export the variable. Child processes have it."
        )
    return _row(setting, _found(setting)[0], status, reason)


def verified(setting: Setting) -> Row:
    """Returns the row about what is in force now."""
    found, unknown = _found(setting)
    if unknown:
        return _row(setting, found, "cannot_tell", unknown)
    if found == setting.wanted:
        return _row(setting, found, "pass", "")
    if setting.call is None:
        reason = f"xp.tune.apply() before the import of {setting.module} sets it, and so does {setting.variable}."
    else:
        also = f", and so does {setting.variable}" if setting.variable else ""
        reason = f"xp.tune.apply() at the program's begin sets it{also}."
    return _row(setting, found, "warn", reason)


def _found(setting: Setting) -> tuple[Any, str]:
    """Returns (what is in force, ""), or (what is known of it, why that is not certain)."""
    if setting.find is not None:
        try:
            return setting.find(), ""
        except Unknown as unknown:
            return None, str(unknown)
        except (RuntimeError, ValueError) as error:  # growth that differs between GPUs
            return None, f"{setting.module} does not say: {error}"
    found = os.environ.get(setting.variable)
    if found is None and setting.by_default:
        return setting.wanted, ""
    shown = setting.wanted if found == setting.value else found
    if found is None or in_force(setting.variable) is not None:
        return shown, ""
    reason = f"{setting.variable} was set after this process had begun: whether {setting.module} has read it "
    return shown, f"{reason}cannot be seen."


def _was_at_start(variable: str) -> bool:
    """Returns whether the process began with the variable's present value."""
    now = os.environ.get(variable)
    try:
        lines = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return now is not None and os.fsencode(f"{variable}={now}") in lines


def _mapped_libraries() -> str:
    """Returns the names of the libraries of threads that this process has loaded."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    names = {os.path.basename(line.split(maxsplit=5)[-1]) for line in lines if "/" in line}
    return " ".join(name for name in names if name.startswith(("libgomp", "libiomp", "libomp")))


def _row(setting: Setting, found: Any, status: str, reason: str) -> Row:
    return Row(setting.name, setting.wanted, found, status, f"{reason} {setting.why}".strip(), setting.source)


def with_flag(variable: str, flag: str, separator: str) -> str:
    """Returns the variable's present value with this flag in place of others of its name."""
    name = flag.split("=")[0].split(":")[0]
    kept = [
        one for one in os.environ.get(variable, "").split(separator) if one and one.split("=")[0].split(":")[0] != name
    ]
    return separator.join([*kept, flag])
