"""Measures steps for `xtts-precompute profile`, and measures again what other programs disturbed."""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from xtts_advise.others import DISTURBING, Others

from .own_code import OwnLoader, own_step
from .placement import place
from .profiler import StepProfiler
from .progress import StepCount
from .report import ProfileReport
from .runs import Run, framework_of, gpu_count, name_of, prepare, usual_gpu


def measure(options: argparse.Namespace, tell: Callable[[str], None] | None) -> tuple[Run, ProfileReport]:
    """Returns what was timed, and the report of the last measurement.

    `tell` gets messages, and stderr a count of the steps. None: neither is wanted.
    """
    placement = None
    if (options.data_gpu, options.model_gpu) != (None, None):
        placement = place(options.data_gpu, options.model_gpu, gpu_count(framework_of(options.framework)))
        if options.loader is not None:
            placement = placement.only_watched()
    gpu = usual_gpu(options.device) if placement is None else placement.model
    amount = _Amount.asked(options)
    profiler = StepProfiler(warmup=amount.warmup, batch_size=options.batch_size, gpu=gpu)
    run = (
        _own(options, profiler, "" if placement is None else placement.note)
        if options.loader is not None
        else prepare(options, profiler, placement)
    )
    # An iterator that is there only once has no second measurement.
    attempts = options.attempts if getattr(run.loader, "begins_anew", True) else 1

    def measured() -> ProfileReport:
        others = Others()
        if placement is not None:
            profiler.watch_data_gpu(placement.data)
        report = _measure(options, amount, profiler, run, tell is not None)
        return replace(report, others_share=others.share())

    with contextlib.closing(run.loader):
        report = measured()
        longer = amount.longer(options, report)
        if longer != amount and attempts > 1:
            if tell is not None:
                tell(f"{amount.steps} steps take too short a time: measuring {longer.steps:,}")
            amount = longer
            profiler.forget(amount.warmup)
            report = measured()
        for attempt in range(1, attempts + 1):
            reason = disturbance(report)
            if reason is None or attempt == attempts:
                return run, report
            if tell is not None:
                tell(f"{reason}: measuring again ({attempt + 1} of at most {attempts})")
            profiler.forget()
            report = measured()
    raise AssertionError("the last attempt returns")


@dataclass(frozen=True)
class _Amount:
    """How many steps count, and how many before them do not.

    Steps of a large GPU take some ms. 50 of them are over before the processor and the program have
    settled: on an H200, a batch that was there already seemed to cost 10 % of such a step.
    """

    steps: int
    warmup: int

    @classmethod
    def asked(cls, options: argparse.Namespace) -> _Amount:
        return cls(options.num_steps or 50, 5 if options.warmup is None else options.warmup)

    def longer(self, options: argparse.Namespace, report: ProfileReport) -> _Amount:
        """Returns how much to measure, after a measurement of self; self where that was enough."""
        step_s = report.real.times.mean_ms / 1e3
        if options.num_steps is not None or not 0 < step_s * self.steps < 1:
            return self
        return _Amount(
            min(math.ceil(2 / step_s), 10_000),
            min(math.ceil(0.5 / step_s), 2_500) if options.warmup is None else options.warmup,
        )


def disturbance(report: ProfileReport) -> str | None:
    """Returns why a report should not be believed, or None."""
    if report.others_share is not None and report.others_share > DISTURBING:
        return f"other programs took {100 * report.others_share:.0f} % of the processors"
    if report.is_contradictory:
        return "waiting for data and steps with data for free do not agree"
    return None


def _measure(
    options: argparse.Namespace, amount: _Amount, profiler: StepProfiler, run: Run, shows_steps: bool
) -> ProfileReport:
    kinds = 1 if options.no_synthetic else 2
    count = StepCount(kinds * (amount.warmup + amount.steps)) if shows_steps else None
    step = run.step if count is None else count.counted(run.step)
    try:
        if not options.no_synthetic:
            return profiler.compare(run.loader, step, amount.steps)
        for batch in profiler.batches(run.loader, amount.steps):
            step(batch)
            del batch
        return profiler.report()
    finally:
        if count is not None:
            count.clear()


def _own(options: argparse.Namespace, profiler: StepProfiler, note: str) -> Run:
    loader = OwnLoader(options.loader)
    step = own_step(options.step, profiler)
    title = f"{options.loader} and {options.step}"
    return Run(loader, step, title, name_of(), None, None, note=note)
