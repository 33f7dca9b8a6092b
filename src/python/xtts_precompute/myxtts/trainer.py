"""Makes the trainer's LJSpeechDataset with another create_tf_dataset().

Its clips, tokens and order stay the trainer's own; mels come from a cache.
"""

from __future__ import annotations

import wave
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import CorruptError, InternalError, InvalidArgumentError, MismatchError, NotFoundError
from .._base.warn import warn
from .._base.words import counted
from .features import Asked
from .items import Folder, Items
from .lists import sound_beside
from .plan import folder_of, ready, rows_of
from .training import Training, say

_BATCHES_READ_AT_ONCE = 2


def cached(theirs: type, training: Training) -> type:
    """Returns a subclass of the trainer's class, whose batches come from the caches of a training."""
    made: list[weakref.ref[Any]] = []

    class LJSpeechDataset(theirs):  # type: ignore[misc]
        _xtts_base = theirs

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            made.append(weakref.ref(self))

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
            own = super().create_tf_dataset
            mode = training.wish.mode_of(self.config)
            if mode == "runtime":
                say(f"{self.subset}: the trainer's own loading (mode runtime)")
                return own(**given)
            _check_clips(self, training)
            try:
                # The trainer makes all of its data sets first: one error then tells of all of them.
                others = [one for one in (ref() for ref in made) if one is not None and one is not self]
                folder, items = _items_of(self, others, training, mode)
            except (NotFoundError, MismatchError, CorruptError) as problem:
                if mode != "auto":
                    raise
                warn(f"{self.subset}: the trainer's own loading (mode auto), because {problem}")
                return own(**given)
            batches = TrainerBatches(self, folder.asked, items, int(batch_size or self.config.batch_size), training)
            rest = (int(buffer_size_multiplier), bool(drop_remainder))
            if self.subset == "train":
                # Without buffers, so that a batch costs what it costs.
                training.compares(
                    self,
                    lambda: own(**{**given, "prefetch": False}),
                    lambda: batches.dataset(shuffle, repeat, False, *rest),
                )
            return batches.dataset(shuffle, repeat, prefetch, *rest)

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


def _check_clips(theirs: Any, training: Training) -> None:
    """Warns of clips that the trainer leaves out since they are no WAV files. Raises if it has none at all."""
    table, splits = theirs.metadata_file, theirs.splits_file
    listed, others = sound_beside(str(table), str(theirs.wavs_dir))
    left_out = sum(others.values())
    if left_out:
        kinds = ", ".join(f"{count} {suffix or 'without a suffix'}" for suffix, count in sorted(others.items()))
        divided = "" if theirs.use_custom_metadata else f" and delete {splits}, which divides the clips"
        training.say_once(
            f"warning: {left_out} of {listed} clips of {table} are not trained on: the trainer loads {theirs.wavs_dir}/"
            f"ID.wav alone, and these are {kinds}. Convert them to .wav{divided}; or train in a loop of your own "
            "(xp.myxtts.open), which takes every clip of the cache"
        )
    if len(theirs) or theirs.subset not in ("train", "val"):
        return
    if theirs.use_custom_metadata or not len(theirs.metadata):
        raise InvalidArgumentError(
            f"{theirs.subset} has no clips, and the trainer stops without any: no line of {table} has its sound in "
            f"{theirs.wavs_dir}/ID.wav"
        )
    raise InvalidArgumentError(
        f"{theirs.subset} has none of the {counted(len(theirs.metadata), 'clip', 'clips')} of {table}, and the trainer "
        f"stops without any. Delete {splits}, which divides them, and raise data.{theirs.subset}_split or add clips"
    )


def _items_of(theirs: Any, others: list[Any], training: Training, mode: str) -> tuple[Folder, Items]:
    """Returns the records of a data set. If it lacks some, the error tells of the other sets, too."""
    wish, folder = training.wish, folder_of(theirs, training.wish)
    try:
        return folder, ready([folder], wish, mode)[0]
    except (NotFoundError, MismatchError, CorruptError):
        beside = [folder_of(one, wish) for one in others if one.config is theirs.config and one.subset != "test"]
        return folder, ready([folder, *beside], wish, mode)[0]


class TrainerBatches:
    """The batches of one of the trainer's data sets."""

    def __init__(self, theirs: Any, asked: Asked, items: Items, batch_size: int, training: Training) -> None:
        self._theirs = theirs
        self._batch_size = batch_size
        self._items = items
        self._asked = asked
        self._training = training
        self._tokens = tokens_of(theirs)
        self._pads_to = int(theirs.config.max_text_length) if asked.pads else None
        self._check_text()
        if asked.native and not asked.takes:
            _warn_of_rate(items.ids, rows_of(theirs))
        self._valid = np.array([len(tokens) > 0 for tokens in self._tokens], bool) & (items.frames > 0)
        training.takes_features(items.paths, asked)
        self._tell()

    def _tell(self) -> None:
        asked, items = self._asked, self._items
        kept, lacking = int(self._valid.sum()), len(items.lacking)
        # Clips that are longer in the cache are cut where the trainer cuts.
        cut = int((items.frames > (asked.max_frames or np.inf)).sum()) if asked.takes or not asked.native else 0
        recipes = list(dict.fromkeys(recipe["name"] for recipe in items.recipes))
        notes = [f"recipe {' and '.join(recipes) or asked.recipe}"]
        if asked.native and not asked.takes:
            notes[0] += ", as use_tf_native_loading has it"
        notes += [f"{cut} are cut at max_mel_frames"] if cut else []
        notes += [f"its build left out {lacking}, rejects.jsonl says why"] if lacking else []
        say(
            f"{self._theirs.subset}: {kept} of {counted(len(self._valid), 'clip', 'clips')} from "
            f"{', '.join(items.paths)} ({'; '.join(notes)})"
        )

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
        self._training.reader_stats.add(len(places), mel.nbytes + padded.nbytes)
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
