"""A tf.data.Dataset whose elements are whole batches: one Python call for each, none for a sample."""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.choices import one_of, switch, whole
from .._base.errors import InvalidArgumentError, UnsupportedError
from .._base.frameworks import framework
from .._base.words import counted
from .._cache.batch import Batch
from .._cache.epochs import no_clips
from .._loaders.loader import BatchLoader, ReadableOrPath
from .._loaders.passes import Passes

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")

WIDER = 'give integers="int64"'  # where an int32 cannot hold a number
_WAIT_AT_EXIT_S = 10.0
_QUIET_S = 0.1
_SLOTS_LEFT = 2  # never lent to TensorFlow: one to be filled, one to be handed out


def share() -> tuple[int, int]:
    """Returns (rank, world size) of this worker in `TF_CONFIG`, where the chief comes first.

    They are (0, 1) if there is one process.
    """
    config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    cluster, task = config.get("cluster", {}), config.get("task", {})
    chiefs, workers = len(cluster.get("chief", ())), len(cluster.get("worker", ()))
    if chiefs + workers < 2 or task.get("type") not in ("chief", "worker"):
        return 0, 1
    return int(task.get("index", 0)) + chiefs * (task["type"] == "worker"), chiefs + workers


def slots_for(device: str | None) -> str:
    """Returns the reader's device for batches that TensorFlow copies to `device`.

    TensorFlow shows nobody its streams, so it makes the copy itself. It keeps the slot until then.
    """
    return "pinned" if device is not None and "GPU" in device.upper() else "cpu"


def check_device(device: str | None) -> None:
    """Raises if TensorFlow has no such device. Without this check it would silently use another one."""
    if device is None:
        return
    try:
        wanted = tf.DeviceSpec.from_string(device)
    except ValueError as error:
        raise InvalidArgumentError(f'device must be a text such as "/GPU:0", not {device!r}: {error}') from None
    if wanted.device_type is None:
        return
    there = [tf.DeviceSpec.from_string(one.name) for one in tf.config.list_logical_devices(wanted.device_type.upper())]
    if not any(wanted.device_index in (None, one.device_index) for one in there):
        found = counted(len(there), f"device of type {wanted.device_type}", f"devices of type {wanted.device_type}")
        raise UnsupportedError(f"device is {device!r}, and TensorFlow finds {found}: use device=None for the CPU")


def dataset(
    cache: ReadableOrPath,
    *,
    fields: Iterable[str] | None = None,
    structure: type[dict[str, Any]] | type[tuple[Any, ...]] = dict,
    integers: str = "int32",
    repeat: bool = False,
    first_epoch: int = 0,
    buffer: int = 2,
    device: str | None = None,
    input_context: Any = None,
    rank: int | None = None,
    world_size: int | None = None,
    **options: Any,
) -> Any:
    """Returns a `tf.data.Dataset` of batches of static shape. Each pass is another epoch.

        fields = ("tokens", "mel", "text_len", "mel_len")
        dataset = xp.tensorflow.dataset("./cache", batch_size=32, fields=fields, structure=tuple)

        strategy.distribute_datasets_from_function(lambda context: xp.tensorflow.dataset(
            "./cache", batch_size=context.get_per_replica_batch_size(64), input_context=context))

    Args:
        cache: An open cache, the path of one, or a list of paths; or `xp.runtime()`'s clips, which
            are computed while they are read. For these TensorFlow's `cardinality()` is unknown:
            epochs become shorter when clips turn out to be rejected.
        fields: The entries of a batch: columns, their lengths (`mel_len`, `text_len`), `speaker`,
            `language`, `ids`. None: all but ids. Columns that no field needs are not read.
        structure: `dict`: an element is a dict by field. `tuple`: a tuple in the order of the
            fields.
        integers: "int32", or "int64". On a GPU, int64 stays in its memory; int32 mostly does not.
        repeat: True: epoch after epoch without an end.
        first_epoch: The epoch of the first pass.
        buffer: Batches that TensorFlow has ready; 0: none.
        device: The data set ends with `prefetch_to_device` to this device ("/GPU:0").
        input_context: A distribution strategy's input context; its pipelines are the ranks.
        rank, world_size: This process's share. None: those of the input context, or of the worker
            in `TF_CONFIG`.
        options: The other arguments of `xp.Cache.reader()`.

    Elements are the reader's own memory while slots are left, and copies otherwise, so they may be
    kept. One iterator at a time can be used. With buckets, the first two dimensions are unknown,
    and a step is traced once for each bucket.

    Raises:
        InvalidArgumentError: An argument is wrong, or an epoch has no batch.
    """
    if structure not in (dict, tuple):
        raise InvalidArgumentError(f"structure must be dict or tuple, not {structure!r}")
    if input_context is not None:
        rank, world_size = input_context.input_pipeline_id, input_context.num_input_pipelines
    buffer = whole("buffer", buffer, 0, 512)
    made = on_the_host(
        cache, device, fields=fields, structure=structure, integers=integers, repeat=repeat, first_epoch=first_epoch,
        buffer=buffer, rank=rank, world_size=world_size, **options,
    )  # fmt: skip
    if device is not None:
        return made.apply(tf.data.experimental.prefetch_to_device(device, max(buffer, 1)))
    return made.prefetch(buffer) if buffer else made


