"""PyTorch: batches as tensors, without worker processes, and data sets for `torch.utils.data.DataLoader`.

    import xtts_precompute as xp

    loader = xp.torch.Loader("./cache", batch_size=32, split="train", seed=7, device="cuda")
    for epoch in range(loader.epoch, 100):
        for batch in loader:
            loss = model(batch.tokens, batch.mel, batch.text_len, batch.mel_len)
        torch.save(loader.state_dict(), "loader.pt")

`Loader` is for most: threads of C++ fill its batches, which no DataLoader matches. `ClipDataset` (by position) and `BatchDataset`
(whole batches) are for what insists on a DataLoader. Ranks come from `torch.distributed`, where it is initialized.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base.choices import switch
from .._base.frameworks import framework
from .._loaders.loader import BatchLoader, ReadableOrPath
from .batches import DeviceTensors, HostTensors, TensorBatch, checked_device, share
from .datasets import BatchDataset, ClipDataset

torch: Any = framework("torch", "torch")

__all__ = ["BatchDataset", "ClipDataset", "Loader", "TensorBatch", "share"]


class Loader(BatchLoader[TensorBatch]):
    """Batches of tensors of fixed shape, filled ahead by threads: a pass is an epoch, `len()` its batches.

        loader = xp.torch.Loader("./cache", batch_size=32, split="train", device="cuda:0", fields=("tokens", "mel", "text_len", "mel_len"))

    Args:
        cache: An open one, or the path (paths) of one; or clips that are computed while they are read (`xp.runtime()`).
        device: Where the batches shall be. For a CUDA device they are copied on a stream of their own, one ahead of the one in use.
        pin_memory: Page-locked tensors on the CPU, for who copies to the GPU himself. Without a GPU it does nothing.
        in_place: With shuffle="none" batches can be views of the cache's own file, without any copy; writing to such a tensor
            (`batch.mel.add_(1)`) ends the process (SIGSEGV). False: those are copied, and every tensor can be written.
        fields: Which entries batches have, of the columns, their lengths (`mel_len`, `text_len`), `speaker`, `language`, `ids`. None: all but
            ids. What no field needs is not read.
        rank, world_size: None: those of `torch.distributed`, asked at the first use.
        options: The other arguments of `xp.Cache.reader()`.

    A tensor keeps its slot: who keeps more batches than `prefetch` - 1 waits 10 s and gets BusyError; clone() what is kept long.
    For Lightning it is the trainer's loader as it is: it reads by rank, and its state goes into the checkpoint. For Accelerate
    `Loader(device=accelerator.device)` needs no prepare(), which leaves it alone.
    """

    def __init__(
        self,
        cache: ReadableOrPath,
        *,
        device: Any = "cpu",
        pin_memory: bool = False,
        in_place: bool = False,
        fields: Iterable[str] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(cache, options, fields=fields, rank=rank, world_size=world_size, share=share)
        self._device = checked_device(device)
        self._pins, self._in_place = switch("pin_memory", pin_memory), switch("in_place", in_place)
        self._ahead = int(self._device.type != "cpu")
        self._maker: Any = None

    def _convert(self, batch: Any) -> Any:
        if self._maker is None:  # not before: CUDA does not survive a fork
            if self._ahead:
                self._maker = DeviceTensors(self._fields, self._device)
            elif self._pins and torch.cuda.is_available():
                self._maker = HostTensors(self._fields, "pinned")
            else:
                self._maker = HostTensors(self._fields, "in place" if self._in_place else "slot")
        return self._maker(batch)

    def _finish(self, made: Any) -> TensorBatch:
        batch: TensorBatch = self._maker.finish(made) if self._ahead else made
        return batch

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_maker": None}
