"""Which fields a batch has, in which order, and the dict that carries them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._base.choices import listed, no_such
from .._base.errors import InvalidArgumentError, NotFoundError
from .._cache.batch import Batch, length_field
from .._cache.readable import Readable


class FieldDict(dict[str, Any]):
    """A batch or sample: a dict whose entries are attributes, too: `batch["mel"] is batch.mel`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            chosen = ", ".join(map(repr, self))
            hint = f"; fields=({chosen}, 'ids') gives them" if name == "ids" else ""
            raise AttributeError(no_such("field", name, self) + hint) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(f'{name} {_shown(value)}' for name, value in self.items())}>"


def _shown(value: Any) -> str:
    """Returns a value in short for a batch's repr, such as "[32, 800, 80] float32"."""
    if isinstance(value, list):
        return f"of {len(value)}"
    if not hasattr(value, "shape"):
        return repr(value)
    return f"{list(value.shape)} {str(value.dtype).removeprefix('torch.')}"


class Fields:
    """The fields of batches, in order: columns, their lengths, `speaker`, `language`, `ids`."""

    def __init__(self, cache: Readable, columns: Any, wanted: Iterable[str] | None) -> None:
        if columns is None:
            chosen = list(cache.columns)
        elif isinstance(columns, Mapping):
            chosen = list(columns)
        else:
            chosen = [wish["name"] if isinstance(wish, Mapping) else wish for wish in columns]
        lengths = {length_field(name): name for name in chosen}
        known = [*chosen, *lengths, "speaker", "language", "ids"]
        if isinstance(wanted, str):
            raise InvalidArgumentError(f"fields must be a list of names, not one text: fields=[{wanted!r}]")
        self.names: tuple[str, ...] = tuple(known[:-1] if wanted is None else listed("fields", wanted))
        if not self.names:
            raise InvalidArgumentError(f"fields is empty: fields=None takes all but ids, {', '.join(known)}")
        for name in self.names:
            if name not in known:
                raise NotFoundError(no_such("field", name, known))
        self.column_of = lengths
        """The column of each length."""
        needed = {lengths.get(name, name) for name in self.names}
        # A reader has to read a column, even if only ids and speakers are wanted.
        self.columns = [name for name in chosen if name in needed] or chosen[:1]
        """The offered columns that have to be read."""

    def narrowed(self, columns: Any) -> Any:
        """Returns the reader's argument `columns` without those that no field needs."""
        if columns is None:
            return list(self.columns)
        if isinstance(columns, Mapping):
            return {name: columns[name] for name in self.columns}
        return [wish for wish in columns if (wish["name"] if isinstance(wish, Mapping) else wish) in self.columns]

    def arrays(self, batch: Batch) -> dict[str, Any]:
        """Returns each field's array, over the batch's memory.

        `ids` is a list with one text for each row; rows without a clip, at the end, have "".
        """
        return {name: self._array(batch, name) for name in self.names}

    def device_arrays(self, batch: Batch) -> dict[str, Any]:
        """Returns `arrays()`, with all numbers on the device where the columns lie."""
        found = {}
        for name in self.names:
            on_host = name == "ids" or name in self.columns  # columns lie there already
            found[name] = self._array(batch, name) if on_host else batch.on_device(name)
        return found

    def _array(self, batch: Batch, name: str) -> Any:
        if name in self.columns:
            return batch[name]
        if name in self.column_of:
            return batch.lengths(self.column_of[name])
        if name == "ids":
            return batch.ids + [""] * (len(batch) - batch.valid_count)
        return batch.speaker if name == "speaker" else batch.language
