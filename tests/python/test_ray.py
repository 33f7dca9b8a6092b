"""xtts_precompute.ray on a real Ray cluster of several nodes on this machine (ray.cluster_utils).

tests/fault/kill_ray.py kills nodes, drivers, workers and builders at random moments, again and again.
"""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
import xtts_precompute as xp
from support import framework, make_corpus, tell
from xtts_precompute.ray.attempt import local_scratch

ray = framework("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

OPTIONS = ["--layout", "packed", "--set", "max_frames=52428"]  # shards of 8 clips

# It loses its process once, after some batches.
COLUMN = """
import os, pathlib
import numpy as np

MARK = pathlib.Path(__file__).with_name("died")

def mean(clips):
    assert len(clips) <= 3
    if any(clip.id == "clip-020" for clip in clips) and not MARK.exists():
        MARK.touch()
        os._exit(1)
    return [np.full((clip.frames, 1), clip.mel.mean(), np.float32) for clip in clips]
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray")
    make_corpus(folder / "data", 37, seconds=(5, 20))
    (folder / "data/clip-003.wav").write_text("no sound")
    tell("build", folder / "data", folder / "whole", *OPTIONS, "--quiet")
    (folder / "my_column.py").write_text(COLUMN)
    return folder


@pytest.fixture(scope="module")
def cluster(work):
    # Workers find my_column.py as they find the package.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(work), prepend=":")
        cluster = cluster_utils.Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        cluster.lost = cluster.add_node(num_cpus=1)
        cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


def start(cluster, work, *options, out="out"):
    command = [sys.executable, "-m", "xtts_precompute.ray", "build", work / "data", work / out]
    command += ["--address", cluster.address, "--cpus-per-part", "1", "--json", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=work)


def ended(driver):
    out, errors = driver.communicate(timeout=120)
    assert driver.returncode == 0, errors
    return json.loads(out)


def test_parts_are_one_build_though_a_driver_and_a_node_die(cluster, work):
    first = start(cluster, work, "--parts", "5", *OPTIONS)
    until = time.monotonic() + 60
    while not list(work.glob("out/parts/*")) and time.monotonic() < until:
        time.sleep(0.02)
    first.kill()
    first.communicate()
    second = start(cluster, work)  # the plan is there
    cluster.remove_node(cluster.lost, allow_graceful=False)
    told = ended(second)
    assert told["parts"] == {"count": 5, "done": 5, "failed": 0}
    assert (told["clips"], told["records"], told["rejects"]["count"]) == (37, 36, 1)
    assert sorted(path.name for path in work.glob("out/*")) == ["parts", "plan", "set.json"]
    tell("merge", work / "merged", *sorted(work.glob("out/parts/*")), "--quiet")
    assert (work / "merged/manifest.json").read_bytes() == (work / "whole/manifest.json").read_bytes()
    together, whole = xp.open(work / "out"), xp.open(work / "whole")
    assert tell("ls", work / "out", "--json") == tell("ls", work / "whole", "--json")
    assert list(together.ids) == list(whole.ids)
    np.testing.assert_array_equal(together["clip-036"].mel, whole["clip-036"].mel)


def test_a_column_is_added_by_actors_that_may_die(cluster, work):
    options = ["--add-column", "mean=my_column:mean", "--batch", "3", "--gpus", "0", "--column-version", "1"]
    told = ended(start(cluster, work, *options))
    assert told["repeated"] >= 1 and (work / "died").exists()
    together = xp.open(work / "out")
    for clip_id in together.ids:
        assert together[clip_id]["mean"].shape == (len(together[clip_id].mel), 1)
        assert together[clip_id]["mean"][0, 0] == together[clip_id].mel.mean(dtype=np.float32)
    assert sorted(path.name for path in work.glob("out/*")) == ["parts", "plan", "set.json"]


def test_parts_that_are_built_on_the_nodes_own_disks_leave_nothing_there(cluster, work):
    (work / "local").mkdir()
    lost = local_scratch(str(work / "local"), str(work / "near"), "0001.2-0123456789abcdef")
    lost.mkdir()  # as of an attempt whose node came back
    told = ended(start(cluster, work, "--parts", "2", "--scratch", str(work / "local"), *OPTIONS, out="near"))
    assert told["parts"]["done"] == 2
    assert list((work / "local").iterdir()) == []
    assert list(xp.open(work / "near").ids) == list(xp.open(work / "whole").ids)
