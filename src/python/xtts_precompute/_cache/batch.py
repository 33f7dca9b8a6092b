"""Batches: leases on a reader's slots."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.arrays import Array, to_array
from .._base.choices import no_such, whole
from .._base.device_arrays import DeviceArray
from .._base.errors import InvalidArgumentError, NotFoundError

_HOST = (1, 0)  # DLPack's kDLCPU


def length_field(column: str) -> str:
    """Returns the name of a column's lengths: `text_len` for tokens, else `<column>_len`."""
    return "text_len" if column == "tokens" else column + "_len"


class Batch:
    """Several clips' columns, as read-only arrays of fixed shape in one of the reader's slots.

    `batch.mel` and `batch["mel"]` are the column's array, [batch size, frames, mels] for a mel.
    `batch.mel_len` has the true lengths, int32 [batch size]; they are 0 in rows without a clip.
    `speaker` and `language` are numbers in the cache's tables; -1 means unknown. A column with the
    name of an attribute of Batch is found by `batch[...]` only.

        for batch in reader:
            step(batch.mel, batch.mel_len, batch.tokens, batch.text_len)

    The slot returns to the reader when the batch and all arrays taken from it are gone: by `del`,
    by the loop's next turn, by `release()`, or at the end of a `with` block. A batch may be dropped
    in any thread.
    """

    __slots__ = ("__weakref__", "_arrays", "_cache", "_core", "_ids")

    def __init__(self, core: _core.Batch, cache: Any) -> None:
        self._core: _core.Batch | None = core
        self._cache = cache  # the Cache or RuntimeClips, which have the clips' ids
        self._arrays: dict[str, Any] = {}
        self._ids: list[str] | None = None

    def _held(self) -> _core.Batch:
        if self._core is None:
            raise InvalidArgumentError("the batch was released: take its arrays before that; they stay valid")
        return self._core

    def __len__(self) -> int:
        """Returns the number of rows, including rows without a clip."""
        return len(self._held())

    @property
    def valid_count(self) -> int:
        """The number of rows that hold a clip. These rows come first.

        It is less than len() in an epoch's padded last batch, and where a damaged or rejected clip
        was left out.
        """
        return self._held().valid_count

    @property
    def bucket(self) -> int:
        """The number of the batch's bucket in the reader's `buckets`; 0 without buckets."""
        return self._held().bucket

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._held().column_names)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    __iter__ = None  # Python would try batch[0], batch[1], ..., which do not exist

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise InvalidArgumentError(
                f"a batch's columns are asked for by name, not by {name!r}: batch.mel[row] is a row"
            )
        array = self._arrays.get(name)
        if array is None:
            parts = self._held().column(name)
            if parts is None:
                raise NotFoundError(no_such("column", name, self.columns))
            memory, dtype, shape = parts
            if memory.device == _HOST:
                array = to_array(memory, dtype, tuple(shape), f"column '{name}'")
            else:
                array = DeviceArray(memory, dtype, tuple(shape), self._held().let_wait)
            self._arrays[name] = array
        return array

    @property
    def device(self) -> str:
        """Where the columns lie: "cpu", or "cuda:0". All other arrays lie in the host's memory."""
        held = self._held()
        found: Any = held.column(held.column_names[0])
        kind, number = found[0].device
        return "cpu" if (kind, number) == _HOST else f"cuda:{number}" if kind == 2 else f"device {kind}:{number}"

    def wait(self) -> None:
        """Waits until the columns may be read; on the CPU they always may."""
        self._held().wait()

    def let_wait(self, stream: int) -> None:
        """Makes a stream of the columns' device wait until they may be read, and returns at once.

        The slot is not filled again before the work is done that the stream has been given when the
        batch and all its arrays are gone. `stream` is a handle, such as
        `torch.cuda.current_stream().cuda_stream`. On the CPU this does nothing.
        """
        self._held().let_wait(whole("stream", stream, 0, 2**64 - 1))

    def on_device(self, field: str) -> Any:
        """Returns the numbers of a field where the columns lie.

        `field` is "speaker", "language", or a column's lengths such as "mel_len". On the CPU they
        are the arrays that the batch has anyway.
        """
        held = self._held()
        if field in ("speaker", "language"):
            memory = held.speakers_on_device() if field == "speaker" else held.languages_on_device()
        else:
            found = held.lengths_on_device("tokens" if field == "text_len" else field.removesuffix("_len"))
            if found is None:
                raise NotFoundError(no_such("field", field, ["speaker", "language", *map(length_field, self.columns)]))
            memory = found
        if memory.device == _HOST:
            return to_array(memory, "int32", (len(held),), field)
        return DeviceArray(memory, "int32", (len(held),), held.let_wait)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for names that are not attributes: columns and their lengths.
        if name.startswith("_"):
            raise AttributeError(name)
        array = self._arrays.get(name)
        if array is not None:
            return array
        held = self._held()
        parts = held.column(name)
        if parts is not None:
            return self[name]
        if name.endswith("_len"):
            return self.lengths("tokens" if name == "text_len" else name[:-4])
        raise AttributeError(no_such("column", name, self.columns))

    def lengths(self, column: str) -> Array:
        """Returns a column's true lengths by row, int32.

        They are also `batch.<column>_len`, and `batch.text_len` for tokens.
        """
        if column not in self.columns:
            raise AttributeError(no_such("column", column, self.columns))
        name = column + "_len"
        array = self._arrays.get(name)
        if array is None:
            held = self._held()
            memory = held.lengths(column)
            if memory is None:
                raise AttributeError(no_such("column", column, self.columns))
            array = self._arrays[name] = to_array(memory, "int32", (len(held),), name)
        return array

    @property
    def speaker(self) -> Array:
        """The speakers' numbers, int32 [batch size]; -1: unknown, or no clip.

        A number is a place in `cache.speakers`.
        """
        held = self._held()
        return to_array(held.speakers(), "int32", (len(held),), "speaker")

    @property
    def language(self) -> Array:
        """The languages' numbers, int32 [batch size]; -1: unknown, or no clip.

        A number is a place in `cache.languages`.
        """
        held = self._held()
        return to_array(held.languages(), "int32", (len(held),), "language")

    @property
    def positions(self) -> Array:
        """The clips' positions in the cache, uint64 [valid_count].

        `cache[int(batch.positions[0])]` is the first row's clip.
        """
        held = self._held()
        return to_array(held.positions(), "uint64", (held.valid_count,), "positions")

    @property
    def ids(self) -> list[str]:
        """The ids of the rows that hold a clip, looked up at the first use."""
        if self._ids is None:
            self._ids = self._cache._core.ids(self.positions.tolist())
        return self._ids

    def is_view(self, column: str) -> bool:
        """Returns whether the column's array lies in the cache's file itself, without a copy."""
        if column not in self:
            raise NotFoundError(no_such("column", column, self.columns))
        return self._held().is_view(column)

    def release(self) -> None:
        """Gives up the batch's own hold on its slot.

        Arrays that you have taken stay valid and keep the slot. A second call does nothing.
        """
        self._arrays.clear()
        self._core = None

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def __dir__(self) -> list[str]:
        if self._core is None:
            return list(super().__dir__())
        lengths = [name + "_len" for name in self.columns] + ["text_len"] * ("tokens" in self)
        return [*super().__dir__(), *self.columns, *lengths]

    def __repr__(self) -> str:
        if self._core is None:
            return "<Batch, released>"
        shown = []
        for name in self.columns:
            _, dtype, shape = self._core.column(name)  # type: ignore[misc]
            shown.append(f"{name} {list(shape)} {dtype}")
        return f"<Batch of {self.valid_count} clips: {', '.join(shown)}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a batch is a lease on memory of this process and cannot be pickled: pickle copies of its arrays"
        )
