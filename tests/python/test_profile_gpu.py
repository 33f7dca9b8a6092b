"""The GPU's use in a StepProfiler's report.

The library of NVML is a double (tests/support/nvml), which this test compiles. A process finds it by
LD_LIBRARY_PATH, so the steps run in a process of their own. CUDA is not there: the GPU's place on
the bus is given.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest
import xtts_precompute as xp
from support import PROJECT, ran
from xtts_precompute.profile import gpu, plot

SCHEMA = json.loads((PROJECT / "tests/cli/schemas/gpu.json").read_text())
SPREAD = {"mean": 1.0, "std": 0.0, "min": 1.0, "max": 1.0}
COMPILER = shutil.which("c++")

STEPS = """
import json, time, xtts_precompute as xp
from xtts_precompute import _core
_core.cuda_pci_bus_id = lambda number: f"0000:0{number + 1}:00.0"
profiler = xp.StepProfiler(warmup=1, clock="wall", gpu=1)
report = profiler.compare([[1], [2]], lambda batch: time.sleep(0.05), steps=20)
print(json.dumps([report.to_json(), str(report)]))
"""


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    """The folder of the double."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler for the double of NVML")
    folder = tmp_path_factory.mktemp("nvml")
    source = PROJECT / "tests/support/nvml/nvml_double.cpp"
    made = ["-shared", "-fPIC", "-std=c++20", f"-I{PROJECT / 'src'}", "-Wl,-soname,libnvidia-ml.so.1"]
    subprocess.run([COMPILER, *made, source, "-o", folder / "libnvidia-ml.so.1"], check=True)
    return folder


TWO = STEPS.replace("report = ", "profiler.watch_data_gpu(0); report = ")


