"""Values that a smaller dtype cannot hold, where Python converts: the reader library does as much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import InvalidArgumentError


def fitted(
    numbers: npt.NDArray[Any], dtype: np.dtype[Any], on_range: str, place: Callable[[int], str], remedy: str
) -> tuple[npt.NDArray[Any], int]:
    """Returns numbers as a dtype, and how many of them became its largest or smallest.

    `place` names the column and the clip of a row. `remedy` says how to have the numbers whole.

    Raises:
        InvalidArgumentError: The dtype cannot hold one of them, and `on_range` is "raise".
    """
    plain = np.asarray(numbers)
    with np.errstate(over="ignore"):
        narrow = plain.astype(dtype)
    lost = narrow != plain if dtype.kind in "iu" else np.isinf(narrow) & np.isfinite(plain)
    count = int(np.count_nonzero(lost))
    if count == 0:
        return narrow, 0
    if on_range == "raise":
        first = tuple(int(index[0]) for index in np.nonzero(lost))
        raise InvalidArgumentError(
            f"{place(first[0])} holds {plain[first]}, which {dtype.name} cannot hold: {remedy}, or set on_range to "
            f"clip, for the largest value of {dtype.name}"
        )
    if dtype.kind in "iu":
        narrow[lost] = np.clip(plain[lost], np.iinfo(dtype).min, np.iinfo(dtype).max)
    else:
        narrow[lost] = np.nextafter(narrow[lost], dtype.type(0))  # of an infinite number: the largest
    return narrow, count
