"""PyTorch: batches as tensors without worker processes, and data sets for `DataLoader`.

    import xtts_precompute as xp

    loader = xp.torch.Loader("./cache", batch_size=32, split="train", seed=7, device="cuda")
    for epoch in range(loader.epoch, 100):
        for batch in loader:
            loss = model(batch.tokens, batch.mel, batch.text_len, batch.mel_len)
        torch.save(loader.state_dict(), "loader.pt")

Use `Loader` unless something insists on a `torch.utils.data.DataLoader`: C++ threads fill its
batches, which no DataLoader matches. For a DataLoader, `BatchDataset` gives whole batches and
`ClipDataset` gives clips by position. Ranks come from `torch.distributed`, if it is initialized.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._base.choices import switch
from .._base.errors import UnsupportedError
from .._base.frameworks import framework
from .._base.warn import warn
from .._loaders.loader import BatchLoader, ReadableOrPath
from .batches import DeviceTensors, GpuTensors, HostTensors, TensorBatch, checked_device, share
from .datasets import BatchDataset, ClipDataset
from .others import NumberedBatches

torch: Any = framework("torch", "torch")

__all__ = ["BatchDataset", "ClipDataset", "Loader", "TensorBatch", "share"]


class Loader(BatchLoader[TensorBatch]):
    """Batches of PyTorch tensors of fixed shape, which threads fill ahead.

    Each `for` over it is one epoch; `len()` is the number of batches of an epoch.

        fields = ("tokens", "mel", "text_len", "mel_len")
        loader = xp.torch.Loader("./cache", batch_size=32, split="train", device="cuda:0", fields=fields)

    Args:
        cache: An open cache, the path of one, or a list of paths; or `xp.runtime()`'s clips, which
            are computed while they are read.
        device: Where the batches are to be. "cuda" or "cuda:N": the reader's threads fill
            page-locked slots, which are copied to the GPU while earlier batches are in use; the
            stream that is current when a batch is handed out waits for it, and the host does not.
            Use a batch's tensors on that stream. Before you use them on another one, call
            `other.wait_stream(torch.cuda.current_stream())`; and before you drop them,
            `torch.cuda.current_stream().wait_stream(other)`. "auto": "cuda" if PyTorch finds it, else
            "cpu".
        pin_memory: True: page-locked tensors on the CPU, for code that copies to the GPU itself.
            Without a GPU it does nothing.
        in_place: With shuffle="none", batches can be views of the cache's own file. True: no copy;
            writing to such a tensor (`batch.mel.add_(1)`) ends the process (SIGSEGV). False: these
            batches are copied, and every tensor can be written.
        fields: The entries of a batch: columns, their lengths (`mel_len`, `text_len`), `speaker`,
            `language`, `ids`. None: all but ids. Columns that no field needs are not read.
        rank, world_size: This process's share. None: those of `torch.distributed`, asked at the
            first use.
        options: The other arguments of `xp.Cache.reader()`.

    A tensor keeps its batch's slot. If you keep more than `prefetch` - 1 batches, the next one
    waits 10 s and raises BusyError; clone() what you keep for long.

    Lightning takes the Loader as it is: it reads by rank, and its state goes into the checkpoint.
    For Accelerate, give `device=accelerator.device`; prepare() is not needed, and leaves the Loader
    alone. For Trainer of transformers, `get_train_dataloader()` returns the Loader; a resumed run
    goes on at the right batch, and reads none of those before it.
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
        self._ahead = 0
        self._maker: Any = None
        self._numbered: NumberedBatches | None = None

    @property
    def sampler(self) -> None:
        """None, for Accelerate's skip_first_batches(), which makes a DataLoader."""

    @property
    def prefetch_factor(self) -> int | None:
        """That of a DataLoader without workers, for Accelerate's skip_first_batches()."""
        factor: int | None = torch.utils.data.DataLoader([]).prefetch_factor  # 2 in PyTorch 1.13, later None
        return factor

    @property
    def dataset(self) -> NumberedBatches:
        """The batches by number, for Accelerate's skip_first_batches()."""
        if self._numbered is None:
            self._numbered = NumberedBatches(self)
        return self._numbered

    batch_sampler = dataset

    @staticmethod
    def collate_fn(batches: list[TensorBatch]) -> TensorBatch:
        """Returns the batch of a list of one, for Accelerate's skip_first_batches()."""
        (batch,) = batches
        return batch

    def _open_reader(self, **options: Any) -> Any:
        self._ahead = 0
        if self._device.type == "cuda":
            number = torch.cuda.current_device() if self._device.index is None else self._device.index
            try:
                return super()._open_reader(**{**options, "device": f"cuda:{number}"})
            except UnsupportedError as error:
                of_a_gpu = [name for name in ("data_device", "data_device_memory") if options.get(name) is not None]
                options = {name: value for name, value in options.items() if name not in of_a_gpu}
                without = f", and {' and '.join(of_a_gpu)} without effect" if of_a_gpu else ""
                warn(f"PyTorch copies the batches to {self._device}, not the reader{without}: {error}")
        self._ahead = int(self._device.type != "cpu")
        return super()._open_reader(**options)

    def _convert(self, batch: Any) -> Any:
        if self._maker is None:  # made at the first batch: CUDA does not survive a fork
            if self._ahead:
                self._maker = DeviceTensors(self._fields, self._device)
            elif self._device.type == "cuda":
                self._maker = GpuTensors(self._fields, self._device)
            elif self._pins and torch.cuda.is_available():
                self._maker = HostTensors(self._fields, "pinned")
            else:
                self._maker = HostTensors(self._fields, "in place" if self._in_place else "slot")
        return self._maker(batch)

    def _finish(self, made: Any) -> TensorBatch:
        batch: TensorBatch = self._maker.finish(made) if self._ahead else made
        return batch

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_maker": None, "_numbered": None}