def profiled(double, tmp_path, lines, steps=STEPS):
    """Returns the JSON and the text of a report, where the double answers with `lines`."""
    (tmp_path / "nvml").write_text(lines)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(double), XTTS_NVML=str(tmp_path / "nvml"))
    done = ran(sys.executable, "-c", steps, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def gpu_use(mean, std, samples=50):
    values = dict.fromkeys(SCHEMA["required"])
    utilization = dict(SPREAD, mean=mean, std=std, p5=2.0, p50=mean, p95=40.0)
    values.update(name="GPU", samples=samples, utilization=utilization, throttle_reasons=[])
    return gpu.GpuUse(values, "")


def report_with(use, wait):
    now = [0.0]
    profiler = xp.StepProfiler(warmup=0, clock=lambda: now[0])

    def batches():
        for _ in range(12):
            now[0] += wait
            yield [1]

    for _ in profiler.batches(batches()):
        now[0] += 1.0
    report = profiler.report()
    return type(report)(report.real, None, report.clock, report.warmup, report.batch_size, use)


# ---- watched


def test_the_report_says_what_the_gpu_did(double, tmp_path):
    found, text = profiled(double, tmp_path, "gpus = 2\n1.name = NVIDIA GeForce RTX 4090\n1.utilization = 2 40\n")
    values = found["gpu"]
    assert set(values) == set(SCHEMA["required"]) == set(SCHEMA["properties"])
    assert set(values["utilization"]) == set(SCHEMA["properties"]["utilization"]["properties"])
    assert values["name"] == "NVIDIA GeForce RTX 4090" and values["pci_bus_id"] == "0000:02:00.0"
    assert 5 <= values["samples"] <= 20 and 0.9 < values["seconds"] < 3  # 20 steps of 50 ms, not the warm-up
    assert values["utilization"]["min"] == 2 and values["utilization"]["max"] == 40
    assert values["memory_total_bytes"] == 24 * 2**30 and values["power_limit_w"] == 450
    assert found["gpu_missing"] == "" and found["gpu_verdict"]["level"] == "low"
    assert found["synthetic"]["gpu"]["utilization"]["max"] == 40
    mean = values["utilization"]["mean"]
    assert f"NVIDIA GeForce RTX 4090: busy {mean:.0f} ± 19 % of the time (2 to 40 % in 90 % of " in text
    assert "1.0 of 24.0 GiB of memory in use, 1.00 MiB/s over PCIe to it, clock 2520 MHz, 123 of 450 W" in text
    assert "with data for free, the GPU is busy " in text


def test_of_two_gpus_both_are_watched(double, tmp_path):
    lines = "gpus = 2\n0.name = Data GPU\n0.utilization = 65\n1.name = Model GPU\n1.utilization = 82\n"
    found, text = profiled(double, tmp_path, lines, TWO)
    assert (found["gpu"]["name"], found["data_gpu"]["gpu"]["name"]) == ("Model GPU", "Data GPU")
    assert (
        "Data GPU, which prepares data: busy 65 ± 0 % of the time: good; as one that trains, the other is acc" in text
    )
    found, text = profiled(double, tmp_path, lines + "0.utilization = !4\n", TWO)
    assert "the GPU that prepares data was not watched: utilization: this user has no permission" in text


def test_without_permission_it_says_what_is_missing(double, tmp_path):
    found, text = profiled(double, tmp_path, "gpus = 2\nutilization = !4\npower = !4\n")
    assert found["gpu"]["utilization"] is None and found["gpu"]["power_w"] is None and found["gpu_verdict"] is None
    assert found["gpu_missing"] == "utilization, power: this user has no permission to ask"
    assert "not read of the GPU: utilization, power: this user has no permission to ask" in text


def test_without_nvml_one_line_says_so(double, tmp_path):
    found, text = profiled(double, tmp_path, "init = !9\n")
    assert found["gpu"] is None and found["gpu_verdict"] is None
    assert "the GPU was not watched: starting NVML: the NVIDIA driver is not loaded\n" in text


# ---- verdicts


@pytest.mark.parametrize(
    ("mean", "std", "level", "steadiness"),
    [
        (80, 5, "good", "stable"),
        (70, 14, "good", "acceptable"),
        (69, 5, "acceptable", "stable"),
        (49, 5, "low", "stable"),
        (21, 19, "low", "oscillating"),
        (0, 0, "low", "stable"),
    ],
)
def test_verdicts_are_the_users(mean, std, level, steadiness):
    use = gpu_use(mean, std)
    assert (use.level, use.steadiness) == (level, steadiness)
    assert use.swings == (steadiness == "oscillating")


def test_a_few_samples_prove_no_swings():
    assert not gpu_use(21, 19, samples=9).swings and gpu_use(21, 19, samples=10).swings
    assert not gpu_use(12, 1, samples=9).is_steadily_low


def test_the_pictures_of_the_users_are_told_apart():
    bursts = "The GPU's utilization swings because batches come late, in bursts."
    eager = "The GPU is steadily at a low utilization, and data is not why"

    def advised(use, wait):
        found = " ".join(report_with(use, wait).to_json()["advice"])
        return (bursts in found, eager in found)

    assert advised(gpu_use(21, 19), wait=2.0) == (True, False)
    assert advised(gpu_use(12, 1), wait=0.01) == (False, True)
    assert advised(gpu_use(12, 1), wait=2.0) == (False, False)
    assert advised(gpu_use(85, 3), wait=0.01) == (False, False)


def test_the_picture_names_the_utilization():
    assert plot.figure(report_with(gpu_use(21, 19), 0.1))["aside"].endswith(", GPU busy 21 ± 19 % of the time")


# ---- no GPU


def test_without_a_gpu_nothing_is_said():
    report = report_with(None, 0.1)
    assert not any("gpu" in key for key in report.to_json())
    assert "GPU" not in str(report) and "GPU" not in plot.figure(report)["aside"]


def test_a_gpu_that_cuda_does_not_show_is_no_error():
    profiler = xp.StepProfiler(warmup=0, clock="wall", gpu=1000)
    for _ in profiler.batches([[1], [2]]):
        pass
    report = profiler.report()
    assert report.to_json()["gpu"] is None and "the GPU was not watched: " in str(report)


@pytest.mark.parametrize(("given", "words"), [("cuda:0", "gpu must be 'auto', None, or"), (-1, "from 0 to 1023")])
def test_the_argument_is_checked(given, words):
    with pytest.raises(xp.InvalidArgumentError, match=words):
        xp.StepProfiler(gpu=given)


def test_auto_follows_the_clock():
    assert gpu.choose("auto", "wall") is None and gpu.choose("auto", "custom") is None
    assert gpu.choose(3, "wall") == 3 and gpu.choose(None, "cuda") is None
