"""The probe of frameworks (xtts_advise.measure.frameworks), as the doctor's program runs it.

Most frameworks here are pretended: folders named torch or tensorflow that hang, crash, print or lack
pieces. The real ones are measured where they are installed (tests/python/frameworks.sh).
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from support import PROJECT, needs
from xtts_advise.measure.frameworks import child, cuda, probing, timing
from xtts_advise.measure.frameworks.child import Ended
from xtts_advise.measure.frameworks.measurements import MEASUREMENTS

MODULES = PROJECT / "src/python/xtts_advise/measure"
DEADLINE_S = 300  # for a program that takes some seconds on an idle machine

# The doctor starts its modules much like this (xtts_advise/doctor/in_python.py).
# -S hides what is installed, so that only pretended frameworks are there. What a shell starts in the
# background ignores SIGINT, and so would the probe.
START = (
    "import os, runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "folder = sys.argv[1]; sys.path[:1] = [folder]; sys.argv[:2] = ['frameworks']; "
    "runpy.run_module('xtts_doctor.frameworks', run_name='__main__', alter_sys=True)"
)
LIFE = "__version__ = '9.8.7'\n"


@pytest.fixture
def pretended(tmp_path):
    """Gives a function: starts the probe with pretended frameworks, by name and source."""
    shutil.copytree(MODULES, tmp_path / "modules/xtts_doctor", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scratch").mkdir()

    def start(sources, *arguments):
        for name, source in sources.items():
            file = tmp_path / "frameworks" / name / "__init__.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source, encoding="utf-8")
        return subprocess.Popen(
            [sys.executable, "-S", "-B", "-c", START, tmp_path / "modules", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(tmp_path / "frameworks"),
                "TMPDIR": str(tmp_path / "scratch"),
                "OWN": str(tmp_path),
            },
        )

    def run(sources, *arguments):
        process = start(sources, *arguments)
        out, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0, err.decode()
        found = json.loads(out)  # nothing that a framework prints is part of it
        assert found["format"] == 1 and [one["name"] for one in found["frameworks"]] == ["tensorflow", "torch", "jax"]
        assert os.listdir(tmp_path / "scratch") == []
        return found

    run.start = start
    return run


def only(found, name):
    return next(one for one in found["frameworks"] if one["name"] == name)


def is_gone(process_id, within_s=20.0):
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            with open(f"/proc/{process_id}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


# ---- a framework that is none


def test_frameworks_that_are_not_installed(pretended):
    found = pretended({}, "--driver-cuda", "12.4")
    assert [one["installed"] for one in found["frameworks"]] == ["no"] * 3 and found["driver_cuda"] == "12.4"
    assert all(one["measurements"] == [] and one["gpus"] is None for one in found["frameworks"])
    assert all(one["cuda"]["needs"]["status"] == "cannot_tell" for one in found["frameworks"])
    assert found["seconds"] < 20


def test_a_folder_of_this_name_is_no_framework(pretended, tmp_path):
    (tmp_path / "frameworks/torch").mkdir(parents=True)
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/__init__.py").write_text("raise SystemExit('the current folder was searched')")
    found = pretended({})
    assert [one["installed"] for one in found["frameworks"]] == ["no"] * 3


# ---- broken ones

BROKEN = {
    "it crashes": ("import os; os.kill(os.getpid(), 11)", "signal 11 (SIGSEGV) in 'import'"),
    "it lacks a library": ("raise ImportError('libcudart.so.12: cannot open')", "ImportError: libcudart.so.12"),
    "it lacks a package": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "it ends Python": ("raise SystemExit(3)", "SystemExit: 3"),
    "it ends the process": ("import os; os._exit(0)", "its process ended in 'import' with exit code 0"),
    "it has no version": ("", "AttributeError"),
    "it is no Python": ("def", "SyntaxError"),
    "it speaks at length": ("raise RuntimeError('z' * 100_000)", "RuntimeError: zzz"),
}


@pytest.mark.parametrize("name", ("tensorflow", "torch", "jax"))
@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_framework_is_an_answer(pretended, name, fault):
    source, words = BROKEN[fault]
    one = only(pretended({name: source}), name)
    assert one["installed"] == "broken" and words in one["reason"] and len(one["reason"]) < 500
    assert one["measurements"] == []


def test_a_framework_that_hangs_is_ended_with_all_that_it_started(pretended, tmp_path):
    hanging = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "98765"])
open(os.environ["OWN"] + "/child", "w").write(str(child.pid))
time.sleep(98765)
"""
    begin = time.monotonic()
    found = pretended({"torch": hanging, "jax": LIFE + "def devices(): return []"}, "--timeout", 8)
    assert time.monotonic() - begin < 60
    one = only(found, "torch")
    assert one["installed"] == "unclear" and "still busy with 'import' after" in one["reason"]
    assert is_gone((tmp_path / "child").read_text())
    assert only(found, "jax")["installed"] == "yes"  # it had its share of the time


