"""What a batch takes: raw audio on the fly, a cache, and a source that costs nothing, side by side."""

from __future__ import annotations

import statistics
from typing import Any

from .. import targets, words
from ..charts import Bar, Bars, Chart, Histogram, Series
from ..findings import Check, Evidence, Finding
from ..ranges import Range, range_of

_ROUNDS = "measured in rounds; files in memory"
# The fastest training step that users of this project report: 22 a second, with batches of 32.
_SHORT_STEP_MS = 45.0
# The users' own limit: a deviation below this share of a step is stable.
_STABLE_SHARE = 0.2
# Rounds of one second differ by less.
_CLEAR_SPEEDUP = 1.15


def check(
    *,
    batch_size: int,
    step_ms: float | None,
    own: list[float] | None = None,
    librosa: dict[str, Any] | None = None,
    ours: dict[str, Any] | None = None,
    cache: dict[str, Any] | None = None,
    is_sample: bool = False,
    no_cache: str = "",
) -> Check:
    """None: not measured, or not known.

    own: clips a second of the trainer's own loader. is_sample: the cache is one of a sample. no_cache: why there is
    none.
    """
    made = Check("real_run", "Real batches, side by side")
    bars = []
    for what, rounds in _sources(own, librosa, ours, cache, is_sample):
        rate = range_of(rounds)
        if rate is None:
            continue
        ms = Range(1e3 * batch_size, 1e3 * batch_size).over(rate)
        bars.append(Bar(what, ms.middle, ms.low, ms.high))
        taken = f"{words.short(ms.low)} to {words.short(ms.high)} ms a batch, {words.short(rate.middle)} clips/s"
        made.evidence.append(Evidence(what, taken, _ROUNDS, ms.middle, "ms"))
    by_definition = "one batch again and again, by definition"
    made.evidence.append(Evidence("synthetic data", "0 ms a batch", by_definition, 0.0, "ms"))
    made.charts.append(Chart(f"What a batch of {batch_size} takes", Bars("ms", bars), _ROUNDS))
    if cache:
        made.charts += _charts(cache)
    if librosa and (finding := judge_own_threads(librosa)):
        made.findings.append(finding)
    cached = _middle_ms(cache["clips_per_s"], batch_size) if cache else None
    if cache is None or cached is None:
        made.summary, made.is_judged = f"{no_cache or 'No batch came from a cache'}.", False
        return made
    made.summary = f"A batch of {batch_size} from a cache takes {words.short(cached)} ms: {targets.of_batch(cached)}."
    made.findings += _judge_evenness(cache["batch_ms"], step_ms or _SHORT_STEP_MS)
    # The trainer's own way where it was measured.
    way = own or (librosa["rates"] if librosa else ours or {"all": []})["all"]
    now = _middle_ms(way, batch_size)
    if now is not None:
        made.summary += f" Computed on the fly it takes {words.short(now)} ms."
        if cached >= now:
            text = "A batch from the cache takes no less time than one computed on the fly."
            remedy = "Look at the cache's storage: `xtts-precompute bench CACHE --cold`."
            made.findings.append(Finding("fail", text, remedy))
    return made


def judge_own_threads(librosa: dict[str, Any]) -> Finding | None:
    """What NumPy's own threads cost the workers; None: nothing that is clear."""
    now, single = range_of(librosa["rates"]["all"]), range_of(librosa["single_threaded"])
    if now is None or single is None or single.low < _CLEAR_SPEEDUP * now.high:
        return None
    times = single.over(now)
    return Finding(
        "warn",
        "NumPy's own threads get in the workers' way: with one thread each, "
        f"{librosa['rates']['worker_count']} workers compute {times.low:.1f} to {times.high:.1f} times as many clips "
        "on the fly.",
        f"As long as you train without a cache, set {librosa['setting']} before training starts.",
    )


def _sources(
    own: list[float] | None,
    librosa: dict[str, Any] | None,
    ours: dict[str, Any] | None,
    cache: dict[str, Any] | None,
    is_sample: bool,
) -> list[tuple[str, list[float]]]:
    """Names, and clips a second in each round."""
    found = []
    if own:
        found.append(("raw audio, your own loader", own))
    if librosa:
        rates = librosa["rates"]
        workers = words.counted(rates["worker_count"], "worker", "workers")
        found.append((f"raw audio, {rates['way']}, {workers}", rates["all"]))
        found.append((f"the same, with {librosa['setting']}", librosa["single_threaded"]))
    if ours:
        threads = words.counted(ours["worker_count"], "thread", "threads")
        found.append((f"raw audio, this program, {threads}", ours["all"]))
    if cache:
        found.append(("a cache of a sample" if is_sample else "the cache", cache["clips_per_s"]))
    return found


def _charts(cache: dict[str, Any]) -> list[Chart]:
    times = cache["batch_ms"]
    if len(times) < 2:
        return []
    return [
        Chart(
            "Batches from the cache, one after the other",
            Series("batches", "ms", times, cache["period"]),
            "the second pass, files in memory",
        ),
        Chart("How often a batch took how long", Histogram("ms", times), "the same batches"),
    ]


def _judge_evenness(times: list[float], step_ms: float) -> list[Finding]:
    """Uneven batches make uneven steps, but only as far as they are long beside a step."""
    share = statistics.pstdev(times) / (step_ms + statistics.fmean(times)) if times else 0.0
    if share < _STABLE_SHARE:
        return []
    text = f"Batches from the cache come unevenly: their deviation is {words.fine_percent(share)} of a step."
    remedy = "Let the machine be idle and measure again: `xtts-precompute bench CACHE`."
    return [Finding("warn", text, remedy)]


def _middle_ms(clips_per_s: list[float], batch_size: int) -> float | None:
    rate = range_of(clips_per_s)
    return None if rate is None else 1e3 * batch_size / rate.middle
