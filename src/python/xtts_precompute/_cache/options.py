"""The arguments of Cache.reader(): how they are checked, and in which form _core gets them.

To add an option, add a row to `READER_OPTIONS` and an argument to `Readable.reader()`, both in this
file, and a row to src/python/reader_options.cpp. `tests/python/test_reader_options.py` compares
them with the structs of C++ and C.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypedDict

import numpy as np
import numpy.typing as npt

from .._base.choices import listed, no_others, no_such, number, one_of, switch, text, whole
from .._base.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from .reader import Reader
    from .stored import Column


class Statistics(NamedTuple):
    """Mean and deviation of each channel of a column, over the true frames of the train split.

    They are frozen when the cache is first published, so that a model that is trained further finds
    the numbers that it was trained with.
    """

    mean: npt.NDArray[np.float64]
    std: npt.NDArray[np.float64]
    frames: int
    is_baked: bool
    """True: `convert --bake corpus` wrote the cache, and its records are normalized already.

    `x * np.maximum(std, 1e-5) + mean` gives the numbers of before.
    """


class ColumnOptions(TypedDict, total=False):
    """How a batch is to have a column."""

    name: str
    dtype: npt.DTypeLike | None
    """A float type other than the stored one: "float32", "float16", "bfloat16". None: as stored."""
    pad_value: float | None
    """The number behind the true rows. None: each record's own fill value."""
    normalize: Literal["corpus"] | Statistics | tuple[npt.ArrayLike, npt.ArrayLike] | None
    """Normalizes each channel: (x - mean) / max(std, 1e-5). None: as stored.

    "corpus" uses this cache's `stats`; records that are normalized already stay as they are. A pair
    (mean, std), or another cache's statistics, is used instead. The arithmetic is float32, bit for
    bit that of NumPy's float32 arrays. Padding behind the true rows stays as it is.
    """


class WeightOptions(TypedDict, total=False):
    """How often groups of clips come."""

    by: Literal["language", "speaker", "dataset"]
    temperature: float
    """A group's weight is the number of its clips to this power.

    1 (default): groups come as often as in the corpus. 0: all groups come equally often.
    """
    draws: int | None
    """Samples of an epoch. None: as many as there are clips."""


class BucketOptions(TypedDict, total=False):
    """A bucket of clips of similar length. Its batches are as long as these limits."""

    batch_size: int
    """Rows of a batch on one rank. Absent: the reader's `batch_size`."""
    mel: int
    """The most frames a clip in this bucket may have. Absent: what the cache's records can hold."""
    tokens: int
    """The most tokens a clip in this bucket may have. Absent: what the cache's records can hold."""


class CropOptions(TypedDict):
    """A piece of this many frames of each clip, from a place that the seed chooses.

    The place is the same in all columns along frames.
    """

    frames: int


Shuffle = Literal["global", "window", "none"] | None
OnDamage = Literal["raise", "skip", "ignore"]
OnRange = Literal["raise", "clip"]
Reading = Literal["auto", "mapped", "direct"]
Columns = Iterable[str | ColumnOptions] | Mapping[str, npt.DTypeLike | ColumnOptions | None] | None

SPLITS = ("train", "validation", "test")
SHUFFLES = ("global", "window", "none")
ON_DAMAGE = ("raise", "skip", "ignore")
ON_RANGE = ("raise", "clip")
READINGS = ("auto", "mapped", "direct")
NORMALIZES = ("corpus",)
WEIGHT_BY = ("language", "speaker", "dataset")
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "int16", "uint8")

_UINT32_MAX = 2**32 - 1
_UINT64_MAX = 2**64 - 1
_BATCH_SIZE_MAX = 2**20


def _share(name: str, value: Any) -> float:
    share = number(name, value)
    if not 0 <= share <= 1:
        raise InvalidArgumentError(f"{name} must be a share from 0 to 1: {name}={value!r}")
    return share


def _or_default(name: str, value: Any) -> int:
    return 0 if value is None else whole(name, value, 1, 2**48)


def _texts(name: str, values: Any) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise InvalidArgumentError(f"{name} must be a list of ids, not one text: {name}=[{values!r}]")
    chosen = listed(name, values)
    for one in chosen:
        if not isinstance(one, str):
            raise InvalidArgumentError(f"{name} must be a list of ids, but {one!r} is no id")
    return [text(name, one) for one in chosen]


def _ids(ids: Any) -> list[str]:
    if ids is None:
        return []
    chosen = _texts("ids", ids)
    if not chosen:
        raise InvalidArgumentError("ids is empty, so no clip is chosen: ids=None takes all clips")
    return chosen


def _dtype(column: str, dtype: Any) -> str | None:
    if dtype is None:
        return None
    if isinstance(dtype, str):
        name = dtype
    else:
        try:
            name = np.dtype(dtype).name
        except TypeError:
            raise InvalidArgumentError(no_such(f"dtype for column '{column}'", dtype, DTYPES)) from None
    return one_of(f"dtype for column '{column}'", name, DTYPES)


