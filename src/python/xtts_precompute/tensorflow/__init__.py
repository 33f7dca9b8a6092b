"""TensorFlow: batches for `@tf.function` steps, and a `tf.data.Dataset`.

    import xtts_precompute as xp

    loader = xp.tensorflow.Loader("./cache", batch_size=32, split="train", seed=7)
    for epoch in range(loader.epoch, 100):
        for batch in loader:
            step(batch.tokens, batch.mel, batch.text_len, batch.mel_len)      # traced once: every batch has the same shapes

    dataset = xp.tensorflow.dataset("./cache", batch_size=32, fields=("tokens", "mel"), structure=tuple)
    model.fit(dataset, epochs=100)

`Loader` hands over the readers' memory as it is, by DLPack; `dataset()` is for what insists on a `tf.data.Dataset`, which copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base.choices import one_of
from .._base.errors import InvalidArgumentError
from .._base.frameworks import framework
from .._cache.batch import Batch
from .._loaders.fields import FieldDict
from .._loaders.loader import BatchLoader, ReadableOrPath
from .tf_data import dataset, share

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")

__all__ = ["Loader", "TensorBatch", "dataset", "share"]


class TensorBatch(FieldDict):
    """A batch of tensors, by name: `batch.mel` [B, 800, 80], `batch.mel_len` int32 [B]; a dict, also for `@tf.function`.

    `ids` is a tensor of texts. Rows without a clip have length 0, and come last.
    """


class Loader(BatchLoader[TensorBatch]):
    """Batches of tensors of fixed shape, filled ahead by threads: a pass is an epoch, `len()` its batches.

        loader = xp.tensorflow.Loader("./cache", batch_size=32, fields=("tokens", "mel", "text_len", "mel_len"))

    Args:
        cache: An open one, or the path (paths) of one; or clips that are computed while they are read (`xp.runtime()`).
        device: Where the batches shall be, as "/GPU:0". None: in the CPU's memory, without a copy. On a GPU int32 stays in the CPU's memory all the
            same, because there TensorFlow keeps it for most operations and for arguments of a function; `integers="int64"` goes along.
        integers: "int32", or "int64": what tokens, lengths, speakers and languages are.
        fields: Which entries batches have, of the columns, their lengths (`mel_len`, `text_len`), `speaker`, `language`, `ids`. None: all but
            ids. What no field needs is not read.
        rank, world_size: None: those of `TF_CONFIG`'s worker, where there is one.
        options: The other arguments of `xp.Cache.reader()`.

    A tensor is the batch's own memory, and keeps its slot: who keeps more batches than `prefetch` - 1 waits 10 s and gets BusyError;
    `tf.identity()` makes no copy, `tf.raw_ops.DeepCopy(x=tensor)` does.
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
        super().__init__(cache, options, fields=fields, rank=rank, world_size=world_size, share=share)
        self._integers = one_of("integers", integers, ("int32", "int64"))
        if device is not None and not isinstance(device, str):
            raise InvalidArgumentError(f'device must be a text such as "/GPU:0", not {device!r}')
        self._device = device

    def _convert(self, batch: Batch) -> TensorBatch:
        return TensorBatch((name, self._tensor(array)) for name, array in self._fields.arrays(batch).items())

    def _tensor(self, array: Any) -> Any:
        if isinstance(array, list):
            return tf.constant(array, tf.string)
        # Aligned to 256 bytes, which it takes as it is; and it never writes into memory that is not its own.
        tensor = tf.experimental.dlpack.from_dlpack(array._capsule())
        if tensor.dtype.is_integer and tensor.dtype.name != self._integers:
            tensor = tf.cast(tensor, self._integers)
        if self._device is None or tensor.dtype == tf.int32:
            return tensor
        with tf.device(self._device):
            return tf.identity(tensor)
