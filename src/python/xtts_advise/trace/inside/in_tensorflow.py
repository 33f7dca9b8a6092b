"""Marks of TensorFlow: batches of a tf.data iterator and the stages before it, Python functions within
tf.data and graphs, calls of tf.functions, and the traces that these cause."""

import itertools
import sys
import time

from .in_profiler import Profile
from .in_torch import ready
from .marks import own_place

_STAGES = ("map", "interleave", "prefetch", "cache", "batch", "padded_batch")
_PLAIN = (bool, int, float, str, type(None))


def install(marks):
    """Replaces what is loaded by now. Returns True once there is nothing left to replace."""
    names = (
        "tensorflow.python.eager.context",
        "tensorflow.python.data.ops.iterator_ops",
        "tensorflow.python.data.ops.multi_device_iterator_ops",
        "tensorflow.python.data.ops.dataset_ops",
        "tensorflow.python.eager.polymorphic_function.polymorphic_function",
        "tensorflow.python.framework.func_graph",
        "tensorflow.python.ops.script_ops",
        "tensorflow.python.profiler.internal._pywrap_profiler",
    )
    modules = [ready(name) for name in names]
    if any(module is None for module in modules):
        return False
    context, iterators, several, data_sets, functions, graphs, scripts, profiler = modules
    facts = {"kind": "tf.data", "data": "tf.data"}
    marks.batches_of(iterators.OwnedIterator, lambda _: dict(facts))
    # Keras asks so where its step is not compiled, and the data sets of a strategy of several devices.
    for kind in (several.OwnedMultiDeviceIterator, iterators.OwnedIterator):
        marks.batches_of(kind, lambda _: dict(facts), "get_next", context.executing_eagerly)
        marks.batches_of(kind, lambda _: dict(facts), "get_next_as_optional", context.executing_eagerly, _has_value)
    _mark_stages(marks, data_sets.DatasetV2)
    profile = Profile(profiler, context, marks)
    _mark_calls(marks, functions.Function, profile)
    _mark_traces(marks, graphs, profile)
    _mark_python_functions(marks, scripts.FuncRegistry)
    return True


def _has_value(optional):
    """Of one device, or of a list."""
    return any(bool(one.has_value()) for one in (optional if isinstance(optional, list) else [optional]))


def _own_place(frame):
    place = own_place(frame)
    return {"file": place[0], "line": place[1]} if place else {}


def _mark_stages(marks, kind):
    for name in _STAGES:
        original = getattr(kind, name, None)
        if original is not None:
            setattr(kind, name, _marked_stage(marks, name, original))


def _marked_stage(marks, name, original):
    def stage(self, *arguments, **options):
        place = sys._getframe(1)
        marks.event("stage", lambda: {"name": name, "parallel": "num_parallel_calls" in options, **_own_place(place)})
        return original(self, *arguments, **options)

    return stage


def _mark_calls(marks, kind, profile):
    original = kind.__call__
    numbers = itertools.count()
    is_within = []

    def __call__(self, *arguments, **options):
        if is_within:
            return original(self, *arguments, **options)
        try:
            number = self.__dict__.get("_xtts_number")
            if number is None:
                number = self.__dict__["_xtts_number"] = next(numbers)
            marks.function = number
            loop = marks.loop(sys._getframe(1), {"kind": "tf.function", "data": "tf.function"}, is_fallback=True)
            loop.wait_ends(loop.wait_begins(), has_batch=True)
            takes_batch = any(type(argument).__name__.endswith("Iterator") for argument in arguments)
            if profile.has_gradients(number):
                loop.trains += 1
                if not takes_batch:
                    marks.trained()
            profile.step(loop, number, takes_batch)
        except Exception as error:
            marks.failed(error)
        is_within.append(True)
        try:
            return original(self, *arguments, **options)
        finally:
            is_within.pop()

    kind.__call__ = __call__


def _mark_traces(marks, graphs, profile):
    original = graphs.func_graph_from_py_func
    is_within = []

    def func_graph_from_py_func(name, python_func, args, kwargs, *others, **options):
        if is_within:  # bodies of loops and conditions, and functions that the first one calls
            graph = original(name, python_func, args, kwargs, *others, **options)
            profile.traced(marks.function, graph)
            return graph
        is_within.append(name)
        began = time.monotonic()
        try:
            graph = original(name, python_func, args, kwargs, *others, **options)
        finally:
            is_within.pop()
            place, ended = sys._getframe(1), time.monotonic()
            marks.event(
                "trace",
                lambda: {
                    "name": str(name),
                    "function": marks.function,
                    "at": began,
                    "seconds": ended - began,
                    "values": _values_of(args, kwargs),
                    **_own_place(place),
                },
            )
        profile.traced(marks.function, graph)
        return graph

    graphs.func_graph_from_py_func = func_graph_from_py_func


def _values_of(arguments, options):
    """Python values of a trace's arguments, and shapes of its tensors."""
    values, shapes = [], []
    for value in [*(arguments or ()), *(options or {}).values()]:
        if type(value) in _PLAIN:
            values.append(repr(value)[:40])
        elif hasattr(value, "shape"):
            shapes.append(str(value.shape))
    return {"plain": values, "shapes": shapes}


def _mark_python_functions(marks, kind):
    """Those of a data set and those of a step are two units."""
    insert, original = kind.insert, kind.__call__
    in_step = set()

    def marked_insert(self, function):
        token = insert(self, function)
        if not _is_in_data_set(sys._getframe(1)):
            in_step.add(token)
        return token

    def __call__(self, token, *arguments, **options):
        def call():
            return original(self, token, *arguments, **options)

        return function_of_step(marks, call) if token in in_step else marks.unit("tf.py_function").measured(call, 1)

    kind.insert = marked_insert
    kind.__call__ = __call__


def function_of_step(marks, call):
    return marks.unit("tf.py_function of a step").measured(call, 1)


def _is_in_data_set(frame):
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("tensorflow.python.data."):
            return True
        frame = frame.f_back
    return False
