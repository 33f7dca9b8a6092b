"""The arguments of Cache.reader(), checked and as _core wants them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict, Union

import numpy as np
import numpy.typing as npt

from ._choices import listed, no_others, no_such, number, one_of, switch, text, whole
from ._errors import InvalidArgumentError, NotFoundError


class Statistics(NamedTuple):
    """Of each channel of a column, over the true frames of the train split, as the recipe makes them: frozen when the cache was first
    published, so that who goes on with a model finds the numbers that it was trained with."""

    mean: npt.NDArray[np.float64]
    std: npt.NDArray[np.float64]
    frames: int
    is_baked: bool
    """The cache was written by `convert --bake corpus`: its records are normalized by them already, and `x * np.maximum(std, 1e-5) +
    mean` is what they were."""


class ColumnOptions(TypedDict, total=False):
    """How a batch shall have a column."""

    name: str
    dtype: npt.DTypeLike | None
    """Another float type than stored: "float32", "float16", "bfloat16"."""
    pad_value: float | None
    """What stands behind the true rows; None: each record's own fill value."""
    normalize: Literal["corpus"] | Statistics | tuple[npt.ArrayLike, npt.ArrayLike] | None
    """(x - mean) / max(std, 1e-5), each channel by its own: "corpus" by this cache's `stats` (as stored where they are baked in), or
    by a pair (mean, std), or another cache's statistics. In float32, in every bit what NumPy makes of float32 arrays; what
    stands behind the true rows stays as it is. None: as stored."""


class WeightOptions(TypedDict, total=False):
    """How often groups of clips come."""

    by: Literal["language", "speaker", "dataset"]
    temperature: float
    """A group's weight is the number of its clips to this power: 1 as in the corpus (default), 0 all alike."""
    draws: int | None
    """Samples of an epoch; None: as many as there are clips."""


class BucketOptions(TypedDict, total=False):
    """Clips of like length: the batches are as long as these limits, which every clip in them keeps."""

    batch_size: int
    """Of one rank; without: the reader's."""
    mel: int
    """At most so many frames; without: as long as the cache has them."""
    tokens: int
    """At most so many tokens; without: as long as the cache has them."""


class CropOptions(TypedDict):
    """A piece of each clip, from a place that the seed chooses, the same one in all columns along frames."""

    frames: int


Shuffle = Union[Literal["global", "window", "none"], None]
OnDamage = Literal["raise", "skip", "ignore"]
Reading = Literal["auto", "mapped", "direct"]
Columns = Union[Iterable[Union[str, ColumnOptions]], Mapping[str, Union[npt.DTypeLike, ColumnOptions, None]], None]

SPLITS = ("train", "validation", "test")
SHUFFLES = ("global", "window", "none")
ON_DAMAGE = ("raise", "skip", "ignore")
READINGS = ("auto", "mapped", "direct")
NORMALIZES = ("corpus",)
WEIGHT_BY = ("language", "speaker", "dataset")
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "int16", "uint8")

_UINT32_MAX = 2**32 - 1
_UINT64_MAX = 2**64 - 1
_BATCH_SIZE_MAX = 2**20


def core_options(known_columns: Iterable[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of _core.Reader. `options` are those of Cache.reader(), all of them."""
    shuffle = options["shuffle"]
    split = options["split"]
    where = options["where"]
    return {
        "batch_size": whole("batch_size", options["batch_size"], 1, _BATCH_SIZE_MAX),
        "split": "" if split is None else one_of("split", split, SPLITS),
        "shuffle": "none" if shuffle is None else one_of("shuffle", shuffle, SHUFFLES),
        "seed": whole("seed", options["seed"], 0, _UINT64_MAX),
        "rank": whole("rank", options["rank"], 0, _UINT32_MAX),
        "world_size": whole("world_size", options["world_size"], 1, _UINT32_MAX),
        "drop_last": switch("drop_last", options["drop_last"]),
        "columns": [] if options["columns"] is None else _columns(options["columns"], tuple(known_columns)),
        "where": "" if where is None else text("where", where),
        "ids": _ids(options["ids"]),
        "exclude": [] if options["exclude"] is None else _texts("exclude", options["exclude"]),
        "weights": None if options["weights"] is None else _weights(options["weights"]),
        "buckets": [] if options["buckets"] is None else _buckets(options["buckets"], options["batch_size"]),
        "crop_frames": 0 if options["crop"] is None else _crop(options["crop"]),
        "verify": switch("verify", options["verify"]),
        "on_damage": one_of("choice of on_damage", options["on_damage"], ON_DAMAGE),
        "slot_count": whole("prefetch", options["prefetch"], 3, 1024),
        "thread_count": 0 if options["threads"] is None else whole("threads", options["threads"], 1, 256),
        "device": text("device", options["device"]),
        "lock_memory": switch("lock_memory", options["lock_memory"]),
        "reading": one_of("reading", options["reading"], READINGS),
        "max_damage": _share("max_damage", options["max_damage"]),
        "stretch_samples": _or_default("stretch_samples", options["stretch_samples"]),
        "stretches_per_window": _or_default("stretches_per_window", options["stretches_per_window"]),
    }


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
            raise InvalidArgumentError(f"{name} must be a list of ids, and {one!r} is none")
    return [text(name, one) for one in chosen]


def _ids(ids: Any) -> list[str]:
    if ids is None:
        return []
    chosen = _texts("ids", ids)
    if not chosen:
        raise InvalidArgumentError("ids is empty: no clips chosen. None takes all clips")
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


# name, dtype, pad value, how it is normalized, means, deviations
_ColumnWish = tuple[str, Union[str, None], Union[float, None], str, list[float], list[float]]


def _normalize(column: str, wish: Any) -> tuple[str, list[float], list[float]]:
    if wish is None:
        return "none", [], []
    if isinstance(wish, str):
        return one_of(f"normalize of column '{column}'", wish, NORMALIZES), [], []
    pair = wish[:2] if isinstance(wish, Statistics) else wish
    try:
        mean, std = (np.asarray(numbers, np.float64) for numbers in pair)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"normalize of column '{column}' must be \"corpus\" or a pair (mean, std), a number a channel each") from None
    if mean.ndim != 1 or std.ndim != 1:
        raise InvalidArgumentError(f"normalize of column '{column}': mean and std have shapes {mean.shape} and {std.shape}, not [channels] each")
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
        raise InvalidArgumentError(f"columns is empty; None takes all: {', '.join(known)}")
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
        raise InvalidArgumentError('buckets must be a list of dicts, as in buckets=[{"batch_size": 48, "mel": 400}, {"batch_size": 32}]')
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
        raise InvalidArgumentError("buckets is empty: no clip has a bucket. None makes batches without them")
    return wishes


def _crop(crop: Any) -> int:
    if not isinstance(crop, Mapping) or "frames" not in crop:
        raise InvalidArgumentError('crop must be a dict, as in crop={"frames": 32}')
    no_others("option of crop", crop, ("frames",))
    return whole("crop frames", crop["frames"], 1, _UINT32_MAX)
