"""TensorFlow: batches for `@tf.function` steps, and a `tf.data.Dataset`.

    import xtts_precompute as xp

    loader = xp.tensorflow.Loader("./cache", batch_size=32, split="train", seed=7)
    for epoch in range(loader.epoch, 100):
        for batch in loader:
            # Traced once: every batch has the same shapes.
            step(batch.tokens, batch.mel, batch.text_len, batch.mel_len)

    fields = ("tokens", "mel")
    dataset = xp.tensorflow.dataset("./cache", batch_size=32, fields=fields, structure=tuple)
    model.fit(dataset, epochs=100)

`Loader` gives the reader's memory as it is, by DLPack. `dataset()` is for code that insists on a
`tf.data.Dataset`, which copies. `optimize()` improves a `tf.data.Dataset` of your own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._base.choices import one_of
from .._base.errors import InvalidArgumentError
from .._base.frameworks import framework
from .._cache.batch import Batch
from .._loaders.fields import FieldDict
from .._loaders.loader import BatchLoader, ReadableOrPath
from .optimizing import optimize
from .tf_data import WIDER, check_device, dataset, share, slots_for

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")

__all__ = ["Loader", "TensorBatch", "dataset", "optimize", "share"]


class TensorBatch(FieldDict):
    """A batch of TensorFlow tensors, by name: `batch.mel` [B, 800, 80], `batch.mel_len` int32 [B].

    It is a dict, also within `@tf.function`. Rows without a clip come last, with length 0. `ids` is
    a tensor of texts.
    """


class Loader(BatchLoader[TensorBatch]):
    """Batches of TensorFlow tensors of fixed shape, which threads fill ahead.

    Each `for` over it is one epoch; `len()` is the number of batches of an epoch.

        fields = ("tokens", "mel", "text_len", "mel_len")
        loader = xp.tensorflow.Loader("./cache", batch_size=32, fields=fields)

    Args:
        cache: An open cache, the path of one, or a list of paths; or `xp.runtime()`'s clips, which
            are computed while they are read.
        device: Where the batches are to be, as in "/GPU:0". TensorFlow copies them there, out of
            page-locked slots. None: in the CPU's memory, without a copy. int32 tensors stay in the
            CPU's memory, because TensorFlow keeps them there for most operations and for arguments
            of a function; `integers="int64"` moves them, too.
        integers: The type of tokens, lengths, speakers and languages, and of a wave's int16:
            "int32" or "int64".
        fields: The entries of a batch: columns, their lengths (`mel_len`, `text_len`), `speaker`,
            `language`, `ids`. None: all but ids. Columns that no field needs are not read.
        rank, world_size: This process's share. None: those of the worker in `TF_CONFIG`, if there
            is one.
        options: The other arguments of `xp.Cache.reader()`.

    A tensor is the batch's own memory and keeps its slot. If you keep more than `prefetch` - 1
    batches, the next one waits 10 s and raises BusyError. To keep a tensor, copy it with
    `tf.raw_ops.DeepCopy(x=tensor)`; `tf.identity()` makes no copy.
    """

    def __init__(
        self,
        cache: ReadableOrPath,
        *,
        device: str | None = None,
        integers: str = "int32",
        fields: Iterable[str] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        if device is not None and not isinstance(device, str):
            raise InvalidArgumentError(f'device must be a text such as "/GPU:0", not {device!r}')
        options["device"] = slots_for(device)
        super().__init__(cache, options, fields=fields, rank=rank, world_size=world_size, share=share)
        self._integers = one_of("integers", integers, ("int32", "int64"))
        self._device = device

    def _open_reader(self, **options: Any) -> Any:
        # At the first use: the question starts TensorFlow, whose settings must come before.
        check_device(self._device)
        return super()._open_reader(**options)

    def _convert(self, batch: Batch) -> TensorBatch:
        return TensorBatch(
            (name, self._tensor(batch, name, array)) for name, array in self._fields.arrays(batch).items()
        )

    def _tensor(self, batch: Batch, name: str, array: Any) -> Any:
        if isinstance(array, list):
            return tf.constant(array, tf.string)
        if array.dtype == np.int64 and self._integers == "int32":
            return self._placed(tf.constant(self._fitted(batch, name, array, np.int32, WIDER)))
        # The memory is aligned to 256 bytes, so TensorFlow takes it without a copy; and TensorFlow
        # never writes to memory that is not its own.
        tensor = tf.experimental.dlpack.from_dlpack(array._capsule())
        if tensor.dtype.is_integer and tensor.dtype.name != self._integers:
            tensor = tf.cast(tensor, self._integers)
        return self._placed(tensor)

    def _placed(self, tensor: Any) -> Any:
        if self._device is None or tensor.dtype == tf.int32:
            return tensor
        with tf.device(self._device):
            return tf.identity(tensor)
