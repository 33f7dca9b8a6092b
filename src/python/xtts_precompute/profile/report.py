"""ProfileReport: what a StepProfiler has found, as attributes, JSON, text or a picture. Immutable."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._base.errors import InvalidArgumentError, ResourceError, UnsupportedError
from . import text
from .gpu import GpuUse
from .times import Times, cycle_to_json, share_verdict, standard_error, summarize, variation_verdict

DATA, OTHER = "data", "other"
# The order within a step. Phases with other names follow, in the order in which they came.
KNOWN = (DATA, "to_device", "transfer", "forward", "forward, loss", "loss", "train", "backward", "optimizer")


@dataclass(frozen=True)
class Phase:
    """One phase of the step, over all steps."""

    name: str
    share: float
    times: Times

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "share": self.share, "ms": self.times.to_json()}


@dataclass(frozen=True)
class Steps:
    """Steps of one kind, at least one, with the seconds of each phase in each step."""

    by_phase: list[dict[str, float]]
    host_wait_s: list[float]
    begins_pass: list[bool]  # whether a step took the first batch of a pass over the loader
    phases: tuple[Phase, ...] = field(init=False)
    times: Times = field(init=False)
    error_ms: float = field(init=False)  # one standard error of the mean step

    def __post_init__(self) -> None:
        totals = [sum(one.values()) for one in self.by_phase]
        whole = sum(totals) or 1.0
        met = dict.fromkeys(name for one in self.by_phase for name in one)
        names = [name for name in KNOWN if name in met]
        names += [name for name in met if name not in KNOWN and name != OTHER] + [OTHER] * (OTHER in met)
        phases = tuple(Phase(name, sum(self.seconds(name)) / whole, summarize(self.seconds(name))) for name in names)
        object.__setattr__(self, "phases", phases)
        object.__setattr__(self, "times", summarize(totals))
        object.__setattr__(self, "error_ms", 1e3 * standard_error(totals))

    def seconds(self, name: str) -> list[float]:
        """Returns the seconds of a phase, step by step."""
        return [one.get(name, 0.0) for one in self.by_phase]

    def phase(self, name: str) -> Phase:
        """Returns a phase; with share 0 if no step had it."""
        return next((one for one in self.phases if one.name == name), Phase(name, 0.0, summarize([0.0])))

    @property
    def per_second(self) -> float:
        return 1e3 / self.times.mean_ms if self.times.mean_ms > 0 else 0.0

    def to_json(self, batch_size: int | None) -> dict[str, Any]:
        return {
            "steps": len(self.by_phase),
            "steps_per_s": self.per_second,
            "samples_per_s": None if batch_size is None else self.per_second * batch_size,
            "step": {
                "ms": self.times.to_json(),
                "variation": self.times.variation,
                "verdict": variation_verdict(self.times.variation),
                "cycle": cycle_to_json(self.times.cycle),
            },
            "phases": [phase.to_json() for phase in self.phases],
        }


@dataclass(frozen=True)
class ProfileReport:
    """Where the time of a training step goes; made by StepProfiler.

        report = profiler.report()
        print(report)                       # in words
        report.data_verdict, report.gain    # "bottleneck", 1.8
        report.save("steps.svg")            # or .json, .txt

    `to_json()` gives the numbers, with stable keys. `real` are the steps with real data;
    `synthetic` those on one batch again and again, or None. `gpu` and `synthetic_gpu` say what the
    GPU did meanwhile; None if steps run on none. `data_gpu` is a second one, on which batches are
    prepared. `others_share` is the share of the processors that other programs took, if that was
    measured.
    """

    real: Steps
    synthetic: Steps | None
    clock: str
    warmup: int
    batch_size: int | None
    gpu: GpuUse | None = None
    synthetic_gpu: GpuUse | None = None
    data_gpu: GpuUse | None = None
    others_share: float | None = None

    @property
    def data_share(self) -> float:
        """The share of the step's time that was waited for data."""
        return self.real.phase(DATA).share

    @property
    def data_verdict(self) -> str:
        """The word for `data_share`.

        "good": data is below 30 % of the step; "improvable": up to 50 %; "bottleneck": above.
        """
        return share_verdict(self.data_share)

    @property
    def variation(self) -> float:
        """The deviation of the step's time, divided by its mean."""
        return self.real.times.variation

    @property
    def variation_verdict(self) -> str:
        """The word for `variation`.

        "stable": below 20 %; "acceptable": up to 50 %; "oscillating": above.
        """
        return variation_verdict(self.variation)

    @property
    def steps_per_s(self) -> float:
        """Steps per second with real data."""
        return self.real.per_second

    @property
    def samples_per_s(self) -> float | None:
        """Samples per second with real data; None if the batch size is unknown."""
        return None if self.batch_size is None else self.real.per_second * self.batch_size

    @property
    def gain(self) -> float | None:
        """How many times as fast the same step is with data for free; None if that was not measured."""
        return None if self.synthetic is None else self.synthetic.per_second / self.real.per_second

    @property
    def proven_share(self) -> float | None:
        """The share of the step's time that goes when data is free; None if that was not measured.

        It covers the wait, and what the loader takes from the step's processors.
        """
        return None if self.gain is None else max(0.0, 1.0 - 1.0 / self.gain)

    @property
    def proven_error(self) -> float | None:
        """How far `proven_share` may be off, because steps differ by themselves: two standard errors.

        A share that is not above it proves nothing. None if that was not measured.
        """
        if self.synthetic is None or self.real.times.mean_ms <= 0:
            return None if self.synthetic is None else 0.0
        squares = self.real.error_ms**2 + self.synthetic.error_ms**2
        return float(2 * squares**0.5 / self.real.times.mean_ms)

    @property
    def device(self) -> str:
        """Where the steps ran, by the clock that timed them: "cuda" or "cpu"."""
        return "cuda" if self.clock in ("cuda", "tensorflow") else "cpu"

    @property
    def is_contradictory(self) -> bool:
        """True if the wait and the proof cannot both be true, so that something disturbed one of them.

        Steps wait for data, but are no faster with data for free; or they are slower then.
        """
        if self.proven_share is None or self.proven_error is None or self.gain is None:
            return False
        doubt = max(self.proven_error, text.NO_MATTER)
        return self.data_share - self.proven_share > doubt or self.gain < text.DISTURBED

    @property
    def least_cost(self) -> float:
        """The share of a step that data costs at the least: the wait, or what is proven without its error."""
        proven = 0.0 if self.proven_share is None else self.proven_share - (self.proven_error or 0.0)
        return max(self.data_share, proven)

    def to_json(self) -> dict[str, Any]:
        """Returns numbers and texts alone. The keys are stable."""
        data = self.real.phase(DATA)
        return {
            **self.real.to_json(self.batch_size),
            **({} if self.gpu is None else self.gpu.to_json()),
            **({} if self.data_gpu is None else {"data_gpu": self.data_gpu.to_json()}),
            **({} if self.others_share is None else {"others_share": self.others_share}),
            "clock": self.clock,
            "warmup_steps": self.warmup,
            "batch_size": self.batch_size,
            "data": {
                "ms": data.times.to_json(),
                "share": data.share,
                "verdict": self.data_verdict,
                "variation": data.times.variation,
                "cycle": cycle_to_json(data.times.cycle),
                "host_wait_ms": 1e3 * sum(self.real.host_wait_s) / len(self.real.host_wait_s),
            },
            "synthetic": None
            if self.synthetic is None
            else {
                **self.synthetic.to_json(self.batch_size),
                **({} if self.synthetic_gpu is None else self.synthetic_gpu.to_json()),
                "gain": self.gain,
                "data_share": self.proven_share,
                "data_share_error": self.proven_error,
                "verdict": share_verdict(self.proven_share or 0.0),
            },
            "advice": text.advice(self),
        }

    def save(self, path: str | Path) -> Path:
        """Writes the report by the path's ending: .json, .txt, or a picture as .svg or .png.

        Returns the path. Raises InvalidArgumentError for another ending, and ResourceError where it
        cannot be written; nothing is there then. Raises UnsupportedError where no program of this
        machine makes a PNG: then the picture is there as .svg, where no such file was.
        """
        path = Path(path)
        if path.suffix == ".json":
            written = (json.dumps(self.to_json(), indent=2) + "\n").encode()
        elif path.suffix == ".txt":
            written = f"{self}\n".encode()
        elif path.suffix == ".svg":
            written = self.plot().encode()
        elif path.suffix == ".png":
            written = self._png(path)
        else:
            raise InvalidArgumentError(f"a report is saved as .json, .txt, .svg or .png, not as '{path.name}'")
        try:
            path.write_bytes(written)
        except OSError as error:
            with contextlib.suppress(OSError):
                if path.is_file():
                    path.unlink()  # a part of it
            raise ResourceError(f"{path} could not be written: {error.strerror}") from error
        return path

    def _png(self, path: Path) -> bytes:
        from xtts_advise.picture.png import NoPng, png_of

        try:
            return png_of(self.plot())
        except NoPng as why:
            beside = path.with_suffix(".svg")
            if beside.exists():  # nobody named it, so it stays
                raise UnsupportedError(f"{path} could not be made: {why}; an .svg needs no such program") from why
            raise UnsupportedError(f"{path} could not be made: {why}. The picture is in {self.save(beside)}") from why

    def plot(self) -> str:
        """Returns a picture of the steps, as SVG.

        It shows the phases of each step on top of each other, and how many steps took how long.
        """
        from xtts_advise.picture.figure import draw  # import xtts_precompute needs its own folder alone

        from .plot import figure

        return draw(figure(self))

    def __str__(self) -> str:
        return text.describe(self)