def on_the_host(
    cache: ReadableOrPath,
    device: str | None,
    *,
    fields: Iterable[str] | None,
    structure: Any,
    integers: str = "int32",
    repeat: bool,
    first_epoch: int = 0,
    buffer: int,
    rank: int | None,
    world_size: int | None,
    **options: Any,
) -> Any:
    """Returns the data set of `dataset()` before its last step, which copies batches to `device`.

    Its slots are page-locked if that is a GPU.
    """
    check_device(device)
    options["device"] = slots_for(device)
    options["prefetch"] = min(whole("prefetch", options.get("prefetch", 4), 3, 1024) + buffer + _SLOTS_LEFT, 1024)
    source = _Source(cache, options, integers, fields=fields, rank=rank, world_size=world_size, share=share)
    source.set_epoch(first_epoch)
    made = from_source(source, structure, switch("repeat", repeat), _signature(source, structure))
    if repeat or source.cache._keeps_epochs_length:
        made = made.apply(
            tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY if repeat else len(source))
        )
    settings = tf.data.Options()
    # The batches are this worker's share already.
    settings.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return made.with_options(settings)


def from_source(source: Any, structure: Any, repeat: bool, signature: Any) -> Any:
    """Returns a data set of the source's passes, one after the other.

    TensorFlow never frees a Python function (script_ops keeps it in the outermost graph), so the
    data set keeps the source. When the data set and all that were made from it are gone, the
    source's threads and slots go, too.
    """
    generator = _Generator(source, structure, repeat)
    made = tf.data.Dataset.from_generator(generator, output_signature=signature)
    finalizer: Any = weakref.finalize(made, generator.end)
    finalizer.atexit = False
    return made


class _Source(BatchLoader[dict[str, Any]]):
    """Batches as NumPy arrays that TensorFlow takes without a copy, and may keep."""

    def __init__(self, cache: ReadableOrPath, options: dict[str, Any], integers: str, **rest: Any) -> None:
        super().__init__(cache, options, **rest)
        self._integers = np.dtype(one_of("integers", integers, ("int32", "int64")))
        self._lent_max = options["prefetch"] - _SLOTS_LEFT
        self._lent: list[weakref.ref[_Loan]] = []

    def _convert(self, batch: Batch) -> dict[str, Any]:
        self._lent = [loan for loan in self._lent if loan() is not None]
        # The cache's own file is not lent: TensorFlow reuses an array's memory for results if
        # nobody else seems to use it.
        loan = _Loan() if len(self._lent) < self._lent_max and not any(map(batch.is_view, batch.columns)) else None
        if loan is not None:
            self._lent.append(weakref.ref(loan))
        return {name: self._array(batch, name, array, loan) for name, array in self._fields.arrays(batch).items()}

    def _array(self, batch: Batch, name: str, array: Any, loan: _Loan | None) -> Any:
        if isinstance(array, list):
            return np.array(array, object)
        if array.dtype == np.int64 and self._integers == np.int32:
            return self._fitted(batch, name, array, np.int32, WIDER)
        if array.dtype.kind == "i" and array.dtype != self._integers:
            return array.astype(self._integers)
        return array.copy() if loan is None else loan.of(array)


class _Loan:
    """A batch's memory that is lent to TensorFlow; gone when the last array of it is."""

    def of(self, array: Array) -> Any:
        """Returns a plain array over the same memory, whose views keep this loan."""
        return np.asarray(_Lent(self, array)).view(array.dtype)


