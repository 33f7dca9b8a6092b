"""Exact counts of calls, in a few samples and steps: sys.setprofile for as long as one takes."""

import sys
import time

from .places import kind_of
from .stacks import name_of

_EVENT_S = 2e-6  # what a counted call costs, rounded up
_SHARE = 0.005  # of the process's time
_EDGES_MAX = 20000
_EXAMPLES_MAX = 16
_WORDS = (str, bytes, int, float, bool, type(None))


class Counts:
    """The calls of one kind of unit ("sample", "step"), as edges from a line to what it calls."""

    def __init__(self):
        self.units = 0
        self.edges = {}  # (caller's id and line, callee's id or name) -> Edge
        self._kinds = {}
        self._codes = {}  # id -> code object
        self._next = 0.0
        self._events = 0
        self._examples = 0
        self._seen = {}
        self._count = 0
        self.fault = None  # why calls were not counted

    def is_due(self):
        return time.monotonic() >= self._next and sys.getprofile() is None

    def begin(self):
        self._events = 0
        self._examples = 0
        self._seen = {}
        self._began = time.monotonic()
        sys.setprofile(self._note)

    def end(self, units=1):
        if sys.getprofile() == self._note:
            sys.setprofile(None)
        self.units += units
        for (key, words), often in self._seen.items():
            edge = self.edges[key]
            if often > edge.repeats:
                edge.repeats, edge.repeated = often, words
        now = time.monotonic()
        self._next = now + max(self._events * _EVENT_S / _SHARE, 0.2)

    def _note(self, frame, event, argument):
        try:
            self._count_call(frame, event, argument)
        except Exception as error:  # the trainer's objects may raise anything, and must not feel it
            sys.setprofile(None)
            self.fault = error

    def _count_call(self, frame, event, argument):
        if event == "call":
            caller = frame.f_back
            if caller is None:
                return
            callee = id(frame.f_code)
        elif event == "c_call":
            caller = frame
            callee = (
                id(argument)
                if type(argument).__name__ == "builtin_function_or_method"
                and (getattr(argument, "__self__", None) is None or type(argument.__self__).__name__ == "module")
                else c_name_of(argument)
            )
        else:
            return
        self._events += 1
        code = caller.f_code
        key = (id(code), caller.f_lasti, callee)
        edge = self.edges.get(key)
        if edge is None:
            if len(self.edges) >= _EDGES_MAX:
                return
            edge = self._new_edge(key, caller, frame if event == "call" else None, argument)
        edge.count += 1
        if edge.has_words and self._examples < 2000:
            self._examples += 1
            words = words_of(frame)
            edge.add(words)
            seen = (key, words)
            self._seen[seen] = self._seen.get(seen, 0) + 1

    def _new_edge(self, key, caller, called, argument):
        self._codes[id(caller.f_code)] = caller.f_code
        file = caller.f_code.co_filename
        edge = Edge(file, caller.f_lineno, caller.f_code.co_name)
        if called is not None:
            self._codes[id(called.f_code)] = called.f_code
            edge.module = called.f_globals.get("__name__") or ""
            edge.function = name_of(called)
            edge.has_words = kind_of(file) == "own"
        else:
            if key[2] == id(argument):  # of a module: no object of the trainer is kept alive
                self._codes[id(argument)] = argument
            edge.module, _, edge.function = c_name_of(argument).rpartition(".")
        self.edges[key] = edge
        return edge


class Edge:
    __slots__ = (
        "caller",
        "count",
        "examples",
        "file",
        "function",
        "has_words",
        "line",
        "module",
        "others",
        "repeated",
        "repeats",
    )

    def __init__(self, file, line, caller):
        self.file, self.line, self.caller = file, line, caller
        self.module = self.function = ""
        self.count = 0  # in all units
        self.has_words = False
        self.examples = {}  # words of the arguments -> how often
        self.others = 0  # calls with words beyond these
        self.repeats = 0  # the most calls with the same words in one unit
        self.repeated = ""  # these words

    def add(self, words):
        if words in self.examples:
            self.examples[words] += 1
        elif len(self.examples) < _EXAMPLES_MAX:
            self.examples[words] = 1
        else:
            self.others += 1


def c_name_of(function):
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "?")
    if not isinstance(module, str) or not module:  # an extension's function may have a module object there
        owner = getattr(function, "__self__", None)
        module = type(owner).__module__ if owner is not None else "builtins"
    return f"{module}.{name}"


def words_of(frame):
    """The arguments of a call that is about to run, as a short text. "~": not its value, but its kind."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = frame.f_locals
    words = []
    for name in names:
        if name in ("self", "cls") or name not in values:
            continue
        words.append(name + "=" + _word(values[name]))
    return ", ".join(words)[:300]


def _word(value):
    kind = type(value)
    if kind in _WORDS:
        return repr(value[:120] if kind in (str, bytes) else value)
    if kind.__module__ == "pathlib" or kind.__module__.startswith("pathlib."):
        return repr(str(value)[:120])
    if kind.__module__ in ("numpy", "torch"):
        try:
            return "~" + kind.__name__ + str(tuple(value.shape))
        except Exception:
            return "~" + kind.__name__
    if kind in (list, tuple, dict, set):
        return f"~{kind.__name__} of {len(value)}"
    return "~" + kind.__name__