# (name, dtype, pad value, how it is normalized, means, deviations)
_ColumnWish = tuple[str, str | None, float | None, str, list[float], list[float]]


def _normalize(column: str, wish: Any) -> tuple[str, list[float], list[float]]:
    if wish is None:
        return "none", [], []
    if isinstance(wish, str):
        return one_of(f"normalize of column '{column}'", wish, NORMALIZES), [], []
    pair = wish[:2] if isinstance(wish, Statistics) else wish
    try:
        mean, std = (np.asarray(numbers, np.float64) for numbers in pair)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"normalize of column '{column}' must be \"corpus\" or a pair (mean, std), a number a channel each"
        ) from None
    if mean.ndim != 1 or std.ndim != 1:
        raise InvalidArgumentError(
            f"normalize of column '{column}': mean and std have shapes {mean.shape} and {std.shape}, "
            "not [channels] each"
        )
    return "given", mean.tolist(), std.tolist()


def _column(name: str, wish: Any, known: tuple[str, ...]) -> _ColumnWish:
    if not isinstance(name, str) or name not in known:
        raise NotFoundError(no_such("column", name, known))
    if not isinstance(wish, Mapping):
        wish = {"dtype": wish}
    no_others(f"option of column '{name}'", wish, ("name", "dtype", "pad_value", "normalize"))
    pad_value = wish.get("pad_value")
    return (
        name,
        _dtype(name, wish.get("dtype")),
        None if pad_value is None else number(f"pad_value of column '{name}'", pad_value),
        *_normalize(name, wish.get("normalize")),
    )


def _columns(columns: Any, known: tuple[str, ...]) -> list[_ColumnWish]:
    if isinstance(columns, str):
        raise InvalidArgumentError(f"columns must be a list of names, not one text: columns=[{columns!r}]")
    if isinstance(columns, Mapping):
        wishes = [_column(name, wish, known) for name, wish in columns.items()]
    else:
        wishes = []
        for wish in listed("columns", columns):
            if isinstance(wish, Mapping):
                if "name" not in wish:
                    raise InvalidArgumentError(f"columns: {dict(wish)!r} has no 'name'; there are: {', '.join(known)}")
                wishes.append(_column(wish["name"], wish, known))
            else:
                wishes.append(_column(wish, None, known))
    if not wishes:
        raise InvalidArgumentError(f"columns is empty: columns=None takes all, {', '.join(known)}")
    return wishes


def _weights(weights: Any) -> tuple[str, float, int]:
    if not isinstance(weights, Mapping):
        raise InvalidArgumentError('weights must be a dict, as in weights={"by": "language", "temperature": 0.5}')
    no_others("option of weights", weights, ("by", "temperature", "draws"))
    if "by" not in weights:
        raise InvalidArgumentError(f"weights has no 'by'; there are: {', '.join(WEIGHT_BY)}")
    draws = weights.get("draws")
    return (
        one_of("weights by", weights["by"], WEIGHT_BY),
        number("temperature", weights.get("temperature", 1.0)),
        0 if draws is None else whole("draws", draws, 1, 2**48),
    )


def _buckets(buckets: Any, batch_size: int) -> list[tuple[int, int, int]]:
    if isinstance(buckets, (str, Mapping)) or not all(isinstance(wish, Mapping) for wish in listed("buckets", buckets)):
        raise InvalidArgumentError(
            'buckets must be a list of dicts, as in buckets=[{"batch_size": 48, "mel": 400}, {"batch_size": 32}]'
        )
    wishes = []
    for wish in buckets:
        no_others("option of a bucket", wish, ("batch_size", "mel", "tokens"))
        wishes.append(
            (
                whole("a bucket's batch_size", wish.get("batch_size", batch_size), 1, _BATCH_SIZE_MAX),
                whole("a bucket's mel", wish["mel"], 1, _UINT32_MAX) if "mel" in wish else 0,
                whole("a bucket's tokens", wish["tokens"], 1, _UINT32_MAX) if "tokens" in wish else 0,
            )
        )
    if not wishes:
        raise InvalidArgumentError("buckets is empty, so no clip has a bucket: buckets=None makes batches without them")
    return wishes


def _crop(crop: Any) -> int:
    if not isinstance(crop, Mapping) or "frames" not in crop:
        raise InvalidArgumentError('crop must be a dict, as in crop={"frames": 32}')
    no_others("option of crop", crop, ("frames",))
    return whole("crop frames", crop["frames"], 1, _UINT32_MAX)


class _Beside(NamedTuple):
    """The values that the checks of some options depend on."""

    columns: tuple[str, ...]
    """The names of the cache's columns."""
    batch_size: Any


