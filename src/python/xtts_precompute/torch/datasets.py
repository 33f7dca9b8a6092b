"""Data sets for torch.utils.data.DataLoader: clips by position, and whole batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.arrays import numpy_dtype
from .._base.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from .._base.frameworks import framework
from .._base.warn import warn
from .._cache.batch import length_field
from .._cache.cache import Cache
from .._cache.clips import Clip
from .._cache.epochs import Epoch
from .._cache.options import OnRange, parsed_columns
from .._cache.readable import DEFAULTS
from .._cache.reader import Reader
from .._loaders.fields import Fields
from .._loaders.loader import CacheOrPath, opened_cache, reader_options
from .._loaders.passes import Share, behind_last_batch, given_share
from .._loaders.ranges import fitted
from .batches import HostTensors, TensorBatch, share
from .epochs import SharedEpoch
from .others import check_for_resumption, refuse_batches_of_batches, refuse_second_share

torch: Any = framework("torch", "torch")

_ROWS_TO_FIND = 1024  # the batch size with which a selection's positions are read


class ClipDataset(torch.utils.data.Dataset):  # type: ignore[misc]
    """Clips by position, padded, as tensors: for your own samplers, Accelerate's and Lightning's.

        dataset = xp.torch.ClipDataset("./cache", split="train")
        loader = torch.utils.data.DataLoader(
            dataset, batch_size=32, shuffle=True, num_workers=2, collate_fn=dataset.collate
        )

    `collate` takes whole batches as they were read (from PyTorch 2.0 on). PyTorch's default collate
    function works, too, and copies them once more. Workers may be forked or spawned.

    Args:
        cache: An open cache, the path of one, or a list of paths.
        fields: The entries of a sample, as for `Loader`.
        columns, split, where, ids, exclude, on_range: As for `xp.Cache.reader()`. Columns cannot be
            normalized. `saturated_count` counts what on_range="clip" has changed in this process.
    """

    def __init__(
        self,
        cache: CacheOrPath,
        *,
        fields: Iterable[str] | None = None,
        columns: Any = None,
        split: str | None = None,
        where: str | None = None,
        ids: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        on_range: OnRange = "raise",
    ) -> None:
        self._cache = opened_cache(cache, "ClipDataset")
        options = reader_options(
            self._cache,
            {
                "columns": columns,
                "split": split,
                "where": where,
                "ids": ids,
                "exclude": exclude,
                "on_range": on_range,
            },
        )
        self._fields = Fields(self._cache, options["columns"], fields)
        options["columns"] = self._fields.narrowed(options["columns"])
        self._columns = [
            _PaddedColumn(self._cache, on_range, *wish)
            for wish in parsed_columns(options["columns"], tuple(self._cache.columns))
        ]
        # A reader refuses what cannot be had: a conversion, a pad_value, a column that lacks clips.
        self._cache.reader(columns=options["columns"]).close()
        selects = any(options[name] is not None for name in ("split", "where", "ids", "exclude"))
        self._positions = _positions(self._cache, options) if selects else None
        self._speakers = {name: number for number, name in enumerate(self._cache.speakers)}
        self._languages = {name: number for number, name in enumerate(self._cache.languages)}

    @property
    def saturated_count(self) -> int:
        """Values that `on_range="clip"` has changed, in this process."""
        return sum(column.saturated_count for column in self._columns)

    def __len__(self) -> int:
        return len(self._cache) if self._positions is None else len(self._positions)

    def __getitem__(self, index: int) -> TensorBatch:
        """Returns one clip."""
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> _Rows:
        """Returns several clips, as views of one batch, which `collate` finds again."""
        positions = [self._position(int(index)) for index in indices]
        clips = [self._cache[position] for position in positions]
        found: dict[str, Any] = {}
        for column in self._columns:
            found[column.name], found[column.length_name] = column.read(clips)
        if "speaker" in self._fields.names:
            found["speaker"] = _numbers([self._speakers.get(clip.speaker or "", -1) for clip in clips])
        if "language" in self._fields.names:
            found["language"] = _numbers([self._languages.get(clip.language or "", -1) for clip in clips])
        if "ids" in self._fields.names:
            found["ids"] = self._cache._core.ids(positions)
        return _Rows(TensorBatch((name, found[name]) for name in self._fields.names), len(positions))

    @staticmethod
    def collate(samples: Sequence[Any]) -> TensorBatch:
        """Returns the batch that the samples came in, or a batch made from them."""
        if isinstance(samples, _Rows):
            return samples.batch
        return TensorBatch(torch.utils.data.default_collate([dict(sample) for sample in samples]))

    def _position(self, index: int) -> int:
        count = len(self)
        if not -count <= index < count:
            raise NotFoundError(f"there is no clip {index}: the data set has {count}")
        return index % count if self._positions is None else int(self._positions[index])


class _Rows(list[TensorBatch]):
    """The samples of a batch, which are views of it."""

    def __init__(self, batch: TensorBatch, count: int) -> None:
        super().__init__(TensorBatch((name, value[row]) for name, value in batch.items()) for row in range(count))
        self.batch = batch


class _PaddedColumn:
    """Reads records of a column, each padded as in a batch."""

    def __init__(
        self,
        cache: Cache,
        on_range: OnRange,
        name: str,
        dtype: str | None,
        pad_value: float | None,
        normalize: str,
        mean: Sequence[float],
        std: Sequence[float],
    ) -> None:
        if normalize != "none":
            raise UnsupportedError(
                f"column '{name}': clips by position are as stored; normalize them in the model, or "
                "take xp.torch.Loader or BatchDataset"
            )
        column = cache.columns[name]
        self.name, self.length_name = name, length_field(name)
        self._shape = column.shape
        self._on_range = on_range
        self.saturated_count = 0
        self._dtype = numpy_dtype(dtype or column.dtype, f"column '{name}'")
        # As in C++, where the number is a float32 before it becomes a half float.
        is_float = self._dtype.kind not in "iu"
        self._pad_value = None if pad_value is None else np.float32(pad_value) if is_float else int(pad_value)

    def read(self, clips: Sequence[Clip]) -> tuple[Any, Any]:
        """Returns (numbers, lengths) as tensors."""
        numbers = np.empty((len(clips), *self._shape), self._dtype)
        lengths = []
        for row, clip in zip(numbers, clips):
            record, padding = clip._record(self.name)
            lengths.append(len(record))
            row[: len(record)] = self._fitted(record, clip)
            if len(record) < len(row):
                row[len(record) :] = self._padding(padding, clip) if self._pad_value is None else self._pad_value
        return _tensor(numbers), _numbers(lengths)

    def _fitted(self, numbers: npt.NDArray[Any], clip: Clip) -> npt.NDArray[Any]:
        if numbers.dtype == self._dtype:
            return numbers
        wide = "float32" if numbers.dtype.name != "float32" or self._dtype.name != "float16" else "bfloat16 or float32"
        narrow, count = fitted(
            numbers,
            self._dtype,
            self._on_range,
            lambda _: f"column '{self.name}' of clip {clip.id}",
            f"read the column as {wide}",
        )
        self.saturated_count += count
        return narrow

    def _padding(self, value: float, clip: Clip) -> Any:
        is_float = self._dtype.kind not in "iu"
        return self._fitted(np.array([value], np.float32), clip)[0] if is_float else value


def _tensor(numbers: npt.NDArray[Any]) -> Any:
    if numbers.dtype.name == "bfloat16":
        return torch.from_numpy(numbers.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(numbers)


def _numbers(values: Sequence[int]) -> Any:
    return torch.tensor(values, dtype=torch.int32)


def _positions(cache: Cache, options: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    """Returns the positions of the chosen clips, in canonical order.

    A reader knows them. It reads one frame of each record, of the smallest column.
    """
    lightest = min(
        (column for column in cache.columns.values() if not column.missing), key=lambda column: math.prod(column.shape)
    )
    chosen = {name: options[name] for name in ("split", "where", "ids", "exclude")}
    reader = cache.reader(
        **chosen,
        columns=[lightest.name],
        crop={"frames": 1},
        batch_size=_ROWS_TO_FIND,
        shuffle="none",
        drop_last=False,
        verify=False,
        on_damage="ignore",
    )
    with reader:
        found = [np.array(batch.positions).astype(np.int64) for batch in reader] if len(reader) else []
    return np.concatenate(found) if found else np.empty(0, np.int64)


class BatchDataset(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """Whole batches, for `DataLoader(dataset, batch_size=None, num_workers=N)`.

    They are the same batches in the same order for any number of workers.

        dataset = xp.torch.BatchDataset("./cache", batch_size=32, split="train", seed=7)
        loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2)
        for epoch in range(100):
            dataset.set_epoch(epoch)
            for batch in loader:
                step(batch)

    Without set_epoch(), each pass is of the epoch after the last one, with workers too. A run that
    goes on after an interruption needs it, or a loaded state. Ranks share an epoch as in `Loader`;
    workers share their rank's batches in turn. The state is that of the data set's own process.
    With workers, use torchdata's StatefulDataLoader, which asks each of them.

    Args:
        cache: An open cache, the path of one, or a list of paths.
        fields: The entries of a batch, as for `Loader`.
        rank, world_size: This process's share. None: those of `torch.distributed`.
        options: The other arguments of `xp.Cache.reader()`.
    """

    def __init__(
        self,
        cache: CacheOrPath,
        *,
        fields: Iterable[str] | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        self._cache = opened_cache(cache, "BatchDataset")
        options = reader_options(self._cache, options)
        self._fields = Fields(self._cache, options.get("columns"), fields)
        self._options = {**options, "columns": self._fields.narrowed(options.get("columns"))}
        self._share: Share = given_share(rank, world_size) or share
        self._shared = SharedEpoch()
        self._is_over = False  # the last pass was of this process, and came to its end
        self._has_warned = False
        self._state: dict[str, Any] | None = None  # the loaded state
        self._left: dict[str, Any] | None = None  # the state at the last pass's end
        self._running: Reader | None = None
        self._workers = self._world_size = 1  # of the running pass

    @property
    def epoch(self) -> int:
        """The epoch of the last pass; where the next one is placed, or the last one is over, of that.

        A pass in workers is not seen to be over.
        """
        return self._shared.last(self._rank())[0] + self._is_over

    def set_epoch(self, epoch: int) -> None:
        """Makes the next pass one of this epoch, in all workers.

        It begins at the epoch's beginning, or where a loaded state of the same epoch says.
        """
        share = self._known_share()
        refuse_second_share(share[1] if share else 1)
        has_begun = self._shared.last(self._rank())[1]
        self._shared.place(epoch, share)
        self._is_over = False
        # A state counts for one pass of its epoch.
        self._state = None if self._state is not None and (has_begun or self._state["epoch"] != epoch) else self._state
        self._left = None if self._left is not None and self._left["epoch"] != epoch else self._left

    def _known_share(self) -> tuple[int, int] | None:
        """Returns (rank, world size), or None before the ranks have met."""
        try:
            return self._share()
        except InvalidArgumentError:
            return None

    def _rank(self) -> int:
        share = self._known_share()
        return share[0] if share else 0

    def __len__(self) -> int:
        """Returns the number of batches of an epoch, for every rank and any number of workers."""
        rank, world_size = self._share()
        with self._cache.reader(**self._options, rank=rank, world_size=world_size) as reader:
            return len(reader)

    def __iter__(self) -> Iterator[TensorBatch]:
        refuse_batches_of_batches()
        self._check_for_resumption()
        worker = torch.utils.data.get_worker_info()
        # A worker's pass begins with it. In this process a pass begins with its first batch: code
        # that only asks for an iterator loses no epoch.
        epoch = None if worker is None else self._shared.begin(self._share()[0], worker)
        if worker is not None and worker.id == 0 and self._shared.is_known_to_none:
            self._warn_of_same_epoch()
        return self._pass(worker, epoch)

    @property
    def _is_shuffled(self) -> bool:
        return self._options.get("shuffle", "global") not in (None, "none")

    def _check_for_resumption(self) -> None:
        worker = torch.utils.data.get_worker_info()
        if (worker is None or worker.id == 0) and self._shared.is_new(self._rank()):
            check_for_resumption(self._is_shuffled)

    def _warn_of_same_epoch(self) -> None:
        if self._has_warned or not self._is_shuffled:
            return
        self._has_warned = True
        warn(
            "this worker has the BatchDataset as a copy that shares no memory, so it cannot know of earlier "
            f"passes, and each pass may be epoch {self.epoch}: call dataset.set_epoch(epoch) before each one"
        )

    def _pass(self, worker: Any, epoch_number: int | None) -> Iterator[TensorBatch]:
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        if workers > 1 and self._options.get("buckets"):
            raise InvalidArgumentError(
                "buckets go with at most one worker: num_workers=1, or xp.torch.Loader, which needs none"
            )
        rank, world_size = self._share()
        # Worker w of W reads the batches w, w + W, ... of its rank, in the order in which
        # DataLoader takes them. The epoch's end is that of the rank without workers, so steps are
        # counted here instead of cut by drop_last.
        options = self._options if workers == 1 else {**self._options, "drop_last": False}
        reader = self._cache.reader(**options, rank=number * world_size + rank, world_size=workers * world_size)
        if epoch_number is None:
            epoch_number = self._shared.begin(rank, None)
        reader.set_epoch(epoch_number)
        if self._state is not None and self._state["epoch"] == epoch_number:
            reader.load_state_dict(self._state)
        self._state, self._running, self._is_over = None, reader, False
        self._workers, self._world_size = workers, world_size
        epoch = Epoch.of(reader, {**DEFAULTS, **self._options}, world_size) if workers > 1 else None
        # None: all steps that the reader has.
        steps = (
            None if epoch is None else epoch.steps_of_worker(reader.state_dict()["samples_consumed"], workers, number)
        )
        # A worker's tensors are copied on their way to the parent. In this process they are copies,
        # too, because the user of a DataLoader may keep them.
        make = HostTensors(self._fields, "slot" if worker else "own")
        try:
            # No variable here keeps a batch, and its slot, while the batch is in use.
            yield from map(make, itertools.islice(reader, steps))
            self._is_over = worker is None and self._running is reader
        finally:
            if self._running is reader:  # no other pass has begun
                self._left, self._running = reader.state_dict(), None
            reader.close()

    def state_dict(self) -> dict[str, Any]:
        """Returns where the pass of this process stands: after the last batch that was handed out."""
        if self._running is not None:
            state = self._running.state_dict()
            if self._workers > 1:
                return state
            epoch = Epoch.of(self._running, {**DEFAULTS, **self._options}, self._world_size)
            return behind_last_batch(state, epoch)
        known = self._state or self._left
        if known is not None:
            return dict(known)
        rank, world_size = self._share()
        with self._cache.reader(**self._options, rank=rank, world_size=world_size) as reader:
            reader.set_epoch(self.epoch)
            return reader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next pass go on, in the state's epoch, after the batches that were handed out."""
        self.set_epoch(state["epoch"])
        self._state = dict(state)
        self._left = self._running = None

    def __getstate__(self) -> dict[str, Any]:
        self._check_for_resumption()  # here, because a spawned worker does not see who asks
        # A spawned worker does not know the parent's torch.distributed. A process that is alone may
        # start ranks, which ask for themselves.
        found = self._known_share()
        known = self._share if found is None or found[1] == 1 else given_share(*found)
        return {**self.__dict__, "_running": None, "_share": known}
