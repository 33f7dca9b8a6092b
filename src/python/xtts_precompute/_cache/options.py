"""The arguments of Cache.reader(): how they are checked, and in which form _core gets them.

To add an option, add a row to `READER_OPTIONS`, an argument to `Readable.reader()` (readable.py) and a
row to src/python/reader_options.cpp. `tests/python/test_reader_options.py` compares them with the
structs of C++ and C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from .._base.choices import listed, no_others, no_such, number, one_of, switch, text, whole
from .._base.errors import InvalidArgumentError, NotFoundError


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


def parsed_columns(columns: Any, known: tuple[str, ...]) -> list[_ColumnWish]:
    """Returns one tuple for each column of the argument, beginning with its name."""
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
    "columns": ReaderOption(
        "columns", lambda value, beside: [] if value is None else parsed_columns(value, beside.columns)
    ),
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


def kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options in a form that can be iterated over more than once, and pickled."""
    found = dict(options)
    for name in ("columns", "ids", "exclude", "buckets"):
        if found.get(name) is not None and not isinstance(found[name], (str, bytes, Mapping)):
            found[name] = listed(name, found[name])
    return found


def core_options(known_columns: Iterable[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what _core.Reader takes; `options` has all arguments of Cache.reader()."""
    beside = _Beside(tuple(known_columns), options["batch_size"])
    return {option.member: option.converted(options[name], beside) for name, option in READER_OPTIONS.items()}
