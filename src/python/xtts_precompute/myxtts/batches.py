"""Batches as the trainer takes them: (tokens, mel, text_len, mel_len), in NumPy or PyTorch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._base.warn import warn
from .._base.words import counted
from .._cache.batch import Batch, length_field
from .._loaders.loader import BatchLoader
from .tokens import TokensOf


@dataclasses.dataclass(frozen=True)
class Shape:
    """How long batches are, and which lengths they tell."""

    tokens: int
    """The tokens to which texts are cut."""
    width: int
    """The tokens to which texts are padded, if they are."""
    frames: int | None
    """The frames to which mels are cut; None: they are not."""
    pads: bool
    """Texts and mels are as long as their limits; else as long as the longest clip."""
    keeps_frames: bool = False
    """Mels are as long as the limit, even if texts are not.

    The trainer's native loader pads before it computes features.
    """
    says_frames: bool = False
    """mel_len is that limit for every clip."""
    fill: float = 0.0
    """What lengthens mels whose records are shorter than a batch."""

    def lengths(self, text_len: Any, mel_len: Any) -> tuple[Any, Any]:
        """Returns the lengths that batches tell, as NumPy arrays or PyTorch tensors."""
        text_len = text_len.clip(max=self.tokens)
        if self.frames is None:
            return text_len, mel_len
        return text_len, mel_len.clip(max=1) * self.frames if self.says_frames else mel_len.clip(max=self.frames)

    def widths(self, text_len: Any, mel_len: Any) -> tuple[int, int | None]:
        """Returns the numbers of tokens and frames of a batch whose clips have these lengths."""
        if self.pads:
            return self.width, self.frames
        return int(text_len.max()), self.frames if self.keeps_frames else int(mel_len.max())


class TrainerBatch(tuple[Any, Any, Any, Any]):
    """A tuple (tokens, mel, text_len, mel_len). The parts are attributes, too.

    `ids` is a list of the clips' ids, or None where they were not asked for.
    """

    ids: list[str] | None

    def __new__(cls, tokens: Any, mel: Any, text_len: Any, mel_len: Any, ids: list[str] | None = None) -> TrainerBatch:
        batch = super().__new__(cls, (tokens, mel, text_len, mel_len))
        batch.ids = ids
        return batch

    tokens = property(lambda self: self[0])
    mel = property(lambda self: self[1])
    text_len = property(lambda self: self[2])
    mel_len = property(lambda self: self[3])

    def __reduce__(self) -> Any:
        return TrainerBatch, (*self, self.ids)


class Columns:
    """Where the tuple's parts are in a batch.

    If there is no column for tokens, the tokenizer makes them now, from the clips' texts.
    """

    def __init__(self, tokens: str, has_ids: bool, tokens_of: TokensOf | None = None, clips: Any = None) -> None:
        self.tokens = tokens
        self.fields = (tokens, "mel", length_field(tokens), "mel_len", *(("ids",) if has_ids else ()))
        self._has_ids = has_ids
        self._tokens_of = tokens_of
        self._clips = clips

    def of(self, batch: Any) -> tuple[Any, Any, Any, Any, list[str] | None]:
        """Returns (tokens, mel, text_len, mel_len, ids) of a batch."""
        if self._tokens_of is None:
            tokens, text_len = batch[self.tokens], _named(batch, length_field(self.tokens))
        else:
            tokens, text_len = self._tokenized(list(batch.ids), len(batch["mel"]), self._tokens_of)
        return tokens, batch["mel"], text_len, _named(batch, "mel_len"), list(batch.ids) if self._has_ids else None

    def _tokenized(self, ids: list[str], rows: int, tokens_of: TokensOf) -> tuple[Any, Any]:
        tokens, lengths = np.zeros((rows, tokens_of.width), np.int32), np.zeros(rows, np.int32)
        for row, clip_id in enumerate(ids):
            made = tokens_of(self._clips.info(clip_id))
            tokens[row, : len(made)] = made
            lengths[row] = len(made)
        return tokens, lengths


def of_width(array: Any, width: int | None, fill: float) -> Any:
    """Returns [clips, width, ...] of NumPy or PyTorch: a view, or a longer copy."""
    if width is None or array.shape[1] >= width:
        return array[:, :width]
    shape = (array.shape[0], width, *array.shape[2:])
    longer = np.full(shape, fill, array.dtype) if isinstance(array, np.ndarray) else array.new_full(shape, fill)
    longer[:, : array.shape[1]] = array
    return longer


def _named(batch: Any, name: str) -> Any:
    return batch[name] if isinstance(batch, Mapping) else getattr(batch, name)


def has_gpu(
    number: int, found: int, framework: str, key: str | None, otherwise: str = "batches stay in the CPU's memory"
) -> bool:
    """Returns whether a framework that finds so many GPUs has this one.

    If not, a warning says so where `key` of the configuration asks for it.
    """
    if number >= found and key is not None:
        warn(f"{key}: {framework} finds {counted(found, 'GPU', 'GPUs')}, so there is no GPU {number}: {otherwise}")
    return number < found


def alone() -> tuple[int, int]:
    """Returns (0, 1): NumPy knows of no ranks."""
    return 0, 1


@dataclasses.dataclass(frozen=True)
class Form:
    """How a reader's batch becomes a TrainerBatch."""

    columns: Columns
    cuts_rows: bool
    """A last batch has only the rows that hold clips."""
    shape: Shape
    convert: Callable[[Any], Any] | None = None

    def of(self, batch: Any) -> TrainerBatch:
        tokens, mel, text_len, mel_len, ids = self.columns.of(batch)
        if self.cuts_rows:
            valid = batch.valid_count if hasattr(batch, "valid_count") else int((mel_len > 0).sum())
            if valid < len(mel):
                tokens, mel, text_len, mel_len = tokens[:valid], mel[:valid], text_len[:valid], mel_len[:valid]
                ids = None if ids is None else ids[:valid]
        if len(mel):
            text_len, mel_len = self.shape.lengths(text_len, mel_len)
            tokens_width, mel_width = self.shape.widths(text_len, mel_len)
            tokens, mel = of_width(tokens, tokens_width, 0), of_width(mel, mel_width, self.shape.fill)
        if self.convert is not None:
            tokens, mel, text_len, mel_len = map(self.convert, (tokens, mel, text_len, mel_len))
        return TrainerBatch(tokens, mel, text_len, mel_len, ids)


class Loader(BatchLoader[TrainerBatch]):
    """Passes over TrainerBatches; each `for` over it is one epoch, and `len()` counts its batches.

    If an epoch's end is kept, its last batch has only the rows that hold clips. Batches are as long
    as the configuration says. Both are views, without a copy, unless records are shorter than that.
    A cache's state is none of clips that are computed at runtime, and the reverse: MismatchError.
    """

    def __init__(self, form: Form, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._form = form

    def _finish(self, made: Any) -> TrainerBatch:
        return self._form.of(super()._finish(made))


class ArrayLoader(Loader):
    """A Loader of NumPy's arrays: of a reader's batches as they are."""

    def _convert(self, batch: Batch) -> Batch:
        return batch
