"""A digest of what decides the results of a Python function: its code and the values that it uses."""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
import types
from typing import Any

import numpy as np


class UnknownError(Exception):
    """The identity of a value cannot be told."""


class Identity:
    """Feeds a digest with what decides the results of a function."""

    def __init__(self, digest: Any) -> None:
        self._digest = digest
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # keeps the values, so that no id() comes twice

    def _put(self, *parts: object) -> None:
        self._digest.update("\0".join(map(str, parts)).encode("utf-8", "surrogatepass") + b"\1")

    def add(self, value: Any) -> None:
        if id(value) in self._seen:
            return self._put("seen", self._seen[id(value)])
        # Not noted as seen: the compiler decides which equal constants are one object.
        if isinstance(value, (tuple, frozenset)):
            return self._add_all(type(value).__name__, value if isinstance(value, tuple) else sorted(value, key=repr))
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) or value is ...:
            return self._put(type(value).__name__, repr(value))
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        if isinstance(value, (list, set)):
            return self._add_all(type(value).__name__, value if isinstance(value, list) else sorted(value, key=repr))
        if type(value) is dict or isinstance(value, types.MappingProxyType):
            return self._add_all("dict", [one for pair in value.items() for one in pair])
        if isinstance(value, np.ndarray) and value.dtype != object:
            return self._put(
                "array", value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            )
        if isinstance(value, functools.partial):
            return self._add_all("partial", [value.func, value.args, value.keywords])
        if type(value).__module__ == "re" and hasattr(value, "pattern"):
            return self._put("pattern", value.pattern, value.flags)
        self._add_named(value)

    def _add_all(self, kind: str, values: Any) -> None:
        self._put(kind, len(values))
        for one in values:
            self.add(one)

    def _add_named(self, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(value, types.ModuleType):
            self._add_module(value.__name__)
        elif isinstance(value, (type, types.BuiltinFunctionType)) and value.__module__ in (
            "builtins",
            *sys.stdlib_module_names,
        ):
            if isinstance(getattr(value, "__self__", None), (types.ModuleType, type(None))) or isinstance(value, type):
                return self._put("built in", value.__module__, value.__qualname__)
            raise UnknownError(f"the method {value.__qualname__}")
        else:
            raise UnknownError(f"{getattr(value, '__qualname__', repr(value))} ({type(value).__name__})")

    def _add_module(self, name: str) -> None:
        top = name.split(".")[0]
        version = getattr(sys.modules.get(top), "__version__", None)
        if version is None and top not in sys.stdlib_module_names:
            raise UnknownError(f"the module {name}")
        self._put("module", name, version)

    def _add_function(self, function: types.FunctionType) -> None:
        self._add_code(function.__code__)
        self.add(function.__defaults__)
        self.add(dict(sorted((function.__kwdefaults__ or {}).items())))
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # an empty cell, as for a function that is not defined yet
                self._put("empty")
        for name in sorted(_names(function.__code__)):
            if name in function.__globals__:
                self._put("global", name)
                self.add(function.__globals__[name])

    def _add_code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, code.co_flags)
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME":
                self._add_module(step.argval)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._add_code(constant)
            else:
                self.add(constant)


def _names(code: types.CodeType) -> set[str]:
    """Returns the global names and attributes of the code, including those of inner functions."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*inner)
