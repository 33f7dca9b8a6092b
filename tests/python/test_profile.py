"""StepProfiler: shares, verdicts and rhythms with known answers, and real waits that it finds.

The known answers come from a clock that the test moves.
"""

import json
import sys
import time
import xml.dom.minidom

import numpy as np
import pytest
import xtts_precompute as xp
from support import framework, ran
from xtts_precompute.profile.plot import bins_of, figure, round_up
from xtts_precompute.profile.times import find_cycle, share_verdict, standard_error, summarize, variation_verdict


class Watch:
    """A clock that stands still until the test moves it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def batches(self, waits, batch=None):
        """Yields a batch after each wait, in seconds."""
        for wait in waits:
            self.now += wait
            yield np.zeros((4, 2)) if batch is None else batch

    def work(self, profiler, **seconds):
        for name, one in seconds.items():
            with profiler.phase(name):
                self.now += one


def profile(waits, warmup=0, idle=0.0, **seconds):
    watch = Watch()
    profiler = xp.StepProfiler(warmup=warmup, clock=watch)
    for _ in profiler.batches(watch.batches(waits)):
        watch.work(profiler, **seconds)
        watch.now += idle
    return profiler.report()


def shares(report):
    return {phase["name"]: round(phase["share"], 9) for phase in report.to_json()["phases"]}


# ---- figures


def test_the_step_is_split_into_shares_of_which_none_is_lost():
    report = profile([1.0] * 8, idle=0.5, backward=4.0, forward=2.0, clip=1.5, to_device=1.0)
    # In a step's order; unknown names follow, and the time in no phase comes last.
    assert list(shares(report)) == ["data", "to_device", "forward", "backward", "clip", "other"]
    assert shares(report) == {
        "data": 0.1,
        "to_device": 0.1,
        "forward": 0.2,
        "backward": 0.4,
        "clip": 0.15,
        "other": 0.05,
    }
    assert report.to_json()["step"]["ms"] == {"mean": 10_000, "std": 0, "p50": 10_000, "p95": 10_000, "p99": 10_000}
    assert (
        report.steps_per_s == pytest.approx(0.1)
        and report.samples_per_s == pytest.approx(0.4)
        and report.to_json()["batch_size"] == 4
    )


def test_figures_are_those_of_bench():
    times = summarize([0.004, 0.001, 0.003, 0.002])
    assert (times.mean_ms, times.p50_ms, times.p95_ms, times.p99_ms) == (2.5, 2.0, 4.0, 4.0)
    assert times.std_ms == pytest.approx(1.1180, abs=1e-4) and times.variation == pytest.approx(0.4472, abs=1e-4)
    assert times.cycle is None


@pytest.mark.parametrize(
    ("wait", "verdict"), [(2.9, "good"), (3.0, "improvable"), (5.0, "improvable"), (5.1, "bottleneck")]
)
def test_the_verdict_on_data_is_by_its_share(wait, verdict):
    report = profile([wait] * 3, forward=10 - wait)
    assert report.data_share == pytest.approx(wait / 10) and report.data_verdict == verdict
    assert report.to_json()["data"]["verdict"] == verdict == share_verdict(wait / 10)
    assert verdict in str(report)


@pytest.mark.parametrize(
    ("apart", "verdict"), [(0.19, "stable"), (0.2, "acceptable"), (0.5, "acceptable"), (0.51, "oscillating")]
)
def test_the_verdict_on_variation_is_by_std_over_mean(apart, verdict):
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for number, _ in enumerate(profiler.batches(watch.batches([0] * 10))):
        watch.now += 1 + (apart if number % 2 else -apart)
    report = profiler.report()
    assert report.variation == pytest.approx(apart)
    assert report.variation_verdict == report.to_json()["step"]["verdict"]
    assert variation_verdict(apart) == verdict and variation_verdict(report.variation) in (
        verdict,
        variation_verdict(apart - 1e-9),
    )


@pytest.mark.parametrize("period", [2, 5, 16, 24])
def test_a_queue_that_runs_dry_is_a_cycle_of_its_period(period):
    waits = [0.9 if number % period == period - 1 else 0.1 for number in range(120)]
    report = profile(waits, forward=0.2)
    for found in (report.to_json()["step"]["cycle"], report.to_json()["data"]["cycle"]):
        assert found["period"] == period and found["strength"] > 0.5
    assert f"every {period} steps the times of the wait repeat themselves" in str(report)


def test_the_period_is_the_shortest_also_where_a_multiple_of_it_is_stronger():
    waits = [0.1 if number % 5 < 4 else 0.9 if number % 10 < 5 else 1.3 for number in range(120)]
    assert profile(waits, forward=0.2).to_json()["step"]["cycle"]["period"] == 5


def test_noise_and_even_times_have_no_rhythm():
    random = np.random.default_rng(3)
    assert find_cycle(1 + random.exponential(1, 400)) is None
    assert find_cycle(5 + random.uniform(-0.05, 0.05, 400)) is None
    assert find_cycle(np.ones(400)) is None and find_cycle(np.zeros(400)) is None
    assert find_cycle([1, 9, 1, 9]) is None  # too few times
    wave = find_cycle(2 + np.sin(2 * np.pi * np.arange(200) / 20) + random.uniform(-0.05, 0.05, 200))
    assert abs(wave.period - 20) <= 1


# ---- what belongs to a step


def test_warmup_steps_do_not_count():
    report = profile([100.0] * 3 + [1.0] * 4, warmup=3, forward=1.0)
    assert report.to_json()["steps"] == 4 and report.to_json()["step"]["ms"]["mean"] == 2000
    assert report.to_json()["warmup_steps"] == 3


def test_phases_add_up_and_the_innermost_one_counts():
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for _ in profiler.batches(watch.batches([0, 0])):
        for _ in range(2):  # as when gradients are accumulated
            with profiler.phase("forward"):
                watch.now += 1
                with profiler.phase("loss"):
                    watch.now += 3
                watch.now += 1
    assert shares(profiler.report()) == {"data": 0, "forward": 0.4, "loss": 0.6, "other": 0}


def test_without_batches_the_step_is_told():
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch, batch_size=10)
    for _ in range(3):
        watch.work(profiler, data=1, forward=3)
        profiler.step()
        watch.now += 1000  # validation belongs to no step
    profiler.step()  # nothing has begun, so this is no step
    report = profiler.report()
    assert report.to_json()["steps"] == 3 and report.data_share == 0.25 and report.samples_per_s == 2.5


def test_what_comes_after_step_is_not_of_the_step():
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for _ in profiler.batches(watch.batches([1] * 3)):
        watch.work(profiler, forward=1)
        profiler.step()
        watch.now += 50
    assert profiler.report().to_json()["step"]["ms"]["mean"] == 2000


def test_steps_go_over_the_loaders_end():
    class Loader:
        passes = 0

        def __iter__(self):
            self.passes += 1
            return iter([np.zeros(2)] * 3)

    loader = Loader()
    profiler = xp.StepProfiler(warmup=2, clock=Watch())
    assert sum(1 for _ in profiler.batches(loader, steps=5)) == 7 and loader.passes == 3
    assert profiler.report().to_json()["steps"] == 5
    # An iterator that can be used only once ends, and so does an empty loader.
    assert sum(1 for _ in xp.StepProfiler(clock=Watch()).batches(iter([1, 2, 3]), steps=50)) == 3
    assert list(xp.StepProfiler(clock=Watch()).batches([], steps=5)) == []


def test_a_step_that_was_broken_off_does_not_count():
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for number, _ in enumerate(profiler.batches(watch.batches([1] * 10))):
        if number == 2:
            watch.now += 500
            break
        watch.work(profiler, forward=1)
    with pytest.raises(ZeroDivisionError):
        for _ in profiler.batches(watch.batches([1] * 10)):
            with profiler.phase("forward"):
                watch.now += 500
                1 / 0
    for _ in profiler.batches(watch.batches([1])):
        watch.work(profiler, forward=1)
    for _ in profiler.batches(watch.batches([1] * 10)):
        watch.now += 500
        break
    watch.work(profiler, data=1, forward=1)  # without batches()
    profiler.step()
    report = profiler.report()
    assert report.to_json()["steps"] == 4 and report.to_json()["step"]["ms"]["mean"] == 2000


def test_a_batch_is_not_kept():
    import weakref

    class Batch:
        pass

    alive = []
    profiler = xp.StepProfiler(warmup=0)
    for batch in profiler.batches(Batch() for _ in range(3)):
        alive.append(weakref.ref(batch))
        del batch
        assert alive[-1]() is None


# ---- errors


def test_errors_say_what_to_do():
    watch = Watch()
    profiler = xp.StepProfiler(warmup=1, clock=watch)
    with pytest.raises(xp.InvalidArgumentError, match="no step has been measured: 0 steps are over"):
        profiler.report()
    for name, reason in (("other", "time in no phase"), ("step", "the whole"), ("", "a name"), (3, "must be a text")):
        with pytest.raises(xp.InvalidArgumentError, match=reason):
            profiler.phase(name)
    with pytest.raises(xp.InvalidArgumentError, match="step\\(\\) within phase 'forward'"), profiler.phase("forward"):
        profiler.step()
    with pytest.raises(xp.InvalidArgumentError, match="asked for within phase 'epoch'"), profiler.phase("epoch"):
        next(profiler.batches([1]))
    outer = profiler.batches([1, 2])
    next(outer)
    next(profiler.batches([3]))
    with pytest.raises(xp.InvalidArgumentError, match="another loop over this profiler's batches has begun"):
        next(outer)
    for wrong in ({"warmup": -1}, {"warmup": 1.5}, {"clock": "sun"}, {"clock": 3}, {"batch_size": 0}):
        with pytest.raises(xp.InvalidArgumentError):
            xp.StepProfiler(**wrong)
    with pytest.raises(xp.InvalidArgumentError, match="from 1 to"):
        profiler.compare([1], print, steps=0)
    with pytest.raises(xp.InvalidArgumentError, match="the loader has no batches"):
        profiler.compare([], print)


def test_a_clock_of_cuda_without_cuda_is_refused():
    torch = framework("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(xp.UnsupportedError, match="clock='wall'"):
        next(xp.StepProfiler(clock="cuda").batches([1]))


def test_on_cuda_the_gpus_own_time_is_measured():
    torch = framework("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA here: the clock of CUDA events is not tried")
    matrix = torch.rand(4096, 4096, device="cuda")
    profiler = xp.StepProfiler(warmup=3)
    for _ in profiler.synthetic(matrix, steps=20):
        with profiler.phase("forward"):
            for _ in range(20):
                matrix @ matrix  # the call returns long before the GPU is done
        with profiler.phase("loss"):
            pass
    for _ in profiler.batches([matrix], steps=5):
        pass
    steps = profiler.report().to_json()["synthetic"]
    found = {phase["name"]: phase["share"] for phase in steps["phases"]}
    assert found["forward"] > 0.9 and found["loss"] < 0.05


# ---- what it proves


class Waits:
    """A loader that sleeps before each batch."""

    def __init__(self, seconds, count=20):
        self.seconds, self.count = seconds, count

    def __iter__(self):
        for _ in range(self.count):
            time.sleep(self.seconds)
            yield np.zeros((8, 3))


def test_a_slow_loader_is_called_the_bottleneck_and_proved_to_be_it():
    profiler = xp.StepProfiler(warmup=1)

    def step(_batch):
        with profiler.phase("forward"):
            time.sleep(0.01)

    report = profiler.compare(Waits(0.04), step, steps=12)
    found = report.to_json()
    assert report.data_verdict == "bottleneck" and 0.6 < report.data_share < 0.95
    assert found["synthetic"]["verdict"] == "bottleneck" and 2.5 < report.gain < 8
    assert found["synthetic"]["data_share"] == pytest.approx(report.data_share, abs=0.2)
    assert "data is the bottleneck" in str(report) and "xtts-precompute DATA CACHE" in found["advice"][0]
    assert found["data"]["host_wait_ms"] >= 40


def test_a_loader_that_costs_nothing_is_good():
    profiler = xp.StepProfiler(warmup=1)

    def step(_batch):
        with profiler.phase("forward"):
            time.sleep(0.02)

    report = profiler.compare([np.zeros((8, 3))] * 4, step, steps=12)
    assert report.data_verdict == "good" and report.data_share < 0.05
    assert report.to_json()["synthetic"]["verdict"] == "good" and 0.7 < report.gain < 1.4
    assert "data is not the bottleneck" in str(report) or "counts as good" in str(report)


def compared(real, free, apart=0.0):
    """Returns a report of steps of these times; every other step is longer or shorter by `apart`."""
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for series, seconds in (
        (profiler.batches(watch.batches([0.0] * 20)), real),
        (profiler.synthetic(None, steps=20), free),
    ):
        for number, _ in enumerate(series):
            watch.work(profiler, forward=seconds + (apart if number % 2 else -apart))
    return profiler.report()


def test_no_verdict_contradicts_the_figure_beside_it():
    """There is no wait, but data takes 29 % of the time, which the users call good."""
    report = compared(1.0, 0.71)
    text = str(report)
    assert "waiting for data 0.0 % of the step; variation" in text
    assert (
        "Data costs 29 % (± 0.0 %) of the time: 0.0 % waiting, 29 % because its loader slows the rest "
        "of the step. Below 30 % counts as good" in text
    )
    assert "not the bottleneck" not in text and any(
        "its workers compute on the processors" in one for one in report.to_json()["advice"]
    )
    assert "That is a part of the time" in str(compared(1.0, 0.6)) and "data is the bottleneck" in str(
        compared(1.0, 0.4)
    )
    assert "data is not the bottleneck" in str(compared(1.0, 0.98))


def test_what_steps_differ_by_themselves_proves_nothing():
    report = compared(1.0, 0.9, apart=0.5)
    assert report.proven_share == pytest.approx(0.1) and report.proven_error == pytest.approx(
        2 * (2 * 0.25 / 20) ** 0.5
    )
    assert "within ± 32 %, by which steps differ by themselves: data is not the bottleneck" in str(report)
    assert not any("Precompute" in one or "workers compute" in one for one in report.to_json()["advice"])
    assert compared(1.0, 0.9, apart=0.01).proven_error < 0.01


def test_a_wait_is_uneven_against_the_step_alone():
    """A wait of a tenth of the step, in some of the steps."""
    report = profile([0.0, 2.0] * 10, forward=10)
    assert "wait for data: 1,000 ms; it varies by ± 1,000 ms, 9.1 % of the step: stable" in str(report)


def test_workers_that_take_the_steps_processors_show_in_the_proof_alone():
    """The wait is short, yet the step is twice as fast with data for free."""
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for _ in profiler.batches(watch.batches([0.1] * 10)):
        watch.work(profiler, forward=9.9)
    for _ in profiler.synthetic(None, steps=10):
        watch.work(profiler, forward=5)
    report = profiler.report()
    assert (
        report.data_verdict == "good" and report.proven_share == pytest.approx(0.5) and report.gain == pytest.approx(2)
    )
    assert any("its workers compute on the processors that the step needs" in one for one in report.to_json()["advice"])


def test_a_phase_costs_microseconds():
    profiler = xp.StepProfiler(warmup=0)
    begin = time.perf_counter()
    for _ in profiler.synthetic(0, steps=5000):
        for name in ("forward", "loss", "backward", "optimizer"):
            with profiler.phase(name):
                pass
    each = (time.perf_counter() - begin) / 20_000
    assert each < 50e-6, f"{1e6 * each:.1f} µs"  # measured: 1.7 µs, with a quarter of the step around it


def test_the_error_of_a_mean_counts_that_neighbours_are_alike():
    alternating = [0.9, 1.1] * 50
    assert standard_error(alternating) == pytest.approx(0.1 / 10)
    # The same values, sorted: ten parts of 0.9 or 1.1, so only ten values count.
    assert standard_error(sorted(alternating)) == pytest.approx(np.std([0.9, 1.1] * 5, ddof=1) / 10**0.5)
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0 / 2**0.5)  # too few for parts
    assert standard_error([2.0]) == 0.0


# ---- what is written


TIMES = {"mean", "std", "p50", "p95", "p99"}
STEPS = {"steps", "steps_per_s", "samples_per_s", "step", "phases"}


def test_the_keys_of_json_stay():
    profiler = xp.StepProfiler(warmup=0, clock="wall")  # CUDA's clock brings keys of the GPU
    alone = next(profiler.report().to_json() for _ in profiler.batches([1, 2]) if profiler._real.count)
    assert alone["synthetic"] is None and alone["samples_per_s"] is None and alone["batch_size"] is None
    found = profiler.compare([np.zeros(3)], lambda _: None, steps=2).to_json()
    assert set(found) == STEPS | {"clock", "warmup_steps", "batch_size", "data", "synthetic", "advice"}
    assert set(found["synthetic"]) == STEPS | {"gain", "data_share", "data_share_error", "verdict"}
    assert set(found["data"]) == {"ms", "share", "verdict", "variation", "cycle", "host_wait_ms"}
    for part in (found, found["synthetic"]):
        assert set(part["step"]) == {"ms", "variation", "verdict", "cycle"} and set(part["step"]["ms"]) == TIMES
        for phase in part["phases"]:
            assert set(phase) == {"name", "share", "ms"} and set(phase["ms"]) == TIMES
    assert json.loads(json.dumps(found)) == found


def test_a_report_is_saved_as_its_ending_says(tmp_path):
    profiler = xp.StepProfiler(warmup=0)

    def step(_batch):
        with profiler.phase("a <b> & c"):
            pass

    report = profiler.compare(Waits(0.001, 1000), step, steps=600)  # more steps than the picture has columns
    assert json.loads(report.save(tmp_path / "report.json").read_text()) == report.to_json()
    assert report.save(str(tmp_path / "report.txt")).read_text() == f"{report}\n"
    picture = xml.dom.minidom.parse(str(report.save(tmp_path / "report.svg")))
    assert picture.documentElement.tagName == "svg"
    assert picture.getElementsByTagName("title")[0].firstChild.data == figure(report)["title"]
    steps = figure(report)["panels"][0]
    assert [one["name"] for one in steps["columns"]] == ["data", "a <b> & c", "other"]
    assert [len(one["values"]) for one in steps["columns"]] == [400, 400, 400]
    assert "means of neighbours" in steps["title"]
    with pytest.raises(xp.InvalidArgumentError, match=r"saved as .json, .txt, .svg or .png, not as 'report.gif'"):
        report.save(tmp_path / "report.gif")
    (tmp_path / "full.svg").symlink_to("/dev/full")
    with pytest.raises(xp.ResourceError, match=r"full\.svg could not be written: No space left"):
        report.save(tmp_path / "full.svg")


def pictured(count, seconds, names=("forward", "loss", "backward", "optimizer"), both=True):
    watch = Watch()
    profiler = xp.StepProfiler(warmup=0, clock=watch)
    for series in (
        profiler.batches(watch.batches([seconds / 10] * count)),
        profiler.synthetic(None, steps=count) if both else [],
    ):
        for number, _ in enumerate(series):
            watch.work(profiler, **dict.fromkeys(names, seconds * (1 + number % 7 / 10)))
    return profiler.report()


@pytest.mark.parametrize("count", [1, 2, 15, 50, 600])
@pytest.mark.parametrize("seconds", [0.0, 3e-6, 0.0201, 2.01, 250.0])
def test_figures_hold_every_step_and_can_be_drawn(count, seconds):
    names = ("forward", "a phase whose name is as long as a sentence is", *(f"part {number}" for number in range(12)))
    report = pictured(count, seconds, names)
    *steps, histogram = figure(report)["panels"]
    assert len(steps) == 2
    for panel, kind in zip(steps, (report.real, report.synthetic)):
        tops = np.sum([one["values"] for one in panel["columns"]], axis=0)
        assert tops.max() <= panel["y"]["high"]
        assert tops.mean() == pytest.approx(kind.times.mean_ms, rel=0.01)
    assert [sum(one["values"]) for one in histogram["outlines"]] == [count, count]
    assert max(max(one["values"]) for one in histogram["outlines"]) <= histogram["y"]["high"]
    assert report.plot().startswith("<?xml")


def test_a_phase_has_one_colour_in_all_panels():
    first, second, _ = figure(pictured(10, 0.01, ("forward", *(f"mine {number}" for number in range(7)))))["panels"]
    colours = [{one["name"]: one["colour"] for one in panel["columns"]} for panel in (first, second)]
    assert colours[0]["data"] == "vermilion" and len(set(colours[0].values())) == len(colours[0])
    assert all(colours[0][name] == colour for name, colour in colours[1].items())


def test_a_png_is_made_by_a_program_of_the_machine(monkeypatch, tmp_path):
    report = pictured(3, 0.01)
    converter = tmp_path / "rsvg-convert"
    converter.write_text("#!/bin/sh\nprintf '\\211PNG\\r\\nof '; /bin/grep -o '<title>.*</title>'\n")
    converter.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    written = report.save(tmp_path / "steps.png").read_bytes()
    assert written == b"\x89PNG\r\nof <title>" + figure(report)["title"].encode() + b"</title>\n"


def test_without_such_a_program_the_svg_is_there_and_the_error_says_what_helps(monkeypatch, tmp_path):
    report = pictured(3, 0.01)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(xp.UnsupportedError, match=r"librsvg2-bin\)\. The picture is in \S+/steps\.svg"):
        report.save(tmp_path / "steps.png")
    assert (tmp_path / "steps.svg").read_text() == report.plot() and not (tmp_path / "steps.png").exists()
    (tmp_path / "steps.svg").write_text("of somebody")
    with pytest.raises(xp.UnsupportedError, match=r"an \.svg needs no such program"):
        report.save(tmp_path / "steps.png")
    assert (tmp_path / "steps.svg").read_text() == "of somebody"


def test_a_few_steps_are_not_alone_in_forty_bins():
    for count, most_bins in ((1, 6), (15, 6), (50, 9), (600, 26), (100_000, 41)):
        for least, most in ((1.0, 2.5), (20.1, 2010.0), (0.001, 0.0017), (5.0, 5.0), (0.0, 0.0)):
            edges = bins_of(least, most, count)
            assert 2 <= len(edges) <= most_bins + 2 and edges[0] <= least and most <= edges[-1] * (1 + 1e-12), (
                count,
                least,
                most,
                edges,
            )


def test_axes_end_at_round_numbers():
    assert [round_up(most, 5) for most in (0, 0.0231, 100, 2010)] == pytest.approx([1, 0.025, 100, 2500])


def test_no_framework_is_needed():
    code = """
import sys
import xtts_precompute as xp
profiler = xp.StepProfiler(warmup=0)
print(profiler.compare([b"a"], lambda batch: None, steps=3))
assert not {"torch", "tensorflow", "jax", "matplotlib"} & set(sys.modules)
"""
    done = ran(sys.executable, "-c", code)
    assert done.returncode == 0 and "3 steps" in done.stdout, done.stderr
