"""What a GPU does while steps run: watched by NVML, on a thread of C++, and what to call it.

NVML gives utilization as a mean over 1/6 to 1 s, so faster swings do not show. It is the share of
the time in which a kernel ran: work of other programs on the GPU counts, too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._base.choices import whole
from .._base.errors import Error, InvalidArgumentError
from .times import variation_verdict

# The limits that the users chose, in percent of the time.
GOOD_UTILIZATION, ACCEPTABLE_UTILIZATION = 70, 50
_SAMPLES_MIN = 10  # fewer prove nothing


@dataclass(frozen=True)
class GpuUse:
    """What a GPU did.

    `values` has the keys of `gpu` in the JSON of `xtts-precompute bench`. It is None where nothing
    could be read, and `missing` says why.
    """

    values: dict[str, Any] | None
    missing: str

    @property
    def utilization(self) -> dict[str, float] | None:
        """mean, std, min, max, p5, p50 and p95 of the samples, in percent; None if not read."""
        return None if self.values is None else self.values["utilization"]

    @property
    def variation(self) -> float:
        """The deviation of the utilization, divided by its mean."""
        found = self.utilization
        return found["std"] / found["mean"] if found is not None and found["mean"] > 0 else 0.0

    @property
    def level(self) -> str | None:
        """The word for the mean: "good" from 70 %, "acceptable" from 50 %, else "low"; None if not read."""
        if self.utilization is None:
            return None
        mean = self.utilization["mean"]
        return "good" if mean >= GOOD_UTILIZATION else "acceptable" if mean >= ACCEPTABLE_UTILIZATION else "low"

    @property
    def steadiness(self) -> str | None:
        """The word for `variation`: "stable", "acceptable" or "oscillating", as of times; None if not read."""
        return None if self.utilization is None else variation_verdict(self.variation)

    @property
    def swings(self) -> bool:
        """True if enough samples show that utilization oscillates, as between 2 and 40 %."""
        return self._is_proven and self.steadiness == "oscillating"

    @property
    def is_steadily_low(self) -> bool:
        """True if enough samples show a low utilization that hardly varies, as at 10 to 15 %."""
        return self._is_proven and self.level == "low" and self.steadiness == "stable"

    @property
    def _is_proven(self) -> bool:
        return self.values is not None and self.values["samples"] >= _SAMPLES_MIN

    def to_json(self) -> dict[str, Any]:
        verdict = {
            "level": self.level,
            "variation": self.variation,
            "steadiness": self.steadiness,
            "swings": self.swings,
        }
        return {
            "gpu": self.values,
            "gpu_missing": self.missing,
            "gpu_verdict": None if self.utilization is None else verdict,
        }


class Watch:
    """Samples a GPU between `start()` and `stop()`, over and over. A failure is told in `use()`."""

    def __init__(self, number: int) -> None:
        self._failure = ""
        self._sampler: _core.GpuSampler | None = None
        self._is_running = False
        try:
            self._sampler = _core.GpuSampler(_core.cuda_pci_bus_id(number))
        except Error as error:
            self._failure = str(error)

    def start(self) -> None:
        if self._sampler is None or self._is_running:
            return
        try:
            self._sampler.start()
            self._is_running = True
        except Error as error:
            self._failure, self._sampler = str(error), None

    def stop(self) -> None:
        if self._sampler is not None and self._is_running:
            self._sampler.stop()
            self._is_running = False

    def use(self) -> GpuUse:
        return GpuUse(None, self._failure) if self._sampler is None else GpuUse(*self._sampler.use())


def count() -> int:
    """Returns the number of GPUs that CUDA shows to this process."""
    found = 0
    try:
        while True:
            _core.cuda_pci_bus_id(found)
            found += 1
    except Error:
        return found


def checked(wanted: Any) -> int | str | None:
    """Returns the argument `gpu`, checked."""
    if wanted is None or (isinstance(wanted, str) and wanted == "auto"):
        return wanted
    if isinstance(wanted, str):
        raise InvalidArgumentError(f"gpu must be 'auto', None, or CUDA's number of a GPU, not {wanted!r}")
    return whole("gpu", wanted, 0, 1023)


def choose(wanted: int | str | None, clock: str) -> int | None:
    """Returns CUDA's number of the GPU that steps run on, or None; called when the first step begins."""
    if isinstance(wanted, int) or wanted is None:
        return wanted
    if clock == "cuda":
        return int(sys.modules["torch"].cuda.current_device())
    if clock == "tensorflow":
        gpus = sys.modules["tensorflow"].config.get_visible_devices("GPU")
        return int(gpus[0].name.rpartition(":")[2]) if gpus else None
    return None
