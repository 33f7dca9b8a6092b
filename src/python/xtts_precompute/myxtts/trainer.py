"""Makes the trainer's LJSpeechDataset with another create_tf_dataset().

Its clips, tokens and order stay the trainer's own; mels come from a cache.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
import wave
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import CorruptError, InternalError, InvalidArgumentError, MismatchError, NotFoundError
from .._base.warn import warn
from .._base.words import counted
from .features import Asked, MelLength, asked_by, has_other_lengths, missing_features
from .items import Items, find_items, rows_of

_SHOWN = 3
_BATCHES_READ_AT_ONCE = 2


@dataclasses.dataclass(frozen=True)
class Installed:
    """What the trainer's data sets are to read."""

    caches: tuple[str, ...]
    mode: str | None
    mel_len: MelLength


def cached(theirs: type, wish: Installed) -> type:
    """Returns a subclass of the trainer's class, whose batches come from the given caches."""

    class LJSpeechDataset(theirs):  # type: ignore[misc]
        _xtts_base = theirs

        def create_tf_dataset(
            self,
            batch_size: int | None = None,
            shuffle: bool = True,
            repeat: bool = True,
            prefetch: bool = True,
            memory_cache: bool = False,
            num_parallel_calls: int | None = None,
            buffer_size_multiplier: int = 10,
            drop_remainder: bool = False,
            **more: Any,
        ) -> Any:
            given = {"batch_size": batch_size, "shuffle": shuffle, "repeat": repeat, "prefetch": prefetch,
                     "memory_cache": memory_cache, "num_parallel_calls": num_parallel_calls,
                     "buffer_size_multiplier": buffer_size_multiplier, "drop_remainder": drop_remainder,
                     **more}  # fmt: skip
            mode = wish.mode or getattr(self.config, "preprocessing_mode", None) or "precompute"
            if mode == "runtime":
                _say(f"{self.subset}: the trainer's own loading (mode runtime)")
                return super().create_tf_dataset(**given)
            try:
                batches = TrainerBatches(self, wish, int(batch_size or self.config.batch_size))
            except (NotFoundError, MismatchError, CorruptError) as problem:
                if mode == "precompute":
                    raise
                warn(f"{self.subset}: the trainer's own loading (mode auto), because {problem}")
                return super().create_tf_dataset(**given)
            return batches.dataset(shuffle, repeat, prefetch, int(buffer_size_multiplier), bool(drop_remainder))

    # The trainer's versions before 51874c5 compute these ahead, and read them from files of their
    # own.
    nothing: dict[str, Callable[..., Any]] = {
        "precompute_mels": lambda self, *_, **__: None,
        "precompute_tokens": lambda self, *_, **__: None,
        "verify_and_fix_cache": lambda self, *_, **__: {"checked": 0, "fixed": 0, "failed": 0},
        "filter_items_by_cache": lambda self, *_, **__: len(self),
    }
    for name, function in nothing.items():
        if hasattr(theirs, name):
            setattr(LJSpeechDataset, name, function)
    LJSpeechDataset.__module__ = theirs.__module__
    return LJSpeechDataset


