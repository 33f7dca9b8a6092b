"""Caches and their clips."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Union

import numpy as np

from . import _core
from ._choices import listed, one_of
from ._clips import Clip, Ids, is_unicode, position_in
from ._errors import InvalidArgumentError, MismatchError, MissingPackageError, NotFoundError
from ._options import BucketOptions, Columns, CropOptions, OnDamage, Reading, Shuffle, Statistics, WeightOptions
from ._reader import Reader

if TYPE_CHECKING:
    from ._progress import ColumnProgress

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Column(NamedTuple):
    """What a cache holds of every clip."""

    name: str
    dtype: str
    """As it is stored: "float32", "float16", "bfloat16", "int32" ..."""
    shape: tuple[int, ...]
    """Of a padded record; axis 0 is the one with a true length."""
    axis: str = "frames"
    """What its rows go along: "frames", "tokens", "own" (each clip has as many as it has) or "fixed"."""
    rows_per_frame: int = 1
    """Of axis "frames"; 0: of another."""
    version: str | None = None
    """Of what made it, where add_column() did."""
    missing: int = 0
    """Clips that came or changed since then: they have no record in it, until add_column() makes those."""


def open(path: PathLike | Iterable[PathLike]) -> Cache:
    """Opens the newest published generation of a cache, or of several as one: `xp.open(["./english", "./farsi"])`.

    Several must hold features of the same definition; their clips follow one another, and a name of a speaker or language is
    the same one in all of them. A generation stays readable as long as the Cache, a reader of it or an array out of it lives, whatever is built meanwhile.
    Raises NotFoundError (no cache there), CorruptError, UnsupportedError (a newer format), ResourceError,
    MismatchError (caches that do not go together).
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else listed("paths of caches", path)
    try:
        names = [os.fsdecode(one) for one in paths]
    except TypeError as error:
        raise InvalidArgumentError(f"the path of a cache: {error}") from None
    return Cache(names)


