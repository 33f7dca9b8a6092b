"""A ProfileReport in words: the table, the verdicts, and what to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base.words import counted
from .placement import tier
from .times import BOTTLENECK_SHARE, GOOD_SHARE, STABLE_VARIATION, Cycle, share_verdict, variation_verdict

if TYPE_CHECKING:
    from .gpu import GpuUse
    from .report import ProfileReport, Steps

# Precomputed data should cost less of a step than this: how even it is then has no effect on steps.
NO_MATTER = 0.05
DISTURBED = 0.9  # a gain below it comes from other programs, not from the data


def describe(report: ProfileReport) -> str:
    """Returns some lines; the last one has no line end."""
    real = report.real
    size = "" if report.batch_size is None else f" of {report.batch_size} samples"
    warmup = f", after {report.warmup} that do not count" if report.warmup else ""
    lines = [f"{counted(len(real.by_phase), 'step', 'steps')}{size}{warmup} ({report.clock} clock)", *_table(real)]
    # With a proof, the verdict stands there: the wait is only a part of what data costs.
    verdict = f": {report.data_verdict}" if report.synthetic is None else ""
    lines.append(
        f"{_rates(real, report.batch_size)}; waiting for data {percent(report.data_share)} of the step{verdict}; "
        f"variation {percent(report.variation)}: {report.variation_verdict}"
    )
    if report.variation >= STABLE_VARIATION:
        lines += _rhythm("step", real.times.cycle)
    data = real.phase("data").times
    if report.data_share >= NO_MATTER:
        # Against the step: an uneven wait that is short does not make steps uneven.
        of_step = data.std_ms / real.times.mean_ms
        lines.append(
            f"wait for data: {number(data.mean_ms)} ms; it varies by ± {number(data.std_ms)} ms, {percent(of_step)} "
            f"of the step: {variation_verdict(of_step)}"
        )
        lines += _rhythm("wait", data.cycle)
    if report.gpu is not None:
        lines += _gpu(report.gpu)
    if report.data_gpu is not None:
        lines += _data_gpu(report.data_gpu, report.gpu)
    if report.synthetic is not None:
        lines.append(_proof(report))
    if report.synthetic_gpu is not None and report.synthetic_gpu.utilization is not None:
        lines.append(f"with data for free, the GPU is busy {utilization(report.synthetic_gpu)}")
    return "\n".join(lines + advice(report))


def _table(steps: Steps) -> list[str]:
    rows = [("", "ms", "± std", "p50", "p95", "share")]
    for name, share, times in [*((one.name, one.share, one.times) for one in steps.phases), ("step", 1.0, steps.times)]:
        rows.append(
            (
                name,
                number(times.mean_ms),
                number(times.std_ms),
                number(times.p50_ms),
                number(times.p95_ms),
                percent(share),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  " + "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]


def _rates(steps: Steps, batch_size: int | None) -> str:
    samples = "" if batch_size is None else f", {number(steps.per_second * batch_size)} samples/s"
    return f"{number(steps.per_second)} steps/s{samples}"


def utilization(use: GpuUse) -> str:
    found = use.utilization
    return "" if found is None else f"{found['mean']:.0f} ± {found['std']:.0f} % of the time"


def _gpu(use: GpuUse) -> list[str]:
    values = use.values
    if values is None:
        return [f"the GPU was not watched: {use.missing}"]
    lines = []
    found = use.utilization
    if found is not None:
        verdict = f"{use.level}, and it swings" if use.swings else f"{use.level}, {use.steadiness}"
        span = f"{found['p5']:.0f} to {found['p95']:.0f} % in 90 % of {counted(values['samples'], 'sample', 'samples')}"
        lines.append(f"{values['name']}: busy {utilization(use)} ({span}): {verdict}")
    facts = []
    if values["memory_used_bytes"] is not None:
        total = values["memory_total_bytes"]
        of_total = "" if total is None else f" of {total / 2**30:.1f}"
        facts.append(f"{values['memory_used_bytes']['max'] / 2**30:.1f}{of_total} GiB of memory in use")
    if values["pcie_received_bytes_per_s"] is not None:
        facts.append(f"{number(values['pcie_received_bytes_per_s']['mean'] / 2**20)} MiB/s over PCIe to it")
    if values["sm_clock_mhz"] is not None:
        facts.append(f"clock {values['sm_clock_mhz']['mean']:.0f} MHz")
    if values["power_w"] is not None:
        limit = values["power_limit_w"]
        facts.append(f"{values['power_w']['mean']:.0f}{'' if limit is None else f' of {limit:.0f}'} W")
    if values["throttle_reasons"]:
        facts.append("slowed down by " + ", ".join(values["throttle_reasons"]))
    if facts:
        lines.append("GPU: " + ", ".join(facts))
    if use.missing:
        lines.append(f"not read of the GPU: {use.missing}")
    return lines


def _data_gpu(use: GpuUse, model: GpuUse | None) -> list[str]:
    if use.values is None or use.utilization is None:
        return [f"the GPU that prepares data was not watched: {use.missing}"]
    line = (
        f"{use.values['name']}, which prepares data: busy {utilization(use)}: {tier('data', use.utilization['mean'])}"
    )
    if model is not None and model.utilization is not None:
        line += f"; as one that trains, the other is {tier('model', model.utilization['mean'])}"
    return [line]


def _rhythm(what: str, cycle: Cycle | None) -> list[str]:
    if cycle is None:
        return []
    rhythm = (
        f"every {round(cycle.period, 1)} steps the times of the {what} repeat themselves ({percent(cycle.strength)})"
    )
    return [f"{rhythm}: a queue that runs dry and is filled again"]


def _proof(report: ProfileReport) -> str:
    assert (
        report.synthetic is not None
        and report.gain is not None
        and report.proven_share is not None
        and report.proven_error is not None
    )
    proven, error, wait = report.proven_share, report.proven_error, report.data_share
    rates = _rates(report.synthetic, report.batch_size)
    text = f"with the same batch again and again, data for free: {rates}, {report.gain:.2f} times as many. "
    if report.is_contradictory:
        return text + "That does not fit the wait, so something else slowed steps down: it proves nothing"
    if proven <= error:
        text += f"That is within ± {percent(error)}, by which steps differ by themselves: "
        return text + (
            "data is not the bottleneck" if wait < GOOD_SHARE else "it proves nothing, so measure more steps"
        )
    text += f"Data costs {percent(proven)} (± {percent(error)}) of the time"
    if proven - wait > max(error, NO_MATTER):
        text += f": {percent(wait)} waiting, {percent(proven - wait)} because its loader slows the rest of the step"
    verdict = share_verdict(proven)
    if verdict == "good" and proven >= NO_MATTER:
        return text + f". Below {percent(GOOD_SHARE)} counts as good; it is a cost all the same"
    return (
        text
        + {
            "good": ": data is not the bottleneck",
            "improvable": ". That is a part of the time, and not the greater one",
            "bottleneck": ": data is the bottleneck",
        }[verdict]
    )


def advice(report: ProfileReport) -> list[str]:
    """Returns what to do next, a sentence each; nothing where all is well."""
    found = []
    share, proven = report.data_share, report.proven_share
    has_proof = proven is not None and proven > (report.proven_error or 0.0)
    if max(share, proven if has_proof and proven is not None else 0.0) >= GOOD_SHARE:
        found.append(
            "Precompute the features (xtts-precompute DATA CACHE) and read them with xp.torch.Loader, "
            "xp.tensorflow.Loader or xp.tensorflow.dataset; where that is done, `xtts-precompute bench CACHE` "
            "tells what the cache itself can give."
        )
    if proven is None and GOOD_SHARE <= share <= BOTTLENECK_SHARE:
        found.append(
            "Measure with synthetic data, too (StepProfiler.synthetic or compare): that proves what data costs."
        )
    if proven is not None and proven - share >= max(NO_MATTER, report.proven_error or 0.0):
        found.append(
            "The loader takes more than the wait shows: its workers compute on the processors that the step needs."
        )
    found += _passes(report.real)
    error = report.proven_error
    if proven is not None and error is not None and has_proof and error > proven / 2:
        found.append(f"The cost is known to ± {percent(error)} only, because steps differ so much: measure more steps.")
    from xtts_advise.others import DISTURBING  # import xtts_precompute needs its own folder alone

    if report.others_share is not None and report.others_share > DISTURBING:
        told = (
            f"Other programs took {percent(report.others_share)} of the processors meanwhile: measure again when the "
            "machine is idle."
        )
        found.insert(0, told)  # the rest may come from them
    elif report.is_contradictory:
        found.append("Measure again when the machine is idle, and with more steps.")
    if report.gpu is not None and report.gpu.swings and share >= GOOD_SHARE:
        found.append("The GPU's utilization swings because batches come late, in bursts.")
    if report.gpu is not None and report.gpu.is_steadily_low and share < GOOD_SHARE:
        found.append(
            "The GPU is steadily at a low utilization, and data is not why: compile the step (torch.compile, or "
            "tf.function with XLA), or take larger batches."
        )
    if report.variation >= STABLE_VARIATION and share < NO_MATTER:
        found.append(
            "The steps are uneven, and data is not why: look for validation or checkpoints inside the step, "
            "shapes that change, or other programs."
        )
    return found


def _passes(steps: Steps) -> list[str]:
    """Returns what beginning the loader anew costs, where that is what steps wait for."""
    waits: dict[bool, list[float]] = {True: [], False: []}
    for begins, wait in zip(steps.begins_pass, steps.seconds("data")):
        waits[begins].append(1e3 * wait)
    if not waits[True] or not waits[False]:
        return []
    first, later = (sum(some) / len(some) for some in (waits[True], waits[False]))
    if first * len(waits[True]) < NO_MATTER * steps.times.mean_ms * len(steps.by_phase) or first < 3 * later:
        return []
    told = (
        f"{counted(len(waits[True]), 'step', 'steps')} of {len(steps.by_phase)} began a new pass over the loader and "
        f"waited {number(first)} ms, the others {number(later)} ms: keep its workers (persistent_workers=True of a "
        "DataLoader). In a larger corpus passes are rarer."
    )
    return [told]


def number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
