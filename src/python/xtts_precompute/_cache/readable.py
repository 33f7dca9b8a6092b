"""What a Cache and RuntimeClips share: the facts of their clips, and readers of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from .._base.choices import one_of
from .._base.errors import InvalidArgumentError
from .ids import Ids, is_unicode
from .options import BucketOptions, Columns, CropOptions, OnDamage, OnRange, Reading, Shuffle, WeightOptions, kept
from .reader import Reader


class Column(NamedTuple):
    """A named array that a cache holds for every clip."""

    name: str
    dtype: str
    """The stored type: "float32", "float16", "bfloat16", "int32" ..."""
    shape: tuple[int, ...]
    """The shape of a padded record. Axis 0 is the one with a true length."""
    axis: str = "frames"
    """What its rows go along: "frames", "tokens", "own" (as many as the clip has) or "fixed"."""
    rows_per_frame: int = 1
    """Rows for each frame, for axis "frames"; 0 for other axes."""
    version: str | None = None
    """The version given to add_column(); None if the recipe makes the column."""
    missing: int = 0
    """Clips that came or changed since add_column() and have no record yet; the same call makes those."""


class Readable(ABC):
    """The base of Cache and RuntimeClips, which both give readers of their clips."""

    _keeps_epochs_length = True
    """Whether all epochs have the same number of batches."""
    _digest: str

    @property
    @abstractmethod
    def _core(self) -> Any:
        """The C++ handle of this process."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, Column]:
        """The columns that every clip has, by name."""

    @property
    @abstractmethod
    def _shown(self) -> str:
        """How messages name it."""

    @abstractmethod
    def _find(self, clip_id: str) -> int:
        """Returns a clip's position, or raises."""

    @abstractmethod
    def _id(self, position: int) -> str:
        """Returns a clip's id."""

    @abstractmethod
    def _open_reader(self, options: Mapping[str, Any]) -> Reader:
        """Opens a reader; `options` has all of them."""

    # ---- what it is

    @property
    def recipe(self) -> str:
        """The name of the recipe."""
        return str(self._core.recipe)

    @property
    def features_fingerprint(self) -> str:
        """32 hexadecimal digits, equal where features have the same definition."""
        return str(self._core.features_fingerprint)

    @property
    def text_fingerprint(self) -> str:
        """32 hexadecimal digits, equal where tokens are made in the same way."""
        return str(self._core.text_fingerprint)

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that identify it.

        They cover this generation of these caches; of computed clips the texts, the sources' sizes
        and times, and the recipe.
        """
        return self._digest

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers' names; `batch.speaker` has places in this tuple."""
        return tuple(self._core.speakers)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages' names; `batch.language` has places in this tuple."""
        return tuple(self._core.languages)

    # ---- its clips' ids

    def __len__(self) -> int:
        return len(self._core)

    @property
    def ids(self) -> Ids:
        """The clips' ids: a sequence that looks each one up when it is asked for."""
        return Ids(self)

    def __contains__(self, clip_id: object) -> bool:
        if not isinstance(clip_id, str) or not is_unicode(clip_id):
            return False
        try:
            return self._core.find(clip_id) is not None
        except InvalidArgumentError:  # several of the caches have it
            return True

    # ---- batches

    def reader(
        self,
        *,
        batch_size: int = 32,
        split: str | None = None,
        shuffle: Shuffle = "global",
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = True,
        device: str = "cpu",
        prefetch: int = 4,
        threads: int | None = None,
        columns: Columns = None,
        where: str | None = None,
        ids: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        weights: WeightOptions | None = None,
        buckets: Iterable[BucketOptions] | None = None,
        crop: CropOptions | None = None,
        verify: bool = True,
        on_damage: OnDamage = "raise",
        lock_memory: bool = False,
        stretch_samples: int | None = None,
        stretches_per_window: int | None = None,
        reading: Reading = "auto",
        max_damage: float = 0.05,
        device_memory: int | None = None,
        data_device: str | None = None,
        data_device_memory: int | None = None,
        on_range: OnRange = "raise",
        **unknown: NoReturn,
    ) -> Reader:
        """Returns a reader: batches of fixed shape, in an order that the seed fixes on every machine.

            reader = cache.reader(batch_size=32, split="train", seed=7, columns=["mel", "tokens"])
            for batch in reader:                                # one epoch
                step(batch.mel, batch.mel_len, batch.tokens, batch.text_len)

        Args:
            batch_size: Rows of a batch, on one rank.
            split: "train", "validation" or "test". None: all clips.
            shuffle: "global": any sample may come anywhere; for memory and SSDs. "window": long
                sequential reads, mixed in a bounded pool; for rotating disks and networks. "none"
                or None: canonical order; the arrays are views of the cache's file where they can be
                (`batch.is_view(column)`). If somebody cuts that file while you read such a view,
                SIGBUS ends the process. A column with a `pad_value` or another dtype is always a
                copy, and so are all batches of the other orders; copies are made under a guard that
                raises an error instead.
            seed: Fixes the order: the same cache, seed, epoch and selection give the same order.
            rank, world_size: This reader's share. Ranks never overlap, and have the same number of
                batches.
            drop_last: True: the samples at the end that do not fill a batch on every rank are left
                out. False: they come in a last batch with fewer valid rows (`batch.valid_count`);
                some ranks may have none.
            device: "cpu". "cuda" or "cuda:N": batches lie in a GPU's memory, and `batch.mel` is a
                `DeviceArray`, which frameworks take by DLPack. "auto": the first GPU, or else the
                CPU. "pinned": the CPU, with slots that are page-locked for a framework's own copies
                to a GPU. Where "auto" and "pinned" find no GPU, `stats().notice` says why.
            prefetch: Slots for batches, at least 3. The batch in use and each one that you keep
                occupy one.
            threads: Threads that fill batches. None: as many as suit the machine. The number never
                changes a byte.
            columns: Names, `["mel", "tokens"]`; with types, `{"mel": "float16"}`; or with more
                options, `{"mel": {"dtype": "float16", "pad_value": -11.5}}` or
                `[{"name": "mel", "pad_value": -11.5}, "tokens"]`. None: all columns, as stored.
                `{"mel": {"normalize": "corpus"}}` normalizes each channel by its mean and deviation
                over the corpus (`cache.stats`). For several caches, or for a model trained
                elsewhere, give the numbers: `{"normalize": (mean, std)}` or
                `{"normalize": other.stats["mel"]}`.
            where: Only clips for which this expression is true, as in `xtts-precompute ls --where`:
                `'seconds > 2 and language == "fa"'`.
            ids: Only these clips. An empty list is an error.
            exclude: All clips but these.
            weights: `{"by": "language" | "speaker" | "dataset", "temperature": 0.5, "draws": N}`:
                how often groups of clips come. Needs shuffle="global".
            buckets: Batches of clips of similar length,
                `[{"batch_size": 48, "mel": 400}, {"batch_size": 32}]`. A clip goes to the first
                bucket whose limits it keeps, and every clip needs one. All ranks have the same
                bucket in a step.
            crop: `{"frames": 32}`: this many frames of each clip, from a place that the seed
                chooses. The place is the same in all columns along frames.
            verify: Check each record once, when it is first read.
            on_damage: "raise": CorruptError names the clip, and the next call goes on with the next
                batch. "skip": the batch comes without the clip, and a warning says how many an
                epoch has lost. "ignore": the record comes as it is.
            lock_memory: Keep batches from being swapped out, as far as the limits allow it
                (`stats().notice` says where they do not).
            stretch_samples, stretches_per_window: For shuffle="window": the samples that are read
                in one run, and the runs that are mixed with each other. None: runs of 32 MiB, and
                16 of them.
            reading: "mapped": through the system's page cache, where later epochs find the records.
                "direct": past the page cache, for caches larger than memory; mapped where the
                system cannot, and a warning says why. "auto": one of the two, chosen by the storage
                (`stats().storage` and `stats().reading` tell).
            max_damage: The share of an epoch that on_damage="skip" may leave out; beyond it,
                CorruptError. 1: no limit.
            device_memory: The bytes of a GPU's memory that the readers of this process may hold
                together. None: no limit.
            data_device: With batches on a GPU: another one ("cuda:0") that receives them from the
                host, widens, normalizes and pads them, and copies them to `device`. None: `device`
                does it.
            data_device_memory: As device_memory, of that GPU.
            on_range: For values that a column's dtype cannot hold (float16 ends at 65,504). "raise":
                InvalidArgumentError names the clip and a dtype that holds it, and the next call goes
                on with the next batch. "clip": such a value becomes the dtype's largest, and
                `stats().saturated_count` counts it.

        Raises:
            InvalidArgumentError: An argument is wrong, or there is no such argument.
            NotFoundError: There is no such column or clip.
            UnsupportedError: There is no such device here.
            ResourceError: Memory ran out.
        """
        options = {name: value for name, value in locals().items() if name not in ("self", "unknown")}
        for name in unknown:
            one_of("argument of reader()", name, options)
        return self._open_reader(kept(options))


DEFAULTS: dict[str, Any] = dict(Readable.reader.__kwdefaults__ or {})