class ReaderOption(NamedTuple):
    """How an argument of reader() becomes a member of C++'s ReaderOptions."""

    member: str
    converted: Callable[[Any, _Beside], Any]
    """The function that checks the argument and returns the member's value."""


READER_OPTIONS = {
    "batch_size": ReaderOption("batch_size", lambda value, _: whole("batch_size", value, 1, _BATCH_SIZE_MAX)),
    "split": ReaderOption("split", lambda value, _: "" if value is None else one_of("split", value, SPLITS)),
    "shuffle": ReaderOption(
        "shuffle", lambda value, _: "none" if value is None else one_of("shuffle", value, SHUFFLES)
    ),
    "seed": ReaderOption("seed", lambda value, _: whole("seed", value, 0, _UINT64_MAX)),
    "rank": ReaderOption("rank", lambda value, _: whole("rank", value, 0, _UINT32_MAX)),
    "world_size": ReaderOption("world_size", lambda value, _: whole("world_size", value, 1, _UINT32_MAX)),
    "drop_last": ReaderOption("last_batch", lambda value, _: "drop" if switch("drop_last", value) else "pad"),
    "device": ReaderOption("device", lambda value, _: text("device", value)),
    "prefetch": ReaderOption("slot_count", lambda value, _: whole("prefetch", value, 3, 1024)),
    "threads": ReaderOption("thread_count", lambda value, _: 0 if value is None else whole("threads", value, 1, 256)),
    "columns": ReaderOption("columns", lambda value, beside: [] if value is None else _columns(value, beside.columns)),
    "where": ReaderOption("where", lambda value, _: "" if value is None else text("where", value)),
    "ids": ReaderOption("ids", lambda value, _: _ids(value)),
    "exclude": ReaderOption("exclude", lambda value, _: [] if value is None else _texts("exclude", value)),
    "weights": ReaderOption("weights", lambda value, _: None if value is None else _weights(value)),
    "buckets": ReaderOption(
        "buckets", lambda value, beside: [] if value is None else _buckets(value, beside.batch_size)
    ),
    "crop": ReaderOption("crop_frames", lambda value, _: 0 if value is None else _crop(value)),
    "verify": ReaderOption("verify_records", lambda value, _: switch("verify", value)),
    "on_damage": ReaderOption("on_damage", lambda value, _: one_of("choice of on_damage", value, ON_DAMAGE)),
    "device_memory": ReaderOption(
        "device_memory_bytes",
        lambda value, _: 0 if value is None else whole("device_memory", value, 1, 2**63 - 1),
    ),
    "data_device": ReaderOption("data_device", lambda value, _: "" if value is None else text("data_device", value)),
    "data_device_memory": ReaderOption(
        "data_device_memory_bytes",
        lambda value, _: 0 if value is None else whole("data_device_memory", value, 1, 2**63 - 1),
    ),
    "lock_memory": ReaderOption("lock_memory", lambda value, _: switch("lock_memory", value)),
    "stretch_samples": ReaderOption("stretch_samples", lambda value, _: _or_default("stretch_samples", value)),
    "stretches_per_window": ReaderOption(
        "stretches_per_window", lambda value, _: _or_default("stretches_per_window", value)
    ),
    "reading": ReaderOption("reading", lambda value, _: one_of("reading", value, READINGS)),
    "on_range": ReaderOption("on_range", lambda value, _: one_of("choice of on_range", value, ON_RANGE)),
    "max_damage": ReaderOption("max_damage", lambda value, _: _share("max_damage", value)),
}


class Readable(ABC):
    """The base of Cache and RuntimeClips, which both give readers of their clips."""

    _keeps_epochs_length = True
    """Whether all epochs have the same number of batches."""

    @property
    @abstractmethod
    def columns(self) -> dict[str, Column]:
        """The columns that every clip has, by name."""

    @property
    @abstractmethod
    def _shown(self) -> str:
        """How messages name it."""

    @abstractmethod
    def _open_reader(self, options: Mapping[str, Any]) -> Reader:
        """Opens a reader; `options` has all of them."""

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


def kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options in a form that can be iterated over more than once, and pickled."""
    found = dict(options)
    for name in ("columns", "ids", "exclude", "buckets"):
        if found.get(name) is not None and not isinstance(found[name], (str, bytes, Mapping)):
            found[name] = listed(name, found[name])
    return found


def core_options(known_columns: Iterable[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what _core.Reader takes. Absent arguments of Cache.reader() get their default."""
    given = {**DEFAULTS, **options}
    beside = _Beside(tuple(known_columns), given["batch_size"])
    return {option.member: option.converted(given[name], beside) for name, option in READER_OPTIONS.items()}


def parsed_columns(known_columns: Iterable[str], columns: Any) -> list[_ColumnWish]:
    """Returns the argument `columns` alone: one tuple for each column, beginning with its name."""
    return list(core_options(known_columns, {"columns": columns})["columns"])