def test_time_in_which_files_come_from_a_disk_does_not_count(tmp_path, monkeypatch):
    (tmp_path / "jax").mkdir()
    (tmp_path / "data").write_bytes(bytes(16 << 20))
    (tmp_path / "jax/__init__.py").write_text(
        LIFE
        + f"""
import os, time
end = time.monotonic() + 4
file = os.open({str(tmp_path / "data")!r}, os.O_RDONLY)
while time.monotonic() < end:
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(file, 1 << 24, 0)
    time.sleep(0.1)
def devices(): return []
"""
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with open(tmp_path / "data", "rb") as file:
        os.fsync(file)
        before = _read_bytes()
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.read()
        if _read_bytes() == before:
            pytest.skip("this machine does not say what a process reads from the disk")
    counted = child.run_child("jax", 2)
    assert counted.timed_out and counted.stage == "import" and counted.read_s == 0
    forgiven = child.run_child("jax", 2, 30)
    assert forgiven.failure is None and forgiven.parts["version"] == "9.8.7" and forgiven.read_s > 1


def _read_bytes():
    with open("/proc/self/io", encoding="ascii") as file:
        return next(line for line in file if line.startswith("read_bytes:"))


def test_a_framework_that_prints_without_end(pretended):
    printing = "import sys\nwhile True: print('rubbish' * 1000)"
    one = only(pretended({"tensorflow": printing}, "--timeout", 4), "tensorflow")
    assert one["installed"] == "unclear" and "still busy with 'import'" in one["reason"]
    assert len(one["output"]) <= 4096


def test_what_is_printed_on_stdout_is_no_answer(pretended):
    printing = LIFE + 'print(\'["version", "1.2.3"]\\n["done", true]\')\nimport os; os.write(1, b"\\xff{")\n'
    one = only(pretended({"jax": printing + "def devices(): return []"}), "jax")
    assert (one["installed"], one["version"], one["gpus"], one["device"]) == ("yes", "9.8.7", [], "cpu")


def hanging(pretended, folder):
    """Returns a probe and the number of its child, which ends no more."""
    hangs = "import os, time\nopen(os.environ['OWN'] + '/self', 'w').write(str(os.getpid()))\ntime.sleep(98765)"
    process, file = pretended.start({"torch": hangs}, "--timeout", 60), folder / "self"
    end = time.monotonic() + 60
    while not file.exists() or not file.read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    return process, file.read_text()


def test_children_end_when_the_probe_is_killed(pretended, tmp_path):
    process, child = hanging(pretended, tmp_path)
    process.kill()
    process.communicate()
    assert is_gone(child)


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_a_signal_ends_the_probe_and_its_child(pretended, tmp_path, number):
    process, child = hanging(pretended, tmp_path)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert is_gone(child) and os.listdir(tmp_path / "scratch") == []


@pytest.mark.parametrize("is_safe", (False, True))
def test_children_search_what_python_searches(tmp_path, monkeypatch, is_safe):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax/__init__.py").write_text(LIFE + "def devices(): return []")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    if is_safe:
        monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert child.run_child("jax", 30).parts["version"] == "9.8.7"


def test_the_current_folder_is_not_searched(tmp_path, monkeypatch):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax/__init__.py").write_text(LIFE + "def devices(): return []")
    monkeypatch.chdir(tmp_path)
    assert child.run_child("jax", 60).parts.get("version") != "9.8.7"
    command = [sys.executable, "-m", "xtts_advise.measure.frameworks", "--timeout", "1"]
    done = subprocess.run(command, capture_output=True, timeout=DEADLINE_S, check=True)
    expected = "no" if importlib.util.find_spec("jax") is None else "yes unclear"
    assert only(json.loads(done.stdout), "jax")["installed"] in expected


def test_a_child_that_cannot_be_killed_is_left(tmp_path, monkeypatch):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax/__init__.py").write_text("import time; time.sleep(15)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(child.os, "killpg", lambda *_: None)
    begin = time.monotonic()
    ended = child.run_child("jax", 1)
    assert ended.timed_out and time.monotonic() - begin < 10


# ---- ones that lack pieces


def test_a_framework_without_its_pieces(pretended):
    found = pretended({"tensorflow": LIFE, "torch": LIFE})
    for name, missing in (("tensorflow", "config"), ("torch", "cuda")):
        one = only(found, name)
        assert (one["installed"], one["version"], one["gpus"]) == ("yes", "9.8.7", None)
        assert missing in one["gpus_reason"]
        assert [measured["name"] for measured in one["measurements"]] == list(MEASUREMENTS[name])
        assert all(measured["status"] != "measured" and measured["reason"] for measured in one["measurements"])


def test_a_crash_while_devices_are_asked_for(pretended):
    crashing = LIFE + "import os\nclass cuda:\n    is_available = lambda: os.kill(os.getpid(), 11)\n"
    one = only(pretended({"torch": crashing}), "torch")
    assert (one["installed"], one["version"], one["gpus"]) == ("yes", "9.8.7", None)
    assert all("signal 11 (SIGSEGV) in 'devices'" in measured["reason"] for measured in one["measurements"])


def test_pytorch_before_2(pretended):
    source = LIFE + "class cuda: is_available = lambda: False\nclass version: cuda = None\n"
    one = only(pretended({"torch": source}), "torch")
    compiled = next(measured for measured in one["measurements"] if measured["name"] == "compile")
    assert compiled["status"] == "failed"
    assert compiled["reason"] == "PyTorch 9.8.7 has no torch.compile; PyTorch 2.0 and later have"


def test_a_build_for_cuda_without_a_driver_says_why(pretended, tmp_path):
    (tmp_path / "frameworks/torch").mkdir(parents=True)
    (tmp_path / "frameworks/torch/version.py").write_text("cuda: Optional[str] = '12.1'\n")
    source = LIFE + (
        "def refuse(): raise RuntimeError('Found no NVIDIA driver')\n"
        "class cuda: is_available = lambda: False; init = refuse\nclass version: cuda = '12.1'\n"
    )
    one = only(pretended({"torch": source}, "--driver-cuda", "11.8"), "torch")
    assert (one["gpus"], one["gpus_reason"]) == ([], "RuntimeError: Found no NVIDIA driver")
    assert (one["cuda"]["built_for"], one["cuda"]["is_cpu_build"]) == ("12.1", False)
    assert one["cuda"]["needs"]["status"] == "fail" and "525 or later" in one["cuda"]["needs"]["text"]


def test_jax_for_cuda_without_a_driver_says_why(pretended, tmp_path):
    source = LIFE + (
        "def devices(kind='cpu'):\n"
        "    if kind == 'cuda': raise RuntimeError('no supported devices found for platform CUDA')\n    return []"
    )
    (tmp_path / "frameworks/jax_cuda12_plugin").mkdir(parents=True)
    (tmp_path / "frameworks/jax_cuda12_plugin-0.6.2.dist-info").mkdir()
    (tmp_path / "frameworks/jax_cuda12_plugin-0.6.2.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: jax-cuda12-plugin\nVersion: 0.6.2\n"
    )
    one = only(pretended({"jax": source}, "--driver-cuda", "11.8"), "jax")
    assert (one["gpus"], one["cuda"]["built_for"], one["cuda"]["needs"]["status"]) == ([], "12", "fail")
    assert one["gpus_reason"] == "RuntimeError: no supported devices found for platform CUDA"


# ---- CUDA

INFO = "import collections\nbuild_info = collections.OrderedDict([%s])\n"


@pytest.mark.parametrize(
    ("info", "built_for", "is_cpu_build", "cudnn"),
    [
        ("('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True)", "12.5.1", False, "9"),
        ("('is_cuda_build', False), ('is_rocm_build', False)", None, True, None),
    ],
)
def test_tensorflows_files_name_its_cuda(pretended, tmp_path, info, built_for, is_cpu_build, cudnn):
    folder = tmp_path / "frameworks/tensorflow/python/platform"
    folder.mkdir(parents=True)
    (folder / "build_info.py").write_text(INFO % info)
    one = only(pretended({"tensorflow": "import os; os.abort()"}, "--driver-cuda", "12.4"), "tensorflow")
    assert one["installed"] == "broken"  # what the files say is known all the same
    assert (one["cuda"]["built_for"], one["cuda"]["is_cpu_build"], one["cuda"]["cudnn"]) == (
        built_for,
        is_cpu_build,
        cudnn,
    )
    assert one["cuda"]["needs"]["status"] == ("fail" if is_cpu_build else "pass")


@pytest.mark.parametrize("text", ("build_info = 3", "build_info = collections.OrderedDict([rubbish(])", "\0"))
def test_files_that_cannot_be_read_tell_nothing(pretended, tmp_path, text):
    folder = tmp_path / "frameworks/tensorflow/python/platform"
    folder.mkdir(parents=True)
    (folder / "build_info.py").write_text(text)
    one = only(pretended({"tensorflow": LIFE}, "--driver-cuda", "12.4"), "tensorflow")
    assert one["cuda"]["built_for"] is None and one["cuda"]["needs"]["status"] == "cannot_tell"


@pytest.mark.parametrize(
    ("built", "driver", "status", "words"),
    [
        ("12.4", "12.4", "pass", "up to 12.4"),
        ("11.8", "12.4", "pass", "up to 12.4"),
        ("12.6", "12.4", "pass", "within one major version"),
        ("12", "12.4", "pass", "up to 12.4"),
        ("13.0", "12.4", "fail", "580 or later"),
        ("12.1", "11.8", "fail", "525 or later"),
        ("10.2", "10.1", "fail", "newer driver"),
        ("14.0", "13.0", "fail", "install a newer driver"),
        ("12.4", None, "cannot_tell", "not known"),
        ("12.4", "rubbish", "cannot_tell", "no version"),
        ("rubbish", "12.4", "cannot_tell", "do not say"),
        (None, "12.4", "cannot_tell", "do not say"),
    ],
)
def test_what_a_build_needs_of_the_driver(built, driver, status, words):
    found = cuda.needs("torch", {"built_for": built, "is_cpu_build": None, "source": "version.py"}, driver)
    assert found["status"] == status and words in found["text"] and found["source"]


def test_a_build_for_cpus_never_uses_the_gpu():
    files = {"built_for": None, "is_cpu_build": True, "source": "version.py"}
    assert cuda.needs("torch", files, "12.4")["status"] == "fail"
    assert cuda.needs("torch", files, None)["status"] == "cannot_tell"


# ---- times


class Clock:
    """A clock that only steps move."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def steps(self, seconds):
        def run(count):
            self.now += seconds * count

        return run


def test_the_speedup_is_that_of_interleaved_rounds(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    times = timing.interleaved({"eager": clock.steps(0.006), "graph": clock.steps(0.002)}, 3.0)
    assert clock.now < 4.0
    found = timing.compared(times, "eager", "graph")
    assert found["speedup"] == {"median": 3.0, "low": 3.0, "high": 3.0, "rounds": 5}
    assert found["ms"]["graph"] == pytest.approx([2.0] * 5)


def test_a_slow_step_takes_one_turn(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    timing.interleaved({"eager": clock.steps(1.0), "graph": clock.steps(1.0)}, 0.5)
    assert clock.now == pytest.approx(2 * (3 + 5))


def test_rounds_that_differ_too_much_tell_nothing():
    found = timing.compared({"a": [1.0, 9.0, 1.0], "b": [1.0, 1.0, 1.0]}, "a", "b")
    assert "speedup" not in found and "1.00 to 9.00 times" in found["reason"] and found["ms"]["a"] == [1.0, 9.0, 1.0]


@pytest.mark.parametrize("timed_out", (False, True))
def test_a_crash_costs_no_measurement_before_it(timed_out):
    speedup = {"median": 3.0, "low": 2.0, "high": 4.0, "rounds": 5}
    parts = {"measurement:graph": {"speedup": speedup}, "measurement:xla": {"first_ms": 800.0}}
    ended = Ended(parts, "it was ended", timed_out, MEASUREMENTS["tensorflow"]["xla"][1], "")
    found = probing._measurements("tensorflow", parts, ended)
    assert [(one["name"], one["status"], one["reason"]) for one in found] == [
        ("graph", "measured", None),
        ("xla", "cannot_tell" if timed_out else "failed", "it was ended"),
        ("mixed_precision", "cannot_tell", "it was ended"),
    ]
    assert found[1]["first_ms"] == 800.0


# ---- real frameworks


@pytest.fixture(scope="module")
def real():
    done = subprocess.run(
        [sys.executable, "-m", "xtts_advise.measure.frameworks", "--timeout", "120", "--driver-cuda", "12.4"],
        capture_output=True,
        timeout=DEADLINE_S,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ("tensorflow", "torch", "jax"))
def test_a_real_framework(name, request):
    needs(name)
    found = request.getfixturevalue("real")
    one = only(found, name)
    assert one["installed"] == "yes", one
    assert one["version"][0].isdigit() and one["import_seconds"] > 0 and one["gpus"] is not None
    assert one["cuda"]["is_cpu_build"] in (True, False) and one["cuda"]["needs"]["status"] in ("pass", "fail")
    measured = {measurement["name"]: measurement for measurement in one["measurements"]}
    assert list(measured) == list(MEASUREMENTS[name])
    for measurement in measured.values():  # a busy machine may tell nothing, but says why
        assert (measurement["speedup"] is None) == (measurement["reason"] is not None)
    if name == "tensorflow":
        graph = measured["graph"]
        assert graph["traces"]["same_shape"] == 1
        assert graph["traces"]["new_shape_traces"] == graph["traces"]["new_shapes"] == 4
        assert graph["speedup"] is None or graph["speedup"]["high"] > 1
    if name == "torch" and "no torch.compile" not in (measured["compile"]["reason"] or ""):
        assert measured["compile"]["first_ms"] or measured["compile"]["reason"]