class TrainerBatches:
    """The batches of one of the trainer's data sets."""

    def __init__(self, theirs: Any, wish: Installed, batch_size: int) -> None:
        self._theirs = theirs
        self._batch_size = batch_size
        self._asked = asked_by(theirs, wish.mel_len)
        self._items = self._open(wish)
        self._tokens = tokens_of(theirs)
        self._pads_to = int(theirs.config.max_text_length) if self._asked.pads else None
        self._check_text()
        if self._asked.native:
            _warn_of_rate(self._items.ids, rows_of(theirs))
        self._valid = np.array([len(tokens) > 0 for tokens in self._tokens]) & (self._items.frames > 0)
        kept = int(self._valid.sum())
        # Clips that are longer in the cache are cut where the trainer cuts.
        cut = 0 if self._asked.native else int((self._items.frames > (self._asked.max_frames or np.inf)).sum())
        _say(
            f"{theirs.subset}: {kept} of {counted(len(self._valid), 'clip', 'clips')} from "
            f"{', '.join(self._items.paths)} "
            f"(recipe {self._asked.recipe}"
            f"{', as use_tf_native_loading has it' if self._asked.native else ''}"
            f"{f'; {cut} are cut at max_mel_frames' if cut else ''})"
        )

    def _open(self, wish: Installed) -> Items:
        items = find_items(self._theirs, wish.caches, lambda path: missing_features(self._asked, path), self._how)
        lacking = items.lacking
        if len(lacking):
            named = ", ".join(items.ids[place] for place in lacking[:_SHOWN]) + (
                ", ..." if len(lacking) > _SHOWN else ""
            )
            overwrite = items.beside in items.opened and has_other_lengths(self._asked, items.beside)
            raise MismatchError(
                f"{len(lacking)} of the {len(items.ids)} clips that the trainer has for "
                f"{self._theirs.subset} are not in {', '.join(wish.caches)}: {named}. "
                f"{_why_lacking(items, wish)}{self._how(items.beside, overwrite)}"
            )
        short = items.cut_before(self._asked.max_frames)
        if len(short):
            raise MismatchError(
                f"{counted(len(short), 'clip is', 'clips are')} cut in the cache, and the trainer reads "
                f"{self._asked.max_frames or 'all'} of their frames "
                f"({items.ids[short[0]]}). {self._how(items.beside, overwrite=True)}"
            )
        return items

    def _how(self, path: str, overwrite: bool = False) -> str:
        return how_to_make(self._theirs, self._asked, path, overwrite)

    def _check_text(self) -> None:
        longest = max(map(len, self._tokens), default=0)
        if self._pads_to is not None and longest > self._pads_to:
            count = sum(len(tokens) > self._pads_to for tokens in self._tokens)
            raise InvalidArgumentError(
                f"{count} texts have more than {self._pads_to} tokens (max_text_length), up to "
                f"{longest}: pad_to_fixed_length cannot pad them, and the "
                "trainer's own padded_batch fails at them, too. Set data.max_text_tokens: "
                f"{self._pads_to}, which cuts them"
            )

    # ---- as tf.data

    def dataset(
        self, shuffle: bool, repeat: bool, prefetch: bool, buffer_size_multiplier: int, drop_remainder: bool
    ) -> Any:
        from ..tensorflow.tf_data import calls, tf

        self._calls = calls
        count, batch_size, asked = len(self._valid), self._batch_size, self._asked
        # A step that is compiled for one shape takes no short batch; the trainer would give it one.
        drop_remainder = drop_remainder or (asked.pads and self._theirs.subset == "train")
        if repeat and drop_remainder and int(self._valid.sum()) < batch_size:
            raise InvalidArgumentError(
                f"{self._theirs.subset} has {int(self._valid.sum())} clips, which fill no batch of {batch_size}"
            )
        order = tf.data.Dataset.from_tensor_slices(np.arange(count, dtype=np.int32))
        if shuffle and count:
            # The buffer is as large as the trainer's, so that a seed of TensorFlow's gives the
            # trainer's order.
            order = order.shuffle(
                min(count, max(1000, batch_size * buffer_size_multiplier)), reshuffle_each_iteration=True
            )
        if not self._valid.all():
            valid = tf.constant(self._valid)
            order = order.filter(lambda place: valid[place])
        kinds = (tf.int32, tf.float32, tf.int32, tf.int32)
        rows = batch_size if drop_remainder else None
        shapes = ((rows, self._pads_to), (rows, asked.frames, asked.mels), (rows,), (rows,))

        def read(places: Any) -> Any:
            parts = tf.numpy_function(self._read_in_time, [places], kinds, stateful=False)
            for part, shape in zip(parts, shapes):
                part.set_shape(shape)
            return tuple(parts)

        batches = order.batch(batch_size, drop_remainder=drop_remainder)
        if repeat:
            batches = batches.repeat()
        ready = self._ready(prefetch)
        # The trainer draws the orders of later epochs as far ahead as its buffer reaches. So many
        # places of clips are drawn ahead here, and few batches of them.
        waiting = int(getattr(self._theirs.config, "pipeline_buffer_size", 0) or 0) - ready - _BATCHES_READ_AT_ONCE
        if prefetch and waiting > 0:
            batches = batches.prefetch(waiting)
        return self._ahead(tf, batches.map(read, num_parallel_calls=_BATCHES_READ_AT_ONCE, deterministic=True), ready)

    def _ready(self, prefetch: bool) -> int:
        """Returns the number of batches that are kept ready."""
        return max(2, int(getattr(self._theirs.config, "prefetch_buffer_size", 2) or 2)) if prefetch else 0

    def _ahead(self, tf: Any, made: Any, ready: int) -> Any:
        config = self._theirs.config
        if ready:
            made = made.prefetch(ready)
        apart = getattr(config, "data_gpu", None) is not None and getattr(config, "model_gpu", None) is not None
        wanted = apart or (getattr(config, "enhanced_gpu_prefetch", True) and getattr(config, "prefetch_to_gpu", True))
        if wanted and tf.config.list_logical_devices("GPU"):
            made = made.apply(tf.data.experimental.prefetch_to_device("/GPU:0", 2))
        return made

    def _read_in_time(self, places: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
        """Reads, except at the interpreter's end, which a thread of TensorFlow's would not survive."""
        with self._calls:
            if self._calls.is_ending:
                raise InternalError("the interpreter ends")
            return self.read(places)

    def read(self, places: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
        """Returns (tokens, mel, text_len, mel_len) of the clips at these places of the trainer's."""
        tokens = [self._tokens[place] for place in places]
        text_len = np.array([len(one) for one in tokens], np.int32)
        padded = np.zeros((len(places), self._pads_to or int(text_len.max(initial=0))), np.int32)
        for row, one in zip(padded, tokens):
            row[: len(one)] = one
        mel, mel_len = self._items.mels(places, self._asked.max_frames, self._asked.frames)
        if self._asked.says_frames:
            mel_len = np.full(len(places), self._asked.frames, np.int32)
        return padded, mel, text_len, mel_len


def _warn_of_rate(ids: list[str], rows: list[Any]) -> None:
    """Warns if the first clip's file is not at 22,050 Hz, which the trainer's native loader assumes."""
    try:
        with wave.open(str(rows[0]["audio_path"])) as file:
            rate = file.getframerate()
    except (IndexError, KeyError, OSError, EOFError, wave.Error):
        return
    if rate != 22050:
        warn(
            f"{ids[0]} has {rate} Hz. use_tf_native_loading takes its samples for 22050 Hz, "
            f"{rate / 22050:.2g} times too slow; the cache has it resampled. "
            "Losses are other ones than before"
        )


def tokens_of(theirs: Any) -> list[npt.NDArray[np.int32]]:
    """Returns the tokens of each of the trainer's clips, made and cut as the trainer does."""
    most = int(getattr(theirs.config, "max_text_tokens", 0) or 0)
    made = []
    for row in rows_of(theirs):
        language = theirs._detect_language(row["transcription"], str(row["id"]))
        words = theirs._apply_phone_level_normalization(row["normalized_transcription"], language)
        tokens = np.array(theirs.text_processor.text_to_sequence(words), np.int32)
        made.append(tokens[:most] if most > 0 else tokens)
    return made


def _why_lacking(items: Items, wish: Installed) -> str:
    """Returns a sentence about why clips are missing."""
    if items.beside in wish.caches and items.beside not in items.opened:
        return f"The cache {items.beside} is not there, or not finished. "
    if items.beside not in wish.caches:
        return (
            f"The trainer's folders have a cache each: give both, --cache {wish.caches[-1]} --cache "
            f"{items.beside}, or install([...]). "
        )
    return "A build's rejects.jsonl says why it left a clip out. "


def how_to_make(theirs: Any, asked: Asked, path: str, overwrite: bool) -> str:
    """Returns the command that makes the cache for this data set's folder."""
    words = ["xtts-precompute", os.fspath(theirs.data_path), path, *asked.arguments()]
    config = theirs.config
    lists = {
        "metadata_train_file": getattr(config, "metadata_train_file", None),
        "metadata_eval_file": getattr(config, "metadata_eval_file", None),
    }
    found = {key: name for key, name in lists.items() if name and os.path.isfile(os.path.join(theirs.data_path, name))}
    if len(found) == 2:
        words += _lists(config, found, ("train", "eval"))
    elif found:
        # For the program a single list is the first one, whatever the trainer uses it for.
        (key, name), *_ = found.items()
        words += _lists(config, {"metadata_train_file": name}, (key.split("_")[1],))
    words += ["--overwrite"] if overwrite else []
    return (
        "This overwrites it (or choose another cache):\n    " if overwrite else "This makes it:\n    "
    ) + shlex.join(words)


def _lists(config: Any, found: dict[str, str], folders: tuple[str, ...]) -> list[str]:
    settings = [f"corpus.{key}={name}" for key, name in found.items()]
    for place, folder in zip(("train", "eval"), folders):
        given = getattr(config, f"wavs_{folder}_dir", None)
        if given:
            settings.append(f"corpus.wavs_{place}_folder={given}")
    return [word for one in settings for word in ("--set", one)]


def _say(words: str) -> None:
    print(f"xtts-precompute: {words}", file=sys.stderr, flush=True)
