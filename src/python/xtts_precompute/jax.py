"""JAX: batches as arrays on its devices.

    import xtts_precompute as xp

    mesh = jax.sharding.Mesh(jax.devices(), "data")
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    loader = xp.jax.Loader("./cache", batch_size=64, split="train", seed=7, device=rows)
    for epoch in range(loader.epoch, 100):
        for batch in loader:
            state = step(state, batch)               # jitted once: every batch has the same shapes

Plain NumPy needs no integration: `cache.reader()` gives NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._base.errors import InvalidArgumentError
from ._base.frameworks import framework
from ._cache.batch import Batch
from ._loaders.fields import FieldDict
from ._loaders.loader import BatchLoader, ReadableOrPath

jax: Any = framework("jax", '"jax[cpu]" (or "jax[cuda12]" for a GPU)')

__all__ = ["ArrayBatch", "Loader", "share"]


def share() -> tuple[int, int]:
    """Returns (rank, world size) of this process among those of `jax.distributed.initialize()`.

    They are (0, 1) if there is one process.
    """
    return jax.process_index(), jax.process_count()


def _is_gpu(device: Any) -> bool:
    """Returns whether batches go to a GPU."""
    if device is None:
        return str(jax.default_backend()) == "gpu"
    devices = device.device_set if isinstance(device, jax.sharding.Sharding) else {device}
    return any(one.platform == "gpu" for one in devices)


class ArrayBatch(FieldDict):
    """A batch of JAX arrays, by name: `batch.mel` [B, 800, 80], `batch.mel_len` int32 [B].

    It is a dict and a pytree, so jitted functions take it. Rows without a clip come last, with
    length 0. `ids` is a list of texts, which no jitted function takes: remove it with
    `batch.pop("ids")`.
    """


jax.tree_util.register_pytree_with_keys(
    ArrayBatch,
    lambda batch: ([(jax.tree_util.DictKey(name), value) for name, value in batch.items()], tuple(batch)),
    lambda names, values: ArrayBatch(zip(names, values)),
    lambda batch: (list(batch.values()), tuple(batch)),
)


class Loader(BatchLoader[ArrayBatch]):
    """Batches of JAX arrays of fixed shape, which threads fill ahead.

    Each `for` over it is one epoch; `len()` is the number of batches of an epoch.

        fields = ("tokens", "mel", "text_len", "mel_len")
        loader = xp.jax.Loader("./cache", batch_size=32, fields=fields)

    Args:
        cache: An open cache, the path of one, or a list of paths; or `xp.runtime()`'s clips, which
            are computed while they are read.
        device: A device, or a sharding whose first axis is that of rows. `batch_size` is this
            process's share, and must be a multiple of its devices. None: JAX's default device.
        fields: The entries of a batch: columns, their lengths (`mel_len`, `text_len`), `speaker`,
            `language`, `ids`. None: all but ids. Columns that no field needs are not read.
        rank, world_size: This process's share. None: those of `jax.distributed`, asked at the first
            use.
        options: The other arguments of `xp.Cache.reader()`.

    On the CPU, an array is the batch's own memory. It keeps the batch's slot until computations
    with it are done. If you keep more than `prefetch` - 1 batches, the next one waits 10 s and
    raises BusyError; copy what you keep for long with `jnp.copy()`.
    """

    def __init__(
        self,
        cache: ReadableOrPath,
        *,
        device: Any = None,
        fields: Iterable[str] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        if not (device is None or isinstance(device, (jax.Device, jax.sharding.Sharding))):
            raise InvalidArgumentError(f"device must be one of jax.devices(), or a sharding, not {device!r}")
        super().__init__(cache, options, fields=fields, rank=rank, world_size=world_size, share=share)
        self._device = device
        self._spans_processes = isinstance(device, jax.sharding.Sharding) and not device.is_fully_addressable

    def _open_reader(self, **options: Any) -> Any:
        # JAX copies to a GPU itself, because it does not say when its work with foreign memory is
        # done. It keeps the slot until the copy is.
        return super()._open_reader(**{**options, "device": "pinned" if _is_gpu(self._device) else "cpu"})

    def _convert(self, batch: Batch) -> ArrayBatch:
        found = self._fields.arrays(batch)
        if not jax.config.jax_enable_x64:  # JAX makes int64 int32 then, without a word
            for name in self._fields.columns:
                if name in found and found[name].dtype == np.int64:
                    found[name] = self._fitted(batch, name, found[name], np.int32, "set jax_enable_x64")
        ids = {"ids": found.pop("ids")} if "ids" in found else {}
        if self._spans_processes:
            placed = {
                name: jax.make_array_from_process_local_data(self._device, array) for name, array in found.items()
            }
        else:
            placed = jax.device_put(found, self._device)  # all arrays in one call cost little more than one
        placed.update(ids)
        return ArrayBatch((name, placed[name]) for name in self._fields.names)