class _Lent:
    """An object that NumPy takes for memory, and keeps in the array and all of its views."""

    def __init__(self, loan: _Loan, array: Array) -> None:
        self._kept = loan, array
        plain = array.view(f"i{array.itemsize}")  # the interface has no name for some dtypes
        self.__array_interface__ = {
            "version": 3,
            "shape": plain.shape,
            "typestr": plain.dtype.str,
            "data": (array.ctypes.data, True),
        }


class _Generator:
    """Passes one after the other, each in a thread of TensorFlow."""

    def __init__(self, source: Any, structure: Any, repeat: bool) -> None:
        self._source = source
        self._structure = structure
        self._repeat = repeat
        # An abandoned iterator may still be within its last call.
        self._lock = threading.Lock()
        self._is_dropped = False

    def __call__(self) -> Iterator[Any]:
        while not calls.is_ending and not self._is_dropped:
            with self._lock:
                if self._source is None:
                    return
                batches = iter(self._source)
            count = 0
            while (batch := self._next(batches)) is not None:
                yield tuple(batch.values()) if self._structure is tuple else batch
                del batch
                count += 1
            del batches
            if not self._repeat:
                return
            if not count and not calls.is_ending and not self._is_dropped:
                raise InvalidArgumentError(
                    "there is no batch in this epoch: without the clips that have turned out to be "
                    "rejected, too few are left for one: give a smaller batch_size"
                )

    def _next(self, batches: Iterator[dict[str, Any]]) -> dict[str, Any] | None:
        try:
            with self._lock, calls:
                return None if calls.is_ending or self._is_dropped else next(batches, None)
        finally:
            if self._is_dropped:
                self.end()

    def end(self) -> None:
        """Closes the source, because nobody has the data set any more.

        Python's collector may call this anywhere. A thread that is within a call closes the source
        after that.
        """
        self._is_dropped = True
        if self._lock.acquire(blocking=False):
            source, self._source = self._source, None
            self._lock.release()
            if source is not None:
                source.close()


class _Calls:
    """Counts TensorFlow's threads that are in Python.

    A thread that is in Python when the interpreter ends never comes back, and TensorFlow, which
    waits for it, hangs (seen in every third program that ended while batches were being
    prefetched). So at the end no call begins, and running calls are waited for.
    """

    def __init__(self) -> None:
        self.is_ending = False
        self._lock = threading.Lock()
        self._count = 0
        self._last_s = 0.0

    def __enter__(self) -> None:
        with self._lock:
            self._count += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._count -= 1
            self._last_s = time.monotonic()

    def end(self) -> None:
        """Returns when no thread has been here for a while.

        Some of TensorFlow's own Python follows each call, so the count alone is not enough.
        """
        self.is_ending = True
        until = time.monotonic() + _WAIT_AT_EXIT_S
        while time.monotonic() < until and (self._count > 0 or time.monotonic() < self._last_s + _QUIET_S):
            time.sleep(0.005)


calls = _Calls()
atexit.register(calls.end)


def _signature(source: _Source, structure: Any) -> Any:
    """Returns what a batch looks like. The first batch shows it, and comes again in the first pass."""
    epoch = source.epoch
    batch = next(iter(source), None) if len(source) else None
    if batch is None:
        raise no_batch(source)
    is_fixed = not source._options.get("buckets")
    specs = {name: _spec(array, is_fixed) for name, array in batch.items()}
    source.set_epoch(epoch)
    return tuple(specs.values()) if structure is tuple else specs


def no_batch(source: Passes[Any]) -> InvalidArgumentError:
    """Returns the error for an epoch without a batch: a loop over such epochs would never end."""
    clips = source._opened().sample_count
    if not clips:
        return InvalidArgumentError(f"there is no batch in an epoch: {no_clips(source._options)}")
    return InvalidArgumentError(
        f"there is no batch in an epoch: {counted(clips, 'clip is', 'clips are')} chosen, "
        "fewer than a batch of all ranks has: give a smaller batch_size"
    )


def _spec(array: Any, is_fixed: bool) -> Any:
    shape = array.shape if is_fixed else (None,) * min(array.ndim, 2) + array.shape[2:]
    return tf.TensorSpec(shape, tf.string if array.dtype == object else tf.dtypes.as_dtype(array.dtype))
