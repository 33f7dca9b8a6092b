"""The question of help.py, put together from several measurements."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Check, Evidence, Finding, cannot_tell
from ..ranges import Range, middle_of, range_of
from ..words import counted, fine_percent, short
from . import help, storage
from .answers import number
from .measuring import Measured
from .request import Numbers

_RATE_MARGIN = 0.1  # how far rates measured for a few seconds are from those of an hour, beside what the rounds show
_STEP_MARGIN = 0.1  # how far the steps of a training are from the one that a user has timed
_OWN_MARGIN = 0.05  # of the user's own loader, which was timed beside a step
_MOSTLY_CACHED = 0.5  # of the sampled files, after they were read several times
_TELLING_BYTES = 1e6  # reads of smaller files are mostly the time to find them
_CPU_SHARE = 0.3  # of the processors: workers that take more can slow the step itself
_BUSY_SHARE = 0.2  # a machine that is busier than this before anything is measured gives low rates


def will_it_help(measured: Measured) -> Check:
    corpus = measured.corpus
    if corpus is None:
        return cannot_tell(
            help.NAME,
            "Will precomputing help?",
            "Without the corpus nothing can be computed on the fly: give --data to get an answer.",
        )
    rates = _rates_now(measured, corpus)
    if not range_of(rates["all"]):
        return cannot_tell(
            help.NAME,
            "Will precomputing help?",
            "No clip of the sample could be computed, so there is no rate.",
        )
    made = help.check(_question(measured, corpus, rates))
    made.findings += _doubts(measured, corpus)
    if measured.no_profile:
        made.evidence.append(Evidence("your step", "not profiled", measured.no_profile))
    if measured.worker_count is None and isinstance(measured.own, str):
        made.evidence.append(
            Evidence(
                "workers of the loader now",
                str(measured.workers()),
                "assumed: --workers says how many yours has",
                measured.workers(),
            )
        )
    if isinstance(measured.librosa, str) and isinstance(measured.own, str):
        made.evidence.append(Evidence("librosa, as most trainers use it", "not measured", measured.librosa))
    return made


def _question(measured: Measured, corpus: Numbers, rates: Numbers) -> help.Question:
    request, profile = measured.request, measured.profile
    source = "the profile that was given" if request.profile else "the trace of your training"
    has_cache = measured.cache is not None and bool(measured.cache["clips_per_s"])
    question = help.Question(
        on_the_fly=_supply_on_the_fly(measured, corpus, rates),
        cache=_supply_of_cache(measured, corpus, measured.cache) if measured.cache and has_cache else None,
        batch_size=measured.batch_size,
        clip_count=corpus["clip_count"],
        step_ms=profile.step_ms,
        step_source=source,
        step_uses_cpu=request.trains_on_cpu or profile.is_on_cpu,
        usable_cores=measured.machine["usable_cores"],
        build_s=_build_s(measured, corpus),
        has_cache=bool(request.cache),
        is_trainers_way=not isinstance(measured.librosa, str),
        is_own_loader=isinstance(measured.own, dict) and not profile.real_step_ms,
        trainer=request.loader or request.config or request.code,
        not_timed=measured.own if isinstance(measured.own, str) else "",
        names_loader=bool(request.loader),
        measured=help.Measured(
            profile.real_step_ms, profile.data_share, profile.gpu_utilization, profile.gpu_utilization_std, source
        ),
    )
    if request.step_ms and not profile.step_ms:
        question.step_ms = Range(request.step_ms, request.step_ms).wider(_STEP_MARGIN)
        question.step_source = "--step-ms, and 10 % on both sides"
    return question


def _rates_now(measured: Measured, corpus: Numbers) -> Numbers:
    """The way that the trainer loads now: its own, else librosa where it is installed, else ours."""
    if isinstance(measured.own, dict):
        return measured.own
    rates: Numbers = corpus["rates"] if isinstance(measured.librosa, str) else measured.librosa["rates"]
    return rates


def _stays_cached(measured: Measured, corpus: Numbers) -> bool:
    """Some file systems keep nothing in the page cache. Then the rates contain the reads."""
    share = corpus["share_in_page_cache"]
    return share is None or share >= _MOSTLY_CACHED


def _fits(measured: Measured, size_bytes: float) -> bool:
    return bool(size_bytes < measured.machine["memory_available_bytes"] / 2)


def _supply_on_the_fly(measured: Measured, corpus: Numbers, rates: Numbers) -> help.Supply:
    if isinstance(measured.own, dict):
        return _supply_of_own(measured, measured.own)
    has_workers = measured.worker_count != 0
    workers = counted(rates["worker_count"], "worker", "workers") if has_workers else "no workers"
    disk_ms = (storage.batch_ms_deep if has_workers else storage.batch_ms)(corpus["storage"], measured.batch_size)
    stays_cached = _stays_cached(measured, corpus)
    one = range_of(rates["one"])
    return help.Supply(
        f"on the fly with {rates['way']}, {workers}",
        range_of(rates["all" if has_workers else "one"], _RATE_MARGIN) or Range(0, 0),
        not stays_cached,
        Range(disk_ms, disk_ms) if stays_cached and disk_ms else None,
        _fits(measured, corpus["source_bytes"]),
        has_workers,
        1e3 / one.middle if one else 0.0,
    )


def _supply_of_own(measured: Measured, own: Numbers) -> help.Supply:
    rate = middle_of(own["all"], _RATE_MARGIN)
    batch_ms, step_ms = 1e3 * measured.batch_size / rate.middle, own["step_ms"]
    took = middle_of(own["with_step_ms"], _OWN_MARGIN)
    # Else, the batch is made while the step waits for it.
    is_overlapped = took.middle < max(step_ms, batch_ms) + min(step_ms, batch_ms) / 2
    cpu_ms_per_clip = measured.machine["usable_cores"] * batch_ms / measured.batch_size  # at most
    return help.Supply(
        own["way"],
        rate,
        is_overlapped=is_overlapped,
        cpu_ms_per_clip=cpu_ms_per_clip,
        beside_step=(step_ms, took),
    )


def _supply_of_cache(measured: Measured, corpus: Numbers, cache: Numbers) -> help.Supply:
    record_bytes = cache["shard_bytes"] / max(cache["clip_count"], 1)
    # A sample says nothing of the whole cache's size, but its clips do.
    whole_bytes = cache["shard_bytes"] if measured.request.cache else record_bytes * corpus["clip_count"]
    disk = cache["storage"] or corpus["storage"]
    disk_ms = None
    if disk["sequential_bytes_per_s"]:
        ms = 1e3 * record_bytes * measured.batch_size / disk["sequential_bytes_per_s"]
        tells_little = not cache["storage"] and disk["extent_bytes"] < _TELLING_BYTES
        disk_ms = Range(0.0 if tells_little else ms, ms)
    return help.Supply(
        "cache",
        range_of(cache["clips_per_s"], _RATE_MARGIN) or Range(0, 0),
        False,
        disk_ms,
        _stays_cached(measured, corpus) and _fits(measured, whole_bytes),
        True,
        cache["cpu_ms_per_clip"],
    )


def _build_s(measured: Measured, corpus: Numbers) -> Range | None:
    """A build uses all processors, the trainer's loader perhaps fewer."""
    cores = measured.machine["usable_cores"]
    rates = corpus["rates"]
    has_all = rates["worker_count"] >= int(max(cores, 1))
    rate = range_of(rates["all" if has_all else "one"], _RATE_MARGIN)
    clips = corpus["clip_count"]
    return Range(clips / (rate.high * (1 if has_all else cores)), clips / rate.low) if rate else None


