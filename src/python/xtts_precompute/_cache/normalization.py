"""What the numbers of a cache's mels are."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .._base.errors import UnsupportedError


class Normalization(NamedTuple):
    """What a recipe made of the spectrum. `cache.normalization` gives it.

        >>> xp.open("./cache-matcha").normalization.text
        'ln magnitude, floor 1e-5, normalized: (x + 5.536622) / 2.116101'

    A program that trains must not normalize such numbers once more. `inverse()` undoes it, for a
    vocoder that wants the logarithms.
    """

    text: str
    """One line for people."""
    log: Literal["natural", "ten", "none"]
    floor: float
    """The least value whose logarithm is taken; 0 without a logarithm."""
    floor_mode: Literal["clamp", "add"]
    """"clamp": log(max(x, floor)); "add": log(x + floor)."""
    range: float
    """Above 0: values more than this below the clip's largest are raised to that limit."""
    method: Literal["none", "affine", "channels", "min_max", "mean_variance"]
    """"affine", "channels": by the recipe's numbers; "min_max", "mean_variance": over each clip."""
    baked: bool
    """True: normalized also by the statistics of the corpus (`convert --bake corpus`)."""
    offset: float | npt.NDArray[np.float64] | None
    """The logarithms are `number * scale + offset`: a number, or an array of one a channel.

    None: each clip has its own, which no cache keeps.
    """
    scale: float | npt.NDArray[np.float64] | None

    def inverse(self, frames: Any) -> Any:
        """Returns the numbers before any normalization: `frames * scale + offset`.

        `frames` are an array of NumPy with the channels last, such as `clip.mel` or `batch.mel`.
        Padding is changed, too. Raises UnsupportedError where each clip was normalized by itself.
        """
        if self.scale is None or self.offset is None:
            raise UnsupportedError(f"the cache does not keep what each clip was normalized by: {self.text}")
        return np.asarray(frames, np.float32) * np.float32(self.scale) + np.float32(self.offset)


def of_parts(parts: tuple[Any, ...] | None) -> Normalization | None:
    """Makes it of what _core gives."""
    if parts is None:
        return None
    text, log, floor, is_added, range_, method, baked, offset, scale = parts
    return Normalization(
        text, log, floor, "add" if is_added else "clamp", range_, method, baked, _values(offset), _values(scale)
    )


def _values(values: list[float]) -> float | npt.NDArray[np.float64] | None:
    if not values:
        return None
    return values[0] if len(values) == 1 else np.array(values)
