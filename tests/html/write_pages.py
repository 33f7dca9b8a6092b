"""write_pages.py FOLDER: writes reports of invented checks for check_pages.py.

A usual page, in English and in Persian, an empty one, a good one, and one of hostile texts and extreme values.
"""

from __future__ import annotations

import math
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "src/python"))

from xtts_advise.charts import Bar, Bars, Chart, Histogram, Level, Series, Stack
from xtts_advise.findings import Change, Check, Evidence, Finding, Gain
from xtts_advise.page.page import Facts, page_of


def stalling_times(count: int) -> list[float]:
    """Batches of 40 ms, with a stall of 190 ms at each tenth."""
    return [(190.0 if i % 10 == 7 else 40.0) + 6.0 * math.sin(i * i) for i in range(count)]


def check_of_help() -> Check:
    check = Check("will_it_help", "Will precomputing help?")
    check.findings = [
        Finding(
            "fail",
            "Yes: training waits for data 54 to 61 % of each step. From a cache it becomes 2.1 to 2.6 times as fast, "
            "and building the cache has paid after 2 epochs.",
            "Build a cache with `xtts-precompute './my data' ./cache --recipe tacotron2`, and train from it. "
            "`xtts-precompute trace -- python train.py` times your own loader.",
            gain=Gain(2.1, 2.6, "measured on 512 clips, within the range of three rounds"),
            changes=[
                Change("data.preprocessing_mode", "runtime", "precompute", "Batches come from a cache."),
                Change("data.cache_verification", "", "true", "A damaged cache is found at the start."),
                Change("data.mel_on_the_fly", "true", "", "`precompute` does not read it."),
            ],
        )
    ]
    model = "predicted by the model of docs/doctor.md"
    check.evidence = [
        Evidence("clips a second, librosa, 8 workers", "190 to 210 1/s", "measured, files in memory", 200.0, "1/s"),
        Evidence("the step without a wait for data", "84 ms", "--step-ms", 84.0, "ms"),
        Evidence("the step now", "184 to 196 ms", model, 190.0, "ms"),
        Evidence("the step from a cache", "84 to 92 ms", model, 88.0, "ms"),
    ]
    parts = [("waiting for data", 99.2), ("forward", 31.0), ("backward", 44.0), ("optimizer", 9.0), ("other", 0.34)]
    steps = [Bar("now", 190.0, 184.0, 196.0), Bar("from a cache", 88.0, 84.0, 92.0), Bar("without a wait", 84.0)]
    check.charts = [
        Chart("A training step, before and after", Bars("ms", steps), "predicted from measured rates"),
        Chart("The split of a step now", Stack("ms", parts), "a profile of 40 steps"),
    ]
    return check.conclude("")


def check_of_times() -> Check:
    check = Check("real_run", "A run of the pipeline")
    check.findings = [
        Finding(
            "warn",
            "One batch in 10 takes 190 ms instead of 40 ms.",
            "Set data.prefetch_buffer_size to 16.",
            "config.yaml:31",
            Gain(1.1, 1.4, "computed from the times of 120 batches"),
            [Change("data.prefetch_buffer_size", "2", "16", "A stall of 150 ms is covered by 4 batches.")],
        )
    ]
    check.evidence = [Evidence("batches", "120", "measured", 120.0)]
    series, histogram = Series("batches", "ms", stalling_times(120), 10.0), Histogram("ms", stalling_times(600))
    sources = [Bar("Python's workers", 61.0, 52.0, 70.0), Bar("from the cache", 4.2, 4.0, 4.4)]
    check.charts = [
        Chart("Batches from the cache, one after the other", series, "the second pass, files in memory"),
        Chart("How often a batch took how long", histogram),
        Chart("What a batch of 32 takes", Bars("ms", sources), "three rounds each"),
    ]
    return check.conclude("")


def check_of_storage() -> Check:
    summary = "The storage of ./data answers like an SSD: the clips of a batch of 32 take 12 ms one at a time."
    evidence = [
        Evidence("kind", "SSD, ext4", "/sys and /proc"),
        Evidence("sequential", "512 MiB/s", "read past the page cache", 5.4e8, "bytes/s"),
    ]
    return Check("storage", "Storage", summary, evidence=evidence)


def usual_checks() -> list[Check]:
    code = Check("code", "Patterns in the code")
    code.findings = [
        Finding(
            "warn", "`.item()` waits for the GPU in each step. [host_sync]", "Log every 100 steps.", "train.py:120"
        ),
        Finding("warn", "The `DataLoader` has no workers. [no_workers]", "Set num_workers to 8.", "data.py:34"),
    ]
    gpu = Check("gpu", "GPU hardware", "No NVIDIA driver answered, so the GPU is not known.", is_judged=False)
    return [check_of_help(), check_of_times(), code.conclude(""), check_of_storage(), gpu]


def hostile_checks() -> list[Check]:
    nan, infinite, largest = math.nan, math.inf, sys.float_info.max
    text = (
        "</p></script><script>document.title='taken'</script><img src=x onerror=alert(1)> \"'&amp; {{ 7 * 7 }} "
        f"`<b>` `xtts-precompute <i>` \x1b[31m \u202e txt.exe \udcff\udcfe \uffff ]]> {'W' * 400}"
    )
    findings = [
        Finding("fail", text, text, text, Gain(nan, infinite, text), [Change(text, text, text, text)]),
        Finding("warn", "a", "b", gain=Gain(1e-300, 1e300, "c")),
    ]
    check = Check(text, text, text, findings, [Evidence(text, text, text, None, text), Evidence("", "", "", nan)])
    lists = [
        [],
        [3.0],
        [nan],
        [nan, 2.0, infinite],
        [0.0, 0.0],
        [5.0, 5.0, 5.0],
        [-3.0, 4.0],
        [largest, -largest, 1.0],
        [1e-310, 1e-320],
        stalling_times(100_000),
    ]
    for values in lists:
        some = values[:60]
        ranges: list[tuple[str, Any, Any]] = [(text, -1.0, nan), ("bar", -infinite, 0.0), ("bar", -2.0, 1.0)]
        bars = [Bar(label, one, one + low, one + high) for one in some for label, low, high in ranges]
        check.charts += [
            Chart(text, Series(text, text, values, 2.5), text),
            Chart("histogram", Histogram("ms", values)),
            Chart("bars", Bars(text, bars, [Level(text, 2.0)])),
            Chart("stack", Stack(text, [(text, one) for one in some])),
        ]
    return [Check("will_it_help", "", text, is_judged=False), check]


def main(folder: pathlib.Path) -> None:
    facts = Facts(
        "Will precomputing help?",
        "2026-11-25 22:41",
        ["16 processors, 62.7 GiB of memory", "NVIDIA GeForce RTX 4090, 24 GiB, driver 550.54"],
        ["xtts-precompute 0.1.0", "FFmpeg 7.1"],
    )
    hostile = hostile_checks()
    text = hostile[0].summary
    pages = {
        "usual": page_of(facts, usual_checks()),
        "persian": page_of(facts, usual_checks(), "fa"),
        "empty": page_of(Facts(), []),
        "good": page_of(facts, [check_of_storage()]),
        "hostile": page_of(Facts(text, text, [text], [text], text), hostile),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
