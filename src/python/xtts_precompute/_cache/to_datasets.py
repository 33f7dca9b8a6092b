"""Copies a cache into a Hugging Face `datasets.Dataset`. Loaded at the first call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._base.choices import no_such
from .._base.errors import InvalidArgumentError
from .clips import Clip
from .readable import Column
from .stored import Stored

_TEXTS = ("id", "split", "text", "text_normalized", "speaker", "language")


def copy(datasets: Any, cache: Stored, columns: tuple[str, ...], split: str | None) -> Any:
    for name in columns:
        if name not in cache.columns:
            raise InvalidArgumentError(no_such("column", name, cache.columns))
    features = {name: datasets.Value("string") for name in _TEXTS}
    features["duration_s"] = datasets.Value("float64")
    for name in columns:
        features[name] = _feature(datasets, cache.columns[name])
    # A pickled cache is its path and generation: by those, `datasets` finds rows that it has already.
    arguments = {"cache": cache, "columns": columns, "split": split}
    return datasets.Dataset.from_generator(_rows, features=datasets.Features(features), gen_kwargs=arguments)


def _type_of(column: Column) -> str:
    return "float32" if column.dtype in ("float16", "bfloat16") else column.dtype


def _feature(datasets: Any, column: Column) -> Any:
    if len(column.shape) == 1:
        return datasets.Sequence(datasets.Value(_type_of(column)))
    kinds = {2: datasets.Array2D, 3: datasets.Array3D, 4: datasets.Array4D, 5: datasets.Array5D}
    return kinds[len(column.shape)](shape=(None, *column.shape[1:]), dtype=_type_of(column))


def _rows(cache: Any, columns: tuple[str, ...], split: str | None) -> Iterator[dict[str, Any]]:
    for position in range(len(cache)):
        clip: Any = Clip(cache, position)
        if split is not None and clip.split != split:
            continue
        row = {name: getattr(clip, name) for name in _TEXTS}
        row["duration_s"] = clip.duration_s
        for name in columns:
            row[name] = np.asarray(clip[name]).astype(_type_of(cache.columns[name]))
        yield row
