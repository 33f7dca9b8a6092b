"""xp.tune: cores, environment files, what is set, what comes too late, and what is in force."""

import importlib.util
import json
import os
import sys
import types
from pathlib import Path

import pytest
import xtts_precompute as xp
from support import PROGRAM, ran, run_python
from xtts_precompute._base.cores import usable_cores
from xtts_precompute.tune import settings as tune_settings

PACKAGES = str(Path(xp.__file__).parents[1])
VARIABLES = (
    "OMP_NUM_THREADS OMP_WAIT_POLICY PYTORCH_CUDA_ALLOC_CONF TF_NUM_INTEROP_THREADS TF_NUM_INTRAOP_THREADS "
    "TF_GPU_THREAD_MODE TF_CUDNN_USE_AUTOTUNE TF_FORCE_GPU_ALLOW_GROWTH TF_XLA_FLAGS"
).split()


def needs(framework):
    name = {"torch": "PyTorch", "tensorflow": "TensorFlow"}[framework]
    return pytest.mark.skipif(
        importlib.util.find_spec(framework) is None,
        reason=f"{name} is not installed here; tests/python/run.sh has an environment with it",
    )


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """No variable of tuning is set, and none that a test sets is left."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # so that what a test sets is undone
        monkeypatch.delenv(name)
    monkeypatch.setattr(tune_settings, "_in_time", {})


def test_importing_the_package_imports_no_framework():
    code = (
        "import sys, xtts_precompute as xp\n"
        "xp.tune.environment('torch'); xp.tune.environment('tensorflow')\n"
        "print({'torch', 'tensorflow', 'jax'} & set(sys.modules))"
    )
    assert run_python(code).strip() == "set()"


class TestCores:
    @pytest.fixture
    def machine(self, tmp_path, monkeypatch):
        """Gives a function: the usable cores of a machine with these files, and eight in the mask."""
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))

        def of(files):
            for name, text in files.items():
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return usable_cores(str(tmp_path))

        return of

    @pytest.mark.parametrize(
        ("files", "cores"),
        [
            ({}, 8),
            ({"sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 8),
            ({"sys/fs/cgroup/a/b/cpu.max": "300000 100000\n"}, 3),
            ({"sys/fs/cgroup/a/b/cpu.max": "250000 100000\n"}, 3),
            ({"sys/fs/cgroup/a/b/cpu.max": "5000 100000\n"}, 1),
            ({"sys/fs/cgroup/a/b/cpu.max": "900000 100000\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n"}, 2),
            ({"sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),  # a container sees its own group as the mount
            ({"sys/fs/cgroup/a/b/cpu.max": "-1 x y\n"}, 8),
        ],
    )
    def test_version_2(self, machine, files, cores):
        assert machine({"proc/self/cgroup": "0::/a/b\n", **files}) == cores

    @pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("200000", 2)])
    def test_version_1(self, machine, quota, cores):
        folder = "sys/fs/cgroup/cpu,cpuacct/job"
        files = {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": "100000"}
        assert machine({"proc/self/cgroup": "4:cpu,cpuacct:/job\n3:cpuset:/\n", **files}) == cores

    def test_affinity(self, machine, monkeypatch):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
        assert machine({}) == 1


class TestEnvironment:
    def test_threads_are_the_cores_and_their_half(self):
        found = xp.tune.environment("tensorflow", cores=12)
        assert (found["TF_NUM_INTEROP_THREADS"], found["TF_NUM_INTRAOP_THREADS"]) == ("12", "6")
        assert xp.tune.environment("torch", cores=1)["OMP_NUM_THREADS"] == "1"
        assert xp.tune.environment("torch", cores=12)["OMP_NUM_THREADS"] == "6"

    def test_other_flags_are_kept(self, monkeypatch):
        monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=1 --other=3")
        assert xp.tune.environment("tensorflow")["TF_XLA_FLAGS"] == "--other=3 --tf_xla_auto_jit=2"

    def test_what_is_not_wanted_is_left_out(self):
        found = xp.tune.environment("tensorflow", xla=False, memory_limit=1000)
        assert "TF_XLA_FLAGS" not in found and "TF_FORCE_GPU_ALLOW_GROWTH" not in found

    @pytest.mark.parametrize("arguments", [{"cores": 0}, {"xla": "no"}, {"memory_limit": 0}, {"framework": "jax"}])
    def test_wrong_arguments(self, arguments):
        for call in (xp.tune.environment, xp.tune.apply, xp.tune.verify):
            with pytest.raises(xp.InvalidArgumentError):
                call(**arguments)

    def test_no_framework(self, monkeypatch):
        for name in ("torch", "tensorflow"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(xp.MissingPackageError, match="pip install"):
            xp.tune.environment()


# Frameworks in little, with GPUs that this machine does not have.


def fake_torch(gpus=2, version="2.9.1", total=10_000 * 2**20):
    fractions = {}
    cuda = types.SimpleNamespace(
        is_available=lambda: gpus > 0,
        device_count=lambda: gpus,
        get_device_properties=lambda device: types.SimpleNamespace(total_memory=total),
        set_per_process_memory_fraction=lambda fraction, device: fractions.__setitem__(device, fraction),
        get_per_process_memory_fraction=lambda device: fractions.get(device, 1.0),
    )
    state = {"pool": 8, "threads": 8, "precision": "highest", "begun": False, "autocast": False, "deterministic": False}

    def set_pool(count):
        if state["begun"]:
            raise RuntimeError("cannot set number of interop threads after parallel work has started")
        state.update(pool=count, begun=True)

    return types.SimpleNamespace(
        __version__=version,
        cuda=cuda,
        state=state,
        fractions=fractions,
        backends=types.SimpleNamespace(cudnn=types.SimpleNamespace(benchmark=False)),
        get_num_interop_threads=lambda: state["pool"],
        set_num_interop_threads=set_pool,
        get_num_threads=lambda: state["threads"],
        set_num_threads=lambda count: state.update(threads=count),
        get_float32_matmul_precision=lambda: state["precision"],
        set_float32_matmul_precision=lambda word: state.update(precision=word),
        is_autocast_enabled=lambda: state["autocast"],
        are_deterministic_algorithms_enabled=lambda: state["deterministic"],
    )


def fake_tensorflow(capabilities=((8, 0),)):
    gpus = [f"gpu{number}" for number in range(len(capabilities))]
    state = {"inter": 0, "intra": 0, "jit": "", "policy": "float32", "growth": {}, "parts": {}}
    experimental = types.SimpleNamespace(
        set_memory_growth=lambda gpu, on: state["growth"].__setitem__(gpu, on),
        get_memory_growth=lambda gpu: state["growth"].get(gpu),
        get_device_details=lambda gpu: {"compute_capability": capabilities[gpus.index(gpu)]},
        enable_tensor_float_32_execution=lambda on: None,
        tensor_float_32_execution_enabled=lambda: True,
    )
    config = types.SimpleNamespace(
        experimental=experimental,
        list_physical_devices=lambda kind: list(gpus),
        threading=types.SimpleNamespace(
            set_inter_op_parallelism_threads=lambda count: state.update(inter=count),
            get_inter_op_parallelism_threads=lambda: state["inter"],
            set_intra_op_parallelism_threads=lambda count: state.update(intra=count),
            get_intra_op_parallelism_threads=lambda: state["intra"],
        ),
        optimizer=types.SimpleNamespace(
            set_jit=lambda on: state.update(jit="autoclustering" if on else ""), get_jit=lambda: state["jit"]
        ),
        LogicalDeviceConfiguration=lambda memory_limit: types.SimpleNamespace(memory_limit=memory_limit),
        set_logical_device_configuration=lambda gpu, parts: state["parts"].__setitem__(gpu, parts),
        get_logical_device_configuration=lambda gpu: state["parts"].get(gpu),
    )
    precision = types.SimpleNamespace(
        set_global_policy=lambda name: state.update(policy=name),
        global_policy=lambda: types.SimpleNamespace(name=state["policy"]),
    )
    keras = types.SimpleNamespace(mixed_precision=precision)
    return types.SimpleNamespace(config=config, keras=keras, state=state)


class TestWithGpus:
    def test_torch(self, monkeypatch):
        torch = fake_torch()
        monkeypatch.setitem(sys.modules, "torch", torch)
        before = xp.tune.verify("torch", cores=6, memory_limit=2500)
        assert {"torch.inter_op_threads", "torch.gpu_memory_limit", "torch.cudnn_benchmark"} <= set(
            before.names("warn")
        )
        report = xp.tune.apply("torch", cores=6, memory_limit=2500)
        assert report.names("yours") == ("torch.mixed_precision",)
        assert report.too_late == ("torch.thread_waits", "torch.gpu_memory_growth")  # torch was there before
        assert torch.state["pool"] == 6 and torch.state["threads"] == 3 and torch.state["precision"] == "high"
        assert torch.fractions == {0: 0.25, 1: 0.25} and torch.backends.cudnn.benchmark is True
        assert os.environ["OMP_NUM_THREADS"] == "3" and os.environ["PYTORCH_CUDA_ALLOC_CONF"]
        after = xp.tune.verify("torch", cores=6, memory_limit=2500)
        assert not after.names("warn")
        # Nothing shows whether the variables were read, and autocast is on within the step only.
        assert after.names("cannot_tell") == (
            "torch.thread_waits",
            "torch.gpu_memory_growth",
            "torch.mixed_precision",
        )
        torch.state["autocast"] = True
        assert "torch.mixed_precision" in xp.tune.verify("torch").names("pass")

    def test_torch_whose_pool_has_begun(self, monkeypatch):
        torch = fake_torch()
        torch.state["begun"] = True
        monkeypatch.setitem(sys.modules, "torch", torch)
        assert "torch.inter_op_threads" in xp.tune.apply("torch", cores=6).too_late

    def test_old_torch(self, monkeypatch):
        """The call would end the process, and the allocator's option would be an error."""
        torch = fake_torch(version="2.0.1+cu118")
        torch.set_num_interop_threads = None
        monkeypatch.setitem(sys.modules, "torch", torch)
        report = xp.tune.apply("torch", cores=6)
        assert "torch.inter_op_threads" in report.too_late
        assert "PYTORCH_CUDA_ALLOC_CONF" not in os.environ

    def test_deterministic_torch_stays_so(self, monkeypatch):
        torch = fake_torch()
        torch.state["deterministic"] = True
        monkeypatch.setitem(sys.modules, "torch", torch)
        assert "torch.cudnn_benchmark" in xp.tune.apply("torch").names("not_here")
        assert torch.backends.cudnn.benchmark is False

    @pytest.mark.parametrize(
        ("capabilities", "policy"),
        [
            (((8, 0),), "mixed_bfloat16"),
            (((9, 0), (7, 5)), "mixed_float16"),
            (((6, 1),), None),
            ((None,), None),
        ],
    )
    def test_tensorflow(self, capabilities, policy, monkeypatch):
        tensorflow = fake_tensorflow(capabilities)
        monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
        assert "tensorflow.gpu_memory_growth" in xp.tune.verify("tensorflow").names("warn")
        report = xp.tune.apply("tensorflow", cores=6)
        assert (tensorflow.state["inter"], tensorflow.state["intra"]) == (6, 3)
        assert set(tensorflow.state["growth"].values()) == {True} and not tensorflow.state["parts"]
        assert tensorflow.state["policy"] == (policy or "float32")
        assert report.names("not_here") == (() if policy else ("tensorflow.mixed_precision",))
        assert report.too_late == ("tensorflow.gpu_threads",)
        after = xp.tune.verify("tensorflow", cores=6)
        assert after.names("warn") == (() if policy else ("tensorflow.mixed_precision",))

    def test_tensorflow_with_a_limit(self, monkeypatch):
        tensorflow = fake_tensorflow()
        monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
        asked = {"memory_limit": 2000, "xla": False, "mixed_precision": False}
        assert "tensorflow.gpu_memory_limit" in xp.tune.verify("tensorflow", **asked).names("warn")
        xp.tune.apply("tensorflow", **asked)
        assert not tensorflow.state["growth"]  # TensorFlow refuses both
        assert tensorflow.state["jit"] == "" and tensorflow.state["policy"] == "float32"
        assert "tensorflow.gpu_memory_limit" in xp.tune.verify("tensorflow", **asked).names("pass")


