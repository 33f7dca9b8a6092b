"""Six improvements of a tf.data.Dataset that a user has written, each with a switch of its own."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from .._base.choices import no_others
from .._base.cores import usable_cores
from .._base.errors import InvalidArgumentError
from .._base.frameworks import framework

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")

_ON_DEVICE = 2  # elements ready ahead: one is trained on, one is on its way
_INTERLEAVE_ARGUMENTS = ("map_func", "cycle_length", "block_length", "num_parallel_calls", "deterministic")


def optimize(
    dataset: Any,
    *,
    interleave: Callable[..., Any] | Mapping[str, Any] | None = None,
    prefetch_to_device: str | bool | None = None,
    static_shapes: Any = True,
    options: Any = True,
    cache: str | os.PathLike[str] | bool | None = None,
    vectorized_map: Callable[..., Any] | None = None,
    tell: Callable[[str], object] = lambda line: None,
) -> Any:
    """Returns the data set with the improvements that are switched on.

        files = tf.data.Dataset.from_tensor_slices(names)
        dataset = xp.tensorflow.optimize(files, interleave=tf.data.TFRecordDataset)
        dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE).repeat().batch(32)
        dataset = xp.tensorflow.optimize(dataset, vectorized_map=scale, prefetch_to_device=True)

    Elements and their order stay the same unless an argument below says otherwise. Elements may be
    tensors, tuples or dicts. The data set may be infinite, except with `cache`.

    `xp.tensorflow.dataset()` needs none of this: its batches are whole, static and filled ahead.

    Args:
        dataset: A `tf.data.Dataset`. The improvements are applied in this order: interleave, cache,
            vectorized_map, static_shapes, options, prefetch_to_device.
        interleave: A function that makes a data set of each element, as of a file's name. Several
            of them are opened and read ahead at once. Their elements come one data set after the
            other, as `flat_map` gives them. A dict has more of `Dataset.interleave()`'s arguments,
            as in `{"map_func": read, "cycle_length": 8}`. A cycle_length above 1 **changes the
            order**: so many data sets take turns. `deterministic=False` gives up any order.
        prefetch_to_device: "/GPU:0": the next 2 elements are copied there ahead. True: to the
            first GPU, or, without one, kept ready in the CPU's memory. It must come last, so the
            result must not be changed further, nor be given to a distribution strategy.
        static_shapes: True: the number of rows is made static where it is known to be the same for
            all elements: the data set ends in `batch()` or `padded_batch()`, and what is batched
            is infinite or fills the last batch. What follows may be cache, filter, prefetch,
            repeat, shuffle, skip, take, but no map. Shapes, in the structure of an element, as in
            `{"mel": (32, 800, 80)}`: these, too. None leaves a dimension or a tensor as it is, and
            names may be left out. An element of another shape is an error then. False: no shape is
            changed.
        options: True: TensorFlow's options that speed up a data set and keep its elements, as far
            as the data set has no value of its own: a thread pool with a thread for each core that
            this process may use (`private_threadpool_size`), no threads within an operation
            (`max_intra_op_parallelism`), filters in parallel and filters as one. What TensorFlow
            does by itself is not set. A `tf.data.Options`: this one; with its
            `deterministic = False` **the order may change**. False: none.
        cache: True: the first pass is kept in memory; a text: in files of this name. Later passes
            read it. They repeat it, so what is **random before it is drawn once**: a shuffle, an
            augmentation. TensorFlow does not see that a file is old: remove it if the data has
            changed. A pass that is broken off is not kept, and a later one begins anew; but a
            process that is killed leaves NAME_0.lockfile, and TensorFlow asks you to remove it.
        vectorized_map: A function of one row (of the tensors, for a tuple of several), which is
            applied to all rows of a batch at once by `tf.vectorized_map`. The result is what
            `unbatch().map(function).batch()` gives. Floats **may differ in their last bits**, and a
            random function draws other numbers.
        tell: Called with a line for each improvement that is on: what it did, or why it did
            nothing. `tell=print` shows them.

    Raises:
        InvalidArgumentError: An argument is wrong or does not fit the data set.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise InvalidArgumentError(f"dataset must be a tf.data.Dataset, not {type(dataset).__name__}")
    rows = _rows_of_all(dataset) if static_shapes is True and interleave is None else None
    if interleave is not None:
        dataset = dataset.interleave(**_interleave_arguments(interleave))
        tell("interleave: the data sets of several elements are opened and read ahead")
    if cache is not None and cache is not False:
        place = _place(cache, dataset)
        dataset = dataset.cache(*place)
        tell(f"cache: the first pass is kept in {', '.join(place) or 'memory'}")
    if rows is not None:
        dataset = _with_shapes(dataset, [_with_rows(spec, rows) for spec in tf.nest.flatten(dataset.element_spec)])
        tell(f"static_shapes: every element has {rows} rows")
    elif static_shapes is True:
        tell("static_shapes: nothing, because it is not known how many rows every element has")
    if vectorized_map is not None:
        dataset = _vectorized(dataset, vectorized_map)
        tell("vectorized_map: the function takes all rows of a batch at once")
    if not isinstance(static_shapes, bool) and static_shapes is not None:
        dataset = _with_shapes(dataset, _given_shapes(dataset.element_spec, static_shapes, "an element"))
        tell("static_shapes: the shapes that were given")
    if options is not None and options is not False:
        made = _options(options, dataset)
        dataset = dataset.with_options(made)
        tell(f"options: {_words_of(made) or 'nothing, because the data set has values of its own'}")
    if prefetch_to_device is None or prefetch_to_device is False:
        return dataset
    device = _device(prefetch_to_device)
    if device is None:
        tell(f"prefetch_to_device: there is no GPU, so {_ON_DEVICE} elements are kept ready in memory")
        return dataset.prefetch(_ON_DEVICE)
    tell(f"prefetch_to_device: {_ON_DEVICE} elements are copied to {device} ahead")
    return dataset.apply(tf.data.experimental.prefetch_to_device(device, _ON_DEVICE))