class Cache:
    """A cache's clips, in canonical order: data set, split, id. Made by `xtts_precompute.open()`.

    `cache["LJ001-0001"]` and `cache[0]` are clips, `"LJ001-0001" in cache` asks for an id, `len(cache)` counts. Any number of threads may
    use it. In a forked child it opens the same generation anew at its first use there, or raises MismatchError where that has
    been built anew. It can be pickled, for processes that see the same path.
    """

    def __init__(self, paths: Sequence[str], digest: str | None = None) -> None:
        self._paths = tuple(paths)
        self._handle = _open_same(self._paths, digest)
        # For children and pickles, who come later: the process may have gone to another folder by then.
        self._absolute = tuple(map(os.path.abspath, self._paths))
        self._forks = _core.fork_count()
        self._digest = self._handle.digest

    @property
    def _core(self) -> _core.Cache:
        """The handle of this process."""
        if self._forks != _core.fork_count():
            self._handle = _open_same(self._absolute, self._digest)
            self._forks = _core.fork_count()
        return self._handle

    # ---- what it is

    @property
    def path(self) -> str:
        """The folder, as it was given; of the first, where several are one."""
        return self._paths[0]

    @property
    def paths(self) -> tuple[str, ...]:
        """All folders."""
        return self._paths

    @property
    def recipe(self) -> str:
        """The name of the recipe."""
        return self._core.recipe

    @property
    def features_fingerprint(self) -> str:
        """32 hexadecimal digits; equal where two caches hold features of the same definition."""
        return self._core.features_fingerprint

    @property
    def text_fingerprint(self) -> str:
        """32 hexadecimal digits; equal where two caches' tokens are made in the same way."""
        return self._core.text_fingerprint

    @property
    def generation(self) -> int:
        """How often the (first) cache has been published."""
        return self._core.generation

    @property
    def digest(self) -> str:
        """32 hexadecimal digits: which generation of which caches."""
        return self._digest

    @property
    def speakers(self) -> tuple[str, ...]:
        """Names by the numbers that `batch.speaker` carries."""
        return tuple(self._core.speakers)

    @property
    def languages(self) -> tuple[str, ...]:
        """Names by the numbers that `batch.language` carries."""
        return tuple(self._core.languages)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the corpora in it, sorted; empty where one corpus was built by itself."""
        return tuple(self._core.datasets)

    @property
    def columns(self) -> dict[str, Column]:
        """What is stored of every clip, by name."""
        return {
            name: Column(name, dtype, tuple(shape), axis, rows, version, missing)
            for name, dtype, shape, axis, rows, version, missing in self._core.columns
        }

    @property
    def stats(self) -> dict[str, Statistics]:
        """Mean and deviation of each channel, by column; today of "mel" alone. Raises MismatchError where several caches have each
        their own."""
        try:
            mean, std, frames, is_baked = self._core.statistics("mel")
        except NotFoundError:
            return {}
        return {"mel": Statistics(np.array(mean), np.array(std), frames, is_baked)}

    def __repr__(self) -> str:
        shown = ", ".join(f"{c.name} {list(c.shape)} {c.dtype}" for c in self.columns.values())
        return f"<Cache {self._shown}: {len(self)} clips, {shown}, recipe {self.recipe}, generation {self.generation}>"

    # ---- its clips

    def __len__(self) -> int:
        return len(self._core)

    @property
    def _shown(self) -> str:
        return " + ".join(repr(path) for path in self._paths)

    @property
    def ids(self) -> Ids:
        """The clips' ids, a sequence that looks each up when it is asked for."""
        return Ids(self)

    def __contains__(self, clip_id: object) -> bool:
        return isinstance(clip_id, str) and is_unicode(clip_id) and self._core.find(clip_id) is not None

    def __getitem__(self, key: str | int) -> Clip:
        if isinstance(key, str):
            return Clip(self, self._find(key))
        return Clip(self, position_in(key, len(self)))

    def __iter__(self) -> Iterator[Clip]:
        return (Clip(self, position) for position in range(len(self)))

    def _find(self, clip_id: str) -> int:
        position = self._core.find(clip_id) if is_unicode(clip_id) else None
        if position is None:
            raise NotFoundError(f"the cache has no clip {str(clip_id)!r}")
        return position

    def _id(self, position: int) -> str:
        return self._core.id(position)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each clip, by position: `id`, `dataset`, `split`, `speaker`, `language`, `duration_s`,
        `frames`, `tokens`, `text`, `text_normalized`. What is not known is None. Needs pandas.
        """
        try:
            pandas: Any = importlib.import_module("pandas")
        except ImportError:
            raise MissingPackageError("to_pandas() needs pandas: pip install pandas", name="pandas") from None
        facts = [self._core.clip(position) for position in range(len(self))]

        def words(name: str) -> Any:
            # Objects, so that what is not known is None in every column.
            return np.array([getattr(one, name) or None for one in facts], dtype=object)

        return pandas.DataFrame(
            {
                "id": np.array(self.ids[:], dtype=object),
                **{name: words(name) for name in ("dataset", "split", "speaker", "language")},
                "duration_s": np.array([one.duration_s for one in facts], dtype=np.float64),
                "frames": np.array([one.frame_count for one in facts], dtype=np.int64),
                "tokens": np.array([one.token_count for one in facts], dtype=np.int64),
                **{name: words(name) for name in ("text", "text_normalized")},
            }
        )

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
        **unknown: NoReturn,
    ) -> Reader:
        """Batches of fixed shape out of this cache, in an order that the seed fixes on every machine.

        Args:
            batch_size: Rows of a batch, of one rank.
            split: "train", "validation", "test"; None: all clips.
            shuffle: "global": every sample anywhere, for memory and SSDs. "window": long sequential reads, mixed in a
                bounded pool, for rotating disks and networks. "none" or None: canonical order, as views of the cache
                where they can be (`batch.is_view(column)`). Such an array lies in the file: where somebody cuts the file while
                you read it, SIGBUS ends the process. A column with a `pad_value` or another dtype is always a copy, made under a
                guard, as all batches of the other orders are.
            seed: Of the order. The same cache, seed, epoch and selection give the same order.
            rank, world_size: This reader's share: ranks never overlap, and have the same number of batches.
            drop_last: The samples at the end that do not fill a batch on every rank are left out; False: they come in a last
                batch with fewer valid rows (`batch.valid_count`), on some ranks perhaps none.
            device: "cpu".
            prefetch: Batches in memory, at least 3. The one in use and any that are kept are among them.
            threads: That fill batches; None: as many as suit the machine. They never change a byte.
            columns: Names, `["mel", "tokens"]`; or with types, `{"mel": "float16"}`; or with more,
                `{"mel": {"dtype": "float16", "pad_value": -11.5}}` or `[{"name": "mel", "pad_value": -11.5}, "tokens"]`. None: all, as stored.
                `{"mel": {"normalize": "corpus"}}`: each channel by its mean and deviation over the corpus (`cache.stats`); of several
                caches, or for a model trained elsewhere: `{"normalize": (mean, std)}` or `{"normalize": other.stats["mel"]}`.
            where: Only clips for which this holds, as for `xtts-precompute ls --where`: `'seconds > 2 and language == "fa"'`.
            ids: Only these clips. An empty list is an error.
            exclude: Not these clips.
            weights: `{"by": "language" | "speaker" | "dataset", "temperature": 0.5, "draws": N}`. Needs shuffle="global".
            buckets: Batches of clips of like length, the same bucket on all ranks in a step:
                `[{"batch_size": 48, "mel": 400}, {"batch_size": 32}]`. A clip goes to the first whose limits it keeps; each needs one.
            crop: `{"frames": 32}`: so many frames of each clip, from a place that the seed chooses, the same one in all columns
                along frames.
            verify: Check each record once, when it is first read.
            on_damage: "raise": CorruptError names the clip, and the call after it goes on with the next batch. "skip": the batch
                comes without the clip, and a warning says how many an epoch has lost. "ignore": it comes as it is.
            lock_memory: Keep batches from being swapped out, where the limits allow it (`stats().notice` says where not).
            stretch_samples, stretches_per_window: For shuffle="window": samples read in one run, and runs mixed with each
                other. None: runs of 32 MiB, and 16 of them.
            reading: "mapped": through the system's page cache, where later epochs find the records. "direct": past it, for caches
                that are larger than memory; mapped where the system cannot. "auto": one of these, by what the storage is
                (`stats().storage`, `stats().reading` say).
            max_damage: The share of an epoch that on_damage="skip" may leave out; beyond it CorruptError. 1: no limit.

        Raises:
            InvalidArgumentError, NotFoundError (a column or clip), UnsupportedError (a device), ResourceError.
        """
        options = {name: value for name, value in locals().items() if name not in ("self", "unknown")}
        for name in unknown:
            one_of("argument of reader()", name, options)
        # What can be gone through only once is kept for pickling.
        for name in ("columns", "ids", "exclude", "buckets"):
            if options[name] is not None and not isinstance(options[name], (str, bytes, Mapping)):
                options[name] = listed(name, options[name])
        return Reader(self, options)

    # ---- further columns

    def add_column(
        self,
        name: str,
        fn: Callable[..., Any] | None = None,
        *,
        axis: Literal["frames", "tokens", "own", "fixed"] = "frames",
        version: str = "",
        batch: int | None = None,
        workers: int = 0,
        max_length: int | None = None,
        allow_nonfinite: bool = False,
        from_npy: PathLike | None = None,
        data: PathLike | None = None,
        progress: bool | Callable[[ColumnProgress], object] = True,
    ) -> Cache:
        """Adds a column to the cache on disk: pitch, durations, embeddings, codes, tokens of your tokenizer. Returns the cache, opened anew.

            cache = cache.add_column("pitch", lambda clip: pitch_of(clip.pcm, clip.sample_rate, clip.frames), version="yin-1")

        What is there stays as it is, and readers go on with it. The same call goes on where an interrupted one ended, and
        later makes what an update of the cache has brought; nothing to do costs nothing.

        Args:
            name: Of the column; `batch.pitch`, `clip.pitch`, `columns=["mel", "pitch"]`. Not what batches and clips have already (`positions`, `mel_len`).
            fn: From a clip to its record, an array of the same dtype for all. A clip has `.pcm` (the conditioned samples), `.sample_rate`,
                `.frames`, the cache's columns (`.mel`), `.text`, `.text_len`, `.speaker`, `.language`, `.id`. float64 is stored as float32.
            axis: What the record's rows go along. "frames": one for each frame, or k of them. "tokens": one for each of `tokens`. "own": as
                many as the clip has, `max_length` at most, padded with 0 in batches. "fixed": the whole shape is the same for all clips.
            version: Of what the function does: the column is made anew under another one.
            batch: The function gets a list of so many clips, and gives as many records.
            allow_nonfinite: NaN and infinity mean something (a pitch where there is none) and are stored; else such a record is refused.
            workers: So many processes call the function, which they have to be able to import; 0: this one.
            from_npy: Instead of a function: a folder with ID.npy for each clip.
            data: Where the sources lie now, for `.pcm`; None: where the last build found them.
            progress: As in build(): True, False, or a function that gets a ColumnProgress.

        Raises:
            InvalidArgumentError (a record that does not fit names its clip), BusyError (somebody builds), MismatchError (an unfinished
            build), UnsupportedError (this installation only reads). What the function raises comes through.
        """
        from ._add_column import add_column  # with what only who builds needs

        options = {"axis": axis, "version": version, "batch": batch, "workers": workers, "max_length": max_length, "allow_nonfinite": allow_nonfinite}
        return add_column(self, name, fn, **options, from_npy=from_npy, data=data, progress=progress)

    # ---- other processes

    def __reduce__(self) -> Any:
        return Cache, (list(self._absolute), self._digest)


def _open_same(paths: tuple[str, ...], digest: str | None) -> _core.Cache:
    """The generation with this digest, or whatever is there."""
    for path in paths:
        if "\0" in path:
            raise InvalidArgumentError(f"the path of a cache holds a zero byte: {path!r}")
    handle = _core.open([os.fsencode(path) for path in paths])
    if digest is not None and handle.digest != digest:
        raise MismatchError(
            f"{' + '.join(paths)} has been built anew since it was opened: open it again with xtts_precompute.open()"
        )
    return handle