def in_child(code, **environment):
    """Runs code in a new process, whose stderr frameworks may write to; returns its JSON output."""
    clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    code = "import json, xtts_precompute as xp\n" + code
    done = ran(sys.executable, "-c", code, env={**clean, "TF_CPP_MIN_LOG_LEVEL": "3", **environment}, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


STATUSES = "print(json.dumps([{row.name: row.status for row in report} for report in reports]))"
WITHOUT_GPU = {"torch": ["mixed_precision"], "tensorflow": ["gpu_memory_growth", "mixed_precision"]}


def has_gpu(framework):
    ask = {"torch": "torch.cuda.is_available()", "tensorflow": "bool(tensorflow.config.list_physical_devices('GPU'))"}
    return in_child(f"import {framework}\nprint(json.dumps({ask[framework]}))")


@pytest.mark.parametrize("framework", [pytest.param(name, marks=needs(name)) for name in WITHOUT_GPU])
class TestFrameworks:
    def test_before_the_import_all_is_in_time(self, framework):
        code = f"reports = [xp.tune.apply('{framework}', cores=4), xp.tune.verify('{framework}', cores=4)]\n" + STATUSES
        applied, verified = in_child(code)
        assert "too_late" not in applied.values() and "warn" not in verified.values()
        unknown = {name.split(".")[1] for name, status in verified.items() if status == "cannot_tell"}
        assert unknown == (set() if has_gpu(framework) else set(WITHOUT_GPU[framework]))

    def test_after_the_first_work_it_says_what_is_too_late(self, framework):
        work = {"torch": "torch.ones(9).sum()", "tensorflow": "tensorflow.constant(1) + 1"}[framework]
        code = (
            f"import {framework}\n{work}\n"
            f"reports = [xp.tune.apply('{framework}', cores=64), xp.tune.verify('{framework}', cores=64)]\n" + STATUSES
        )
        applied, verified = in_child(code)
        late = {name.split(".")[1] for name, status in applied.items() if status == "too_late"}
        assert "inter_op_threads" in late or framework == "torch"  # later versions of torch allow it
        assert late & {"thread_waits", "gpu_threads"}
        assert not [name for name in late if verified[f"{framework}.{name}"] == "pass"]

    def test_twice_and_other_counts(self, framework):
        """A second call must not end the process: PyTorch 1.13 aborts at a second set_num_interop_threads()."""
        code = f"reports = [xp.tune.apply('{framework}', cores=count) for count in (4, 4, 6)]\n" + STATUSES
        first, second, _ = in_child(code)
        assert first[f"{framework}.inter_op_threads"] == "set"
        assert second[f"{framework}.inter_op_threads"] == "already"

    def test_an_environment_file_is_enough_for_the_variables(self, framework):
        code = f"reports = [xp.tune.verify('{framework}', cores=4)]\n" + STATUSES
        (bare,) = in_child(code)
        (exported,) = in_child(code, **xp.tune.environment(framework, cores=4))
        for name in ("intra_op_threads", {"torch": "thread_waits", "tensorflow": "xla"}[framework]):
            assert exported[f"{framework}.{name}"] == "pass"
        assert "warn" in bare.values()

    def test_a_variable_that_came_later_is_not_believed(self, framework):
        name, row = {
            "torch": ("OMP_WAIT_POLICY", "thread_waits"),
            "tensorflow": ("TF_GPU_THREAD_MODE", "gpu_threads"),
        }[framework]
        value = xp.tune.environment(framework)[name]
        code = (
            f"import os, {framework}\nos.environ['{name}'] = '{value}'\n"
            f"reports = [xp.tune.verify('{framework}')]\n" + STATUSES
        )
        assert in_child(code)[0][f"{framework}.{row}"] == "cannot_tell"


def command(*arguments, **environment):
    environment["TF_CPP_MIN_LOG_LEVEL"] = "3"
    return ran(sys.executable, "-m", "xtts_precompute.tune", *arguments, environment=environment, timeout=180)


class TestCommand:
    def test_export_lines_are_what_a_shell_takes(self, tmp_path):
        file = tmp_path / "tune.sh"
        asked = ("--framework", "tensorflow", "--memory-limit", "1000")
        printed = command(*asked, TF_XLA_FLAGS="--one='a b' --two=$HOME")
        written = command(*asked, "--env-file", str(file), TF_XLA_FLAGS="--one='a b' --two=$HOME")
        assert (printed.returncode, written.returncode, written.stdout) == (0, 0, ""), printed.stderr + written.stderr
        assert file.read_text() == printed.stdout and os.listdir(tmp_path) == ["tune.sh"]
        shown = ran("sh", "-c", '. "$1" && printf %s "$TF_XLA_FLAGS|$TF_NUM_INTEROP_THREADS"', "sh", file, check=True)
        assert shown.stdout == f"--one='a b' --two=$HOME --tf_xla_auto_jit=2|{usable_cores()}"

    def test_the_program_hands_over_in_the_python_that_is_named(self):
        words = ["tune", "--framework", "torch", "--no-xla", "--json", "--python", sys.executable]
        done = ran(PROGRAM, *words, timeout=180)
        plain = command("--framework", "torch", "--no-xla", "--json")
        assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr

    def test_json(self):
        done = command("--framework", "torch", "--json")
        assert json.loads(done.stdout) == {"cores": usable_cores(), "environment": xp.tune.environment("torch")}

    @pytest.mark.parametrize("framework", [pytest.param(name, marks=needs(name)) for name in WITHOUT_GPU])
    def test_verify(self, framework):
        done = command("--framework", framework, "--verify", "--json", "--no-mixed-precision")
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert said["ok"] and said["cores"] == usable_cores()
        for row in said["settings"]:
            assert set(row) == {"name", "wanted", "found", "status", "reason", "source"}
            assert row["status"] in ("pass", "cannot_tell") and row["reason"] and row["source"]
        assert not [row for row in said["settings"] if "precision" in row["name"] or "float_32" in row["name"]]
        assert command("--framework", framework, "--verify").stdout.startswith("In a new process")

    def test_a_framework_that_cannot_be_imported(self, tmp_path):
        (tmp_path / "torch.py").write_text("raise OSError('libcudart.so is missing')\n")
        path = os.pathsep.join([str(tmp_path), PACKAGES])
        done = command("--framework", "torch", "--verify", PYTHONPATH=path)
        assert done.returncode == 2 and "torch could not be tried" in done.stderr and "libcudart" in done.stderr

    @pytest.mark.parametrize("word", ["0", "-1", "1e3", "x", "99999999999"])
    def test_wrong_limits(self, word):
        done = command(f"--memory-limit={word}")
        assert done.returncode == 2 and "number of MB" in done.stderr

    def test_a_file_that_cannot_be_written(self, tmp_path):
        done = command("--framework", "torch", "--env-file", str(tmp_path / "none" / "tune.sh"))
        assert done.returncode == 6 and "tune.sh" in done.stderr
