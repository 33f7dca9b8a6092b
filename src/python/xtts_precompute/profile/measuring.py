"""Measures steps for `xtts-precompute profile`, and measures again what other programs disturbed."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from dataclasses import replace

from .others import DISTURBING, Others
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
    gpu = usual_gpu(options.device) if placement is None else placement.model
    profiler = StepProfiler(warmup=options.warmup, batch_size=options.batch_size, gpu=gpu)
    run = (
        _own(options, profiler, "" if placement is None else placement.note)
        if options.loader is not None
        else prepare(options, profiler, placement)
    )
    # An iterator that is there only once has no second measurement.
    attempts = options.attempts if getattr(run.loader, "begins_anew", True) else 1
    with contextlib.closing(run.loader):
        for attempt in range(1, attempts + 1):
            others = Others()
            if placement is not None:
                profiler.watch_data_gpu(placement.data)
            report = replace(_measure(options, profiler, run, tell is not None), others_share=others.share())
            reason = disturbance(report)
            if reason is None or attempt == attempts:
                return run, report
            if tell is not None:
                tell(f"{reason}: measuring again ({attempt + 1} of at most {attempts})")
            profiler.forget()
    raise AssertionError("the last attempt returns")


def disturbance(report: ProfileReport) -> str | None:
    """Returns why a report should not be believed, or None."""
    if report.others_share is not None and report.others_share > DISTURBING:
        return f"other programs took {100 * report.others_share:.0f} % of the processors"
    if report.is_contradictory:
        return "waiting for data and steps with data for free do not agree"
    return None


def _measure(options: argparse.Namespace, profiler: StepProfiler, run: Run, shows_steps: bool) -> ProfileReport:
    kinds = 1 if options.no_synthetic else 2
    count = StepCount(kinds * (options.warmup + options.num_steps)) if shows_steps else None
    step = run.step if count is None else count.counted(run.step)
    try:
        if not options.no_synthetic:
            return profiler.compare(run.loader, step, options.num_steps)
        for batch in profiler.batches(run.loader, options.num_steps):
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