def _doubts(measured: Measured, corpus: Numbers) -> Iterator[Finding]:
    """What makes the prediction less sure than its range says, and what the user may not expect."""
    if isinstance(measured.own, dict) and measured.own["note"]:
        yield Finding(
            "warn",
            f"The loader that was timed is not the one that was asked for: {measured.own['note']}.",
            "Mend what it names, as `pip install` of a missing package: the training goes on with the slower one.",
        )
    if measured.others > _BUSY_SHARE:
        yield Finding(
            "warn",
            f"Other programs used {fine_percent(measured.others)} of the processors before the doctor began, so its "
            "rates are too low.",
            "Let the machine be idle and ask again.",
        )
    step, cpu_ms = measured.profile.real_step_ms, number(measured.trace or {}, "workers_cpu_ms") or 0.0
    cores = measured.machine["usable_cores"]
    if step and cpu_ms >= _CPU_SHARE * cores * step.middle:
        yield Finding(
            "warn",
            f"The workers of your training compute {short(cpu_ms)} ms for each step, on {cores:g} processors: that can "
            "slow the step itself, which its wait does not show.",
            "Measure what data costs in all: `xtts-precompute profile --loader M:N --step M:N`.",
        )
    if corpus["clip_count"] < measured.batch_size:
        yield Finding(
            "warn",
            f"A batch of {measured.batch_size} is more than the corpus has: "
            f"{counted(corpus['clip_count'], 'clip', 'clips')}.",
            "Give the batch size that you train with: --batch-size.",
        )
    if measured.request.cache and measured.cache and measured.cache["fingerprint"] != corpus["recipe"]["fingerprint"]:
        yield Finding(
            "warn",
            f"The cache has other features than those measured on the fly (recipe {corpus['recipe']['name']}).",
            "Name the cache's recipe: --recipe, or --config.",
        )