def _interleave_arguments(interleave: Any) -> dict[str, Any]:
    given = {"map_func": interleave} if callable(interleave) else interleave
    if not isinstance(given, Mapping):
        raise InvalidArgumentError(
            f"interleave must be a function that returns a data set, or a dict of arguments, not {interleave!r}"
        )
    no_others("argument of interleave", given, _INTERLEAVE_ARGUMENTS)
    if not callable(given.get("map_func")):
        raise InvalidArgumentError("interleave has no map_func, the function that returns a data set")
    # With a cycle of one, TensorFlow still opens later data sets ahead (ParallelInterleaveDatasetV4).
    return {"cycle_length": 1, "num_parallel_calls": tf.data.AUTOTUNE, "deterministic": True, **given}


def _place(cache: Any, dataset: Any) -> tuple[str, ...]:
    """Returns the arguments of Dataset.cache()."""
    if cache is not True and not isinstance(cache, (str, os.PathLike)):
        raise InvalidArgumentError(f"cache must be True, False or a file's name, not {cache!r}")
    if int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
        raise InvalidArgumentError(
            "cache: the data set is infinite, so a cache would grow without an end: cache before repeat()"
        )
    return () if cache is True else (os.fspath(cache),)


def _rows_of_all(dataset: Any) -> int | None:
    """Returns the number of rows that every element has, or None if it is not known.

    TensorFlow has no public access to a data set's input, so these names are its private ones
    (2.21). If they change, the number is unknown and shapes stay as they are.
    """
    try:
        dataset_ops = importlib.import_module("tensorflow.python.data.ops.dataset_ops")
    except ImportError:
        return None
    unchanged = getattr(dataset_ops, "UnaryUnchangedStructureDataset", ())
    while isinstance(dataset, unchanged):
        dataset = getattr(dataset, "_input_dataset", None)
    source = getattr(dataset, "_input_dataset", None)
    size = getattr(dataset, "_batch_size", None)
    if source is None or size is None or "BatchDataset" not in type(dataset).__name__:
        return None
    size, count = tf.get_static_value(size), int(source.cardinality())
    if size is None or (count != tf.data.INFINITE_CARDINALITY and (count <= 0 or count % int(size))):
        return None
    return int(size)


def _with_rows(spec: Any, rows: int) -> Any:
    """Returns the tensor's shape with this number of rows, or None if there is nothing to change."""
    if not isinstance(spec, tf.TensorSpec) or not spec.shape.rank or spec.shape[0] is not None:
        return None
    return [rows, *spec.shape[1:]]


