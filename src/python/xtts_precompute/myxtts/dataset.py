"""The data set that a configuration asks for: clips of a split, and batches of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np

from .._base.choices import one_of, switch, whole
from .._base.errors import InvalidArgumentError, ResourceError
from .._base.warn import warn
from .._cache.ids import position_in
from .batches import ArrayLoader, Columns, Form, Loader, Shape, TrainerBatch, alone, has_gpu
from .config import PARITY, Config, ConfigKey
from .lists import chosen_clips, has_own_split, listed_ids, named_list, own_split, tell_of_checkpoint, tell_of_old_texts
from .source import choose_cache, fill_of, open_source
from .text import NoTextError, own_tokenizer
from .tokens import COLUMN, Tokenizer, TokensOf, with_tokens, without_text

_SPLITS = {"train": "train", "val": "validation", "validation": "validation", "eval": "validation", "test": "test"}
# For keys that a configuration leaves empty. If it lacks them, the builder's reader gives the
# trainer's defaults.
_BATCH_SIZE = 56
_BATCHES_AHEAD = 12
_SLOTS = 4


def open(config: Any, cache: Any = None, data: Any = None, **options: Any) -> Dataset:
    """Returns the Dataset that a configuration asks for; Dataset describes the arguments.

    train = xp.myxtts.open("config.yaml", data="./data")
    for tokens, mel, text_len, mel_len in train.create_tf_dataset():
        step(tokens, mel, text_len, mel_len)
    """
    return Dataset(config, cache, data, **options)


class Dataset:
    """The clips of a split, as the trainer's configuration wants them.

    `len(dataset)` counts its clips, `dataset[i]` is one of them. `create_tf_dataset()`,
    `create_torch_loader()` and `reader()` give batches.

    Args:
        config: The path of a config.yaml; or a dict, or an object with attributes (the trainer's
            DataConfig, a namespace), either with the sections `data`, `training` and `model`, or
            the data section alone.
        cache: The path of the cache, a list of paths, or an open cache. None: `data.cache_path`;
            else DATA.cache, beside the data.
        data: Where the data is. None: `data.dataset_path`. Needed only where something is computed.
        split: "train"; "val", "validation" or "eval"; "test". None: all clips.
        ids: The split's clips, by id. None: the trainer's own split, by its list for the split or
            by `DATA/processed/splits.json`; else that of the cache.
        mode: "precompute": the features of the cache are the features, if rate, hop, mels and clips
            fit. "parity": the cache has the features that the trainer's own loader computes, else
            it is an error. "auto": as parity, else features are computed on the fly. "runtime":
            they always are. None: `preprocessing_mode` of the configuration, else "parity".
        mel_len: The lengths in batches where use_tf_native_loading is on. "true": each clip's own,
            the default of precompute. "trainer": max_mel_frames for every clip, as the trainer's
            loader says, the default of the other modes.
        tokenizer: A function from a text to whole numbers, or a TextProcessor of the trainer's. Its
            results are kept in the cache. None: the trainer's own, where `myxtts` can be imported.
            "recipe": the tokens of the cache's recipe, which are bytes unless it says otherwise.
        tokenizer_version: Names the tokenizer: with another version the kept results are made anew.
            None: a digest of the function's code, which not every tokenizer allows; for a
            TextProcessor, of the trainer's settings and symbols.
        accept: Keys that batches do not reproduce, and that shall neither stop `precompute` nor be
            warned of: `accept=("enable_pitch_shift",)`.
        recipe: As for `xp.build()`: the recipe under the configuration. None: the recipe of the
            features that the trainer trains on.
        settings: As for `xp.build()`: they override the configuration.
        seed: Fixes the order.
        rank, world_size: This process's share. None: as the framework says, if there is one.
        progress: As for `xp.build()`, where a cache is made.

    Raises:
        InvalidArgumentError: A key is wrong, or changes the sound in a way that a cache does not
            have.
        NotFoundError: The cache is not there.
        MismatchError: The cache is not the one that the configuration asks for.
        CorruptError: The cache is damaged.

    The messages about a cache end in the command that makes, updates or mends it.
    """

    def __init__(
        self,
        config: Any,
        cache: Any = None,
        data: Any = None,
        *,
        split: str | None = "train",
        ids: Iterable[str] | None = None,
        mode: str | None = None,
        mel_len: str | None = None,
        tokenizer: Tokenizer | Literal["recipe"] | None = None,
        tokenizer_version: str | int | None = None,
        accept: Iterable[str] = (),
        recipe: Any = None,
        settings: Any = None,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
        progress: bool | Callable[..., object] = True,
    ) -> None:
        self._split = None if split is None else _SPLITS[one_of("split", split, _SPLITS)]
        self._seed = seed
        self._rank, self._world_size = rank, world_size
        self.config = Config(config, recipe, settings, tokenizer, mode=mode)
        self._read_keys(self.config, mel_len)
        _tell_of_keys(self.config, accept, self._split)
        place = choose_cache(self.config, cache, data)
        chosen = None if ids is None else listed_ids(ids)
        is_own = chosen is None and has_own_split(self.config, place.data, self._split)
        place = dataclasses.replace(
            place, uses_tokens=self.config.uses_recipe_tokens, divides=chosen is None and not is_own
        )
        self.mode, source = open_source(place, progress)
        self._shape: Shape = dataclasses.replace(self._shape, fill=fill_of(source))
        self.source = source
        """The `xp.Cache` or `xp.RuntimeClips` that clips come from."""
        if is_own and place.data is not None and self._split is not None:
            rows = own_split(self.config, place.data, self._split, source)
            chosen = [row.id for row in rows]
            if self.mode == "precompute":
                tell_of_old_texts(source, rows, place.command(place.paths[0]))
        self._ids = None if chosen is None else chosen_clips(source, chosen, is_own)
        if place.divides:
            tell_of_checkpoint(self.config, self._split)
            if self._split == "test" and named_list(self.config, "test"):
                self._split = "validation"  # the trainer uses that list for tests, too
        self._tokens = "tokens"
        """The name of the column with tokens; empty if the trainer's tokens cannot be made here."""
        self._why_no_tokens = ""
        self._tokens_of: TokensOf | None = None
        self._left_out: list[str] = []
        self._take_tokens(tokenizer, tokenizer_version, place.data, progress)

    def _read_keys(self, config: Config, mel_len: str | None) -> None:
        self.batch_size: int = config.whole("batch_size", _BATCH_SIZE, 1, 2**20) or _BATCH_SIZE
        self._ahead: int = config.whole("prefetch_buffer_size", _BATCHES_AHEAD, 0, 512) or 0
        self._verifies = config.switch("cache_verification", True)
        self._pads = config.switch("pad_to_fixed_length", False) and config.frames_max is not None
        self._pins = config.switch("pin_memory", False)
        self._to_gpu = config.switch("prefetch_to_gpu", False)
        model, data = config.whole("model_gpu", None, 0, 1023), config.whole("data_gpu", None, 0, 1023)
        self._gpu = model if model is not None else data or 0
        self._data_gpu = None if model is None or data == model else data
        # The keys that ask for a GPU. The trainer's default does not: it is no mistake to train on the CPU.
        asking = {"model_gpu": model is not None, "data_gpu": data is not None}
        asking["prefetch_to_gpu"] = config.says("prefetch_to_gpu")
        self._gpu_key = next((name for name, asks in asking.items() if asks), None)
        is_native = config.is_native and config.frames_max is not None
        if mel_len is None:
            mel_len = "true" if config.takes_features else "trainer"
        self._shape = Shape(
            tokens=config.text_max,
            width=config.text_max if config.uses_recipe_tokens else config.text_width,
            frames=config.frames_max,
            pads=self._pads,
            keeps_frames=is_native,
            says_frames=one_of("mel_len", mel_len, ("trainer", "true")) == "trainer" and is_native,
        )

    def _take_tokens(self, given: Any, version: str | int | None, data: str | None, progress: Any) -> None:
        if self.config.uses_recipe_tokens:
            self._use_tokenizer(None, None, progress)
        elif given is not None:
            self._use_tokenizer(given, version, progress)
        else:
            try:
                self._use_tokenizer(*own_tokenizer(self.config, data), progress)
            except (NoTextError, ResourceError) as reason:  # the sound is useful without tokens, too
                self._tokens, self._why_no_tokens = "", str(reason)

    def _use_tokenizer(self, tokenizer: Tokenizer | None, version: str | int | None, progress: Any) -> None:
        if self.mode == "runtime":
            self._tokens_of = None if tokenizer is None else TokensOf(tokenizer, self.config)
            self._left_out = without_text(self.source, self._tokens_of)
        elif tokenizer is not None:
            self.source, self._left_out = with_tokens(self.source, self.config, tokenizer, version, progress)
            self._tokens = COLUMN

    def __repr__(self) -> str:
        return f"<{__package__}.Dataset, {self.mode}: {self._split or 'all clips'} of {self.source!r}>"

    @property
    def keys(self) -> tuple[ConfigKey, ...]:
        """Each key of the configuration, with its class and what has become of it."""
        return self.config.keys

    # ---- clips

    def __len__(self) -> int:
        """Returns the number of clips; clips without text or mel do not count."""
        return len(self._positions)

    def __getitem__(self, place: int) -> TrainerBatch:
        """Returns one clip as a TrainerBatch, without padding, in the cache's order.

        It is (tokens [T], mel [F, n_mels], T, F); its `ids` has the clip's id.
        """
        self._need_tokens()
        clip = self.source[self._positions[position_in(place, len(self))]]
        tokens = np.asarray(clip[self._tokens]) if self._tokens_of is None else self._tokens_of(clip)
        mel = np.asarray(clip["mel"]).astype(np.float32, copy=False)
        tokens, mel = tokens[: self._shape.tokens], mel[: self._shape.frames]
        return TrainerBatch(tokens, mel, len(tokens), len(mel), [clip.id])

    def __iter__(self) -> Iterator[TrainerBatch]:
        return (self[place] for place in range(len(self)))

    @functools.cached_property
    def _positions(self) -> list[int]:
        left_out = set(self._left_out)
        if self.mode != "precompute":
            known = [(clip_id, self.source.info(clip_id)) for clip_id in self.source.ids]
            return [
                place
                for place, (clip_id, info) in enumerate(known)
                if self._is_chosen(clip_id, info.split) and clip_id not in left_out
            ]
        chosen = []
        for place in range(len(self.source)):
            facts, clip_id = self.source._core.clip(place), self.source._id(place)
            has_text = (
                self._tokens == COLUMN
                or facts.token_count > 0
                or (not self._tokens and bool(facts.text or facts.text_normalized))
            )
            if self._is_chosen(clip_id, facts.split) and facts.frame_count > 0 and has_text and clip_id not in left_out:
                chosen.append(place)
        return chosen

    def _is_chosen(self, clip_id: str, split: str) -> bool:
        return clip_id in self._id_set if self._ids is not None else self._split in (None, split)

    @functools.cached_property
    def _id_set(self) -> frozenset[str]:
        return frozenset(self._ids or ())

    # ---- batches

    def create_tf_dataset(
        self,
        batch_size: int | None = None,
        shuffle: bool = True,
        repeat: bool = True,
        prefetch: bool = True,
        memory_cache: bool = False,
        num_parallel_calls: int | None = None,
        buffer_size_multiplier: int = 10,
        drop_remainder: bool | None = None,
    ) -> Any:
        """Returns a `tf.data.Dataset` of (tokens, mel, text_len, mel_len).

        Their types are int32 [B, T], float32 [B, F, 80], int32 [B] and int32 [B]. With
        `pad_to_fixed_length`, T and F are max_text_length and max_mel_frames. Otherwise they are
        those of the longest clip; but mels of native loading are always max_mel_frames long.

        Clips with empty text or mel are left out. Each pass, and each turn of `repeat`, is an epoch
        in another order. One iterator at a time: a second one ends the first with an error. For
        two, make two data sets.

        Args:
            batch_size: Clips of a batch. None: the configuration's.
            shuffle: True: over the whole epoch. False: the cache's order.
            repeat: True: epoch after epoch without an end.
            prefetch: True: `prefetch_buffer_size` batches are ready ahead.
            memory_cache: True: reads through the system's page cache, which keeps the records for
                later epochs as far as memory allows.
            num_parallel_calls: Threads that fill batches. None, or AUTOTUNE: as many as suit the
                machine.
            buffer_size_multiplier: No effect: no shuffle buffer is needed.
            drop_remainder: True: the clips at an epoch's end that fill no batch are left out, and B
                is static. False: they are a short batch; B is unknown in the shape, and a
                `@tf.function` is traced once more for it. Of several ranks, some may have none of
                these clips: their last batch is empty (B = 0), and a mean over it is NaN, which a
                warning says. None: they are left out where shapes are fixed (`pad_to_fixed_length`)
                and epochs repeat, as in training, and kept otherwise, as in validation, where each
                clip is to come once.
        """
        from . import tensorflow as tensorflow

        threads = None if num_parallel_calls in (None, -1) else whole("num_parallel_calls", num_parallel_calls, 1, 256)
        whole("buffer_size_multiplier", buffer_size_multiplier, 1, 2**31)
        if drop_remainder is None:
            drop_remainder = self._pads and switch("repeat", repeat)
        options = self._options(batch_size, shuffle, switch("drop_remainder", drop_remainder), _SLOTS, threads)
        if switch("memory_cache", memory_cache):
            options["reading"] = "mapped"
        features = self.config.sections["features"]
        wish = tensorflow.Wish(
            shape=self._shape,
            mels=int(features["mel"]["n_mels"]),
            records=self._record_lengths(),
            repeat=switch("repeat", repeat),
            buffer=self._ahead if switch("prefetch", prefetch) else 0,
            device=tensorflow.gpu(self._gpu, self._gpu_key) if self._to_gpu else None,
        )
        if self.mode == "precompute":
            return tensorflow.of_cache(
                self.source, options, self._columns(False).fields, (self._rank, self._world_size), wish
            )
        from ..tensorflow import share

        return tensorflow.of_loader(
            self._at_runtime(options, False, share, np.array), options["batch_size"] if drop_remainder else None, wish
        )

    def create_torch_loader(
        self,
        batch_size: int | None = None,
        shuffle: bool = True,
        drop_last: bool | None = None,
        device: Any = None,
        ids: bool = False,
    ) -> Loader:
        """Returns a Loader of TrainerBatches of PyTorch tensors; each `for` over it is one epoch.

        Slots, ranks and states are as in `xp.torch.Loader`.

        Args:
            batch_size: Clips of a batch. None: the configuration's.
            shuffle: True: over the whole epoch. False: the cache's order.
            drop_last: True: the clips at an epoch's end that fill no batch are left out. False: the
                last batch may be short. None: True for training and for all clips, False for
                validation and tests, where each clip is to come once.
            device: Where batches are to be. None: the GPU that the configuration names, if
                `prefetch_to_gpu` is on and there is one; else the CPU. If the configuration names
                another GPU as `data_gpu`, that one receives the batches and pads them.
            ids: True: batches have the clips' ids.
        """
        from .. import torch
        from ..torch.batches import FromNumpy
        from .torch import TorchLoader

        drop_last = self._drops(drop_last)
        options = self._options(batch_size, shuffle, drop_last, max(3, self._ahead + 1))
        data_device = None
        if device is None:
            cuda = torch.torch.cuda
            found = cuda.device_count() if self._to_gpu and cuda.is_available() else 0
            device = "cpu"
            if self._to_gpu and has_gpu(self._gpu, found, "PyTorch", self._gpu_key):
                device = f"cuda:{self._gpu}"
                data_gpu = self._data_gpu if self.mode == "precompute" else None
                receives = f"{device} receives the batches itself"
                if data_gpu is not None and has_gpu(data_gpu, found, "PyTorch", "data_gpu", receives):
                    data_device = f"cuda:{data_gpu}"
        if self.mode != "precompute":
            return self._at_runtime(options, ids, torch.share, FromNumpy(device, self._pins))
        columns = self._columns(ids)
        if data_device is not None:
            options["data_device"] = data_device
        return TorchLoader(
            Form(columns, not drop_last, self._shape),
            self.source,
            device=device,
            pin_memory=self._pins,
            fields=columns.fields,
            rank=self._rank,
            world_size=self._world_size,
            **options,
        )

    def reader(
        self,
        batch_size: int | None = None,
        shuffle: bool = True,
        drop_last: bool | None = None,
        threads: int | None = None,
        ids: bool = False,
    ) -> Loader:
        """Returns a Loader of TrainerBatches of NumPy arrays; each `for` over it is one epoch.

        The arrays are the reader's own memory, as in `xp.Cache.reader()`. The arguments are those
        of `create_torch_loader()`.

        Args:
            threads: Threads that fill batches. None: as many as suit the machine.
        """
        drop_last = self._drops(drop_last)
        options = self._options(batch_size, shuffle, drop_last, max(3, self._ahead + 1), threads)
        if self.mode != "precompute":
            return self._at_runtime(options, ids, alone)
        columns = self._columns(ids)
        ranks = {"rank": self._rank, "world_size": self._world_size, "share": alone}
        form = Form(columns, not drop_last, self._shape)
        return ArrayLoader(form, self.source, options, fields=columns.fields, **ranks)

    def _drops(self, drop_last: bool | None) -> bool:
        return self._split in ("train", None) if drop_last is None else switch("drop_last", drop_last)

    def _columns(self, ids: bool) -> Columns:
        self._need_tokens()
        return Columns(self._tokens, switch("ids", ids), self._tokens_of, self.source)

    def _need_tokens(self) -> None:
        if not self._tokens:
            raise InvalidArgumentError(
                "batches need tokens, which the trainer's own text processing makes, and "
                f"{self._why_no_tokens}. Run where it can be imported, give "
                "tokenizer=, or take those of the cache's recipe: tokenizer='recipe'"
            )

    def _record_lengths(self) -> tuple[int, int]:
        """Returns the lengths of tokens and mels in a record of the source."""
        if self.mode == "precompute":
            columns = self.source.columns
            return int(columns[self._tokens].shape[0]), int(columns["mel"].shape[0])
        tokens = self.config.tokens_max if self._tokens_of is None else self._tokens_of.width
        return tokens, int(self.config.sections["features"]["max_frames"])

    def _options(
        self, batch_size: int | None, shuffle: bool, drop_last: bool, prefetch: int, threads: int | None = None
    ) -> dict[str, Any]:
        self._need_tokens()
        if self._ids == []:
            raise InvalidArgumentError(f"no clip is chosen: the trainer's own split has none for {self._split}")
        options: dict[str, Any] = {
            "batch_size": self.batch_size if batch_size is None else batch_size,
            "split": self._split if self._ids is None else None,
            "ids": self._ids,
            "shuffle": "global" if switch("shuffle", shuffle) else "none",
            "seed": self._seed,
            "drop_last": switch("drop_last", drop_last),
            "prefetch": prefetch,
            "columns": {self._tokens: None, "mel": "float32"},
        }
        if threads is not None:
            options["threads"] = threads
        if self.mode == "precompute":
            options["verify"] = self._verifies
            options["where"] = "mel_len > 0" if self._tokens == COLUMN else "mel_len > 0 and text_len > 0"
            if self._left_out:
                options["exclude"] = self._left_out
        return options

    def _at_runtime(
        self,
        options: dict[str, Any],
        ids: bool,
        share: Callable[[], tuple[int, int]],
        convert: Callable[[Any], Any] | None = None,
    ) -> Loader:
        """Returns the same batches, computed now: of the same clips in the same order."""
        columns = self._columns(ids)
        given = {**options, "columns": {"mel": "float32"} if self._tokens_of is not None else options["columns"]}
        given.pop("reading", None)  # an option for a cache's records
        given["exclude"] = self._left_out or None
        ranks = {"rank": self._rank, "world_size": self._world_size, "share": share}
        form = Form(columns, not options["drop_last"], self._shape, convert)
        return ArrayLoader(form, self.source, given, fields=None, **ranks)


def _tell_of_keys(config: Config, accept: Iterable[str], split: str | None) -> None:
    """Warns of each key that batches do not reproduce.

    In modes `precompute` and `parity` a key that changes the sound is an error: training would not be on the
    sound that the configuration asks for.
    """
    keys = config.not_reproduced(accept)
    if split not in ("train", None):  # the trainer changes the sound of training clips only
        keys = [key for key in keys if key.about != "random sound"]
    changing = [key for key in keys if "sound" in key.about and config.mode in ("precompute", PARITY)]
    if changing:
        named = "\n".join(f"    {key.name}: {key.note}" for key in changing)
        names = ", ".join(repr(key.name.removeprefix("data.")) for key in changing)
        raise InvalidArgumentError(
            f"the mode is {config.mode}, but {config.name} changes the sound in a way that a "
            f"cache does not have:\n{named}\n"
            f"Turn it off, or train without it: accept=({names},)"
        )
    for key in keys:
        warn(f"{config.name}: {key.name}: {key.note}")
