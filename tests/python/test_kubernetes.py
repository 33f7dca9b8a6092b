"""samples/kubernetes: the jobs fit the schemas, and their commands build a cache, without a cluster."""

import importlib.util
import os
import signal
import subprocess
import time

import pytest
from support import PROGRAM, PROJECT, make_corpus, tell

yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
SAMPLES = sorted((PROJECT / "samples/kubernetes").glob("*.yaml"))
if not SAMPLES:
    pytest.skip("samples/ is not here", allow_module_level=True)
PARTS = 3


def job_of(name):
    return yaml.load(PROJECT / f"samples/kubernetes/{name}.yaml")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_job_fits_the_schema_of_kubernetes(path):
    if importlib.util.find_spec("kubernetes_validate") is None:
        pytest.skip("kubernetes-validate is not installed here: no schema is compared")
    import kubernetes_validate

    kubernetes_validate.validate(yaml.load(path), "1.33", strict=True)


def test_jobs_agree_with_one_another():
    plan, parts = job_of("plan"), job_of("parts")
    command = plan["spec"]["template"]["spec"]["containers"][0]["args"][0]
    assert f"--parts {parts['spec']['completions']} " in command
    images = {
        job["spec"]["template"]["spec"]["containers"][0]["image"] for job in map(job_of, ("plan", "parts", "set"))
    }
    assert len(images) == 1


def start(name, folder, index=0):
    """Starts the command of a job's container, with its volumes in `folder`."""
    container = job_of(name)["spec"]["template"]["spec"]["containers"][0]
    script = container["args"][0].replace("/data", f"{folder}/data").replace("/out", f"{folder}/out")
    script = script.replace("--parts 500", f"--parts {PARTS} --set max_frames=52428 --layout packed")
    environment = {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "JOB_COMPLETION_INDEX": str(index)}
    return subprocess.Popen([*container["command"], script], env=environment, stderr=subprocess.PIPE, text=True)


def test_the_commands_make_a_set_of_all_parts(tmp_path):
    make_corpus(tmp_path / "data", 37, seconds=(5, 20))
    (tmp_path / "out").mkdir()
    planned = start("plan", tmp_path)
    _, errors = planned.communicate()
    if "instruction set" in errors:
        pytest.skip(f"this processor has no AVX2: {errors}")
    assert planned.returncode == 0, errors
    evicted = start("parts", tmp_path, 1)
    time.sleep(0.1)
    evicted.send_signal(signal.SIGTERM)
    evicted.communicate()
    assert evicted.returncode in (0, 143), "bash hands the signal on, by exec"
    for index in range(PARTS):
        part = start("parts", tmp_path, index)
        _, errors = part.communicate()
        assert part.returncode == 0, errors
    named = start("set", tmp_path)
    _, errors = named.communicate()
    assert named.returncode == 0, errors
    whole = ["--recipe", "tacotron2", "--isa", "avx2", "--set", "max_frames=52428", "--layout", "packed", "--quiet"]
    tell("build", tmp_path / "data", tmp_path / "whole", *whole)
    tell("merge", tmp_path / "merged", *sorted((tmp_path / "out/parts").iterdir()), "--quiet")
    assert (tmp_path / "merged/manifest.json").read_bytes() == (tmp_path / "whole/manifest.json").read_bytes()