def _given_shapes(spec: Any, given: Any, whose: str) -> list[Any]:
    """Returns the given shapes in the order of the tensors in `tf.nest.flatten(spec)`."""
    if given is None:
        return [None] * len(tf.nest.flatten(spec))
    if isinstance(spec, Mapping):
        if not isinstance(given, Mapping):
            raise InvalidArgumentError(f"static_shapes: {whose} is a dict, so its shapes must be one, not {given!r}")
        no_others("tensor", given, spec)
        return [shape for name in sorted(spec) for shape in _given_shapes(spec[name], given.get(name), f"'{name}'")]
    if isinstance(spec, (tuple, list)):
        if not isinstance(given, (tuple, list)) or len(given) != len(spec):
            raise InvalidArgumentError(
                f"static_shapes: {whose} is a tuple of {len(spec)}, so its shapes must be one, not {given!r}"
            )
        pairs = enumerate(zip(spec, given))
        return [shape for place, (one, its) in pairs for shape in _given_shapes(one, its, f"tensor {place}")]
    try:
        shape = tf.TensorShape(given)
        if isinstance(spec, tf.TensorSpec):
            return [spec.shape.merge_with(shape)]
    except (TypeError, ValueError):
        pass
    raise InvalidArgumentError(f"static_shapes: {whose} is {spec}, which cannot have the shape {given!r}")


def _with_shapes(dataset: Any, shapes: list[Any]) -> Any:
    """Returns the data set with these shapes of its tensors; None leaves a tensor as it is."""
    spec = dataset.element_spec
    changed = [
        None if shape is None or tf.TensorShape(shape) == one.shape else shape
        for shape, one in zip(shapes, tf.nest.flatten(spec))
    ]
    if all(shape is None for shape in changed):
        return dataset

    def ensure(*element: Any) -> Any:
        tensors = tf.nest.flatten(element if type(spec) is tuple else element[0])
        tensors = [
            tensor if shape is None else tf.ensure_shape(tensor, shape) for tensor, shape in zip(tensors, changed)
        ]
        return tf.nest.pack_sequence_as(spec, tensors)

    return dataset.map(tf.autograph.experimental.do_not_convert(ensure))


def _vectorized(dataset: Any, function: Any) -> Any:
    if not callable(function):
        raise InvalidArgumentError(f"vectorized_map must be a function of one row, not {function!r}")
    spec = dataset.element_spec
    for one in tf.nest.flatten(spec):
        if not isinstance(one, tf.TensorSpec) or one.shape.rank == 0:
            raise InvalidArgumentError(f"vectorized_map needs batches, but an element has {one}: call batch() before")
    is_tuple = type(spec) is tuple  # Dataset.map() hands the parts of a plain tuple out as arguments
    of_row = (lambda row: function(*row)) if is_tuple else function
    return dataset.map(
        lambda *batch: tf.vectorized_map(of_row, batch if is_tuple else batch[0]),
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


def _options(options: Any, dataset: Any) -> Any:
    if isinstance(options, tf.data.Options):
        return options
    if options is not True:
        raise InvalidArgumentError(f"options must be True, False or a tf.data.Options, not {options!r}")
    theirs, made = dataset.options(), tf.data.Options()
    for group, name, value in (
        # TensorFlow's own pool has a thread for each core, also where a quota allows fewer.
        ("threading", "private_threadpool_size", usable_cores()),
        ("threading", "max_intra_op_parallelism", 1),
        ("experimental_optimization", "filter_parallelization", True),
        ("experimental_optimization", "filter_fusion", True),
    ):
        if getattr(getattr(theirs, group), name, None) is None:
            setattr(getattr(made, group), name, value)
    return made


def _words_of(options: Any) -> str:
    groups = (options.threading, options.experimental_optimization)
    names = ("private_threadpool_size", "max_intra_op_parallelism", "filter_parallelization", "filter_fusion")
    values = [(name, getattr(group, name, None)) for group in groups for name in names]
    return ", ".join(f"{name}={value}" for name, value in values if value is not None)


def _device(device: Any) -> str | None:
    """Returns the device's name; None: there is no GPU, and none was named."""
    gpus = [gpu.name for gpu in tf.config.list_logical_devices("GPU")]
    if device is True:
        return gpus[0] if gpus else None
    try:
        spec = tf.DeviceSpec.from_string(device)
        known = [one.name for one in tf.config.list_logical_devices(spec.device_type)] if spec.device_type else []
    except (AttributeError, TypeError, ValueError):
        raise InvalidArgumentError(
            f'prefetch_to_device must be True, False or a device such as "/GPU:0", not {device!r}'
        ) from None
    if f"{spec.device_type}:{spec.device_index or 0}" not in [name.split("device:")[-1] for name in known]:
        there = ", ".join(gpus) or "no GPU"
        raise InvalidArgumentError(f"prefetch_to_device: TensorFlow has no device {device!r}; it has {there}")
    return str(device)
