"""How the doctor measures the trainer's own way, in the user's Python. Needs neither librosa nor NumPy's threads."""

import sys
import time
import types

import pytest
from xtts_advise.measure.on_the_fly import measure as on_the_fly

REQUEST = {"files": ["a", "b"], "workers": 2, "seconds": 0.05, "rounds": 2}


def pools(*found):
    return types.SimpleNamespace(threadpool_info=lambda: list(found))


@pytest.mark.parametrize(
    ("found", "setting"),
    [
        ([{"internal_api": "openblas", "num_threads": 8}], "OPENBLAS_NUM_THREADS=1"),
        (
            [{"internal_api": "openmp", "num_threads": 8}, {"internal_api": "mkl", "num_threads": 2}],
            "MKL_NUM_THREADS=1",
        ),
        ([{"internal_api": "openblas", "num_threads": 1}], None),
        ([{"internal_api": "openmp", "num_threads": 8}, {}], None),
        ([], None),
    ],
)
def test_only_threads_of_linear_algebra_have_a_setting(monkeypatch, found, setting):
    monkeypatch.setitem(sys.modules, "threadpoolctl", pools(*found))
    assert on_the_fly.own_threads_setting() == setting


def test_without_threadpoolctl_there_is_no_setting(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert on_the_fly.own_threads_setting() is None


def test_workers_are_measured_with_and_without_their_own_threads(monkeypatch):
    pause = {"s": 0.3}
    monkeypatch.setattr(on_the_fly, "_librosa", lambda request: (lambda path: time.sleep(pause["s"]), "a double"))
    monkeypatch.setattr(on_the_fly, "own_threads_setting", lambda: "OPENBLAS_NUM_THREADS=1")
    # Called in the workers alone, which are processes of their own.
    monkeypatch.setattr(on_the_fly, "limit_own_threads", lambda: pause.update(s=0.001))
    answer = on_the_fly.measure(REQUEST)
    assert answer["single_threaded"]["setting"] == "OPENBLAS_NUM_THREADS=1"
    assert len(answer["all"]) == len(answer["single_threaded"]["all"]) == 2
    assert min(answer["single_threaded"]["all"]) > max(answer["all"])


def test_one_worker_has_nobody_in_its_way(monkeypatch):
    monkeypatch.setattr(on_the_fly, "_librosa", lambda request: (lambda path: time.sleep(0.01), "a double"))
    answer = on_the_fly.measure({**REQUEST, "workers": 1})
    assert "single_threaded" not in answer and answer["all"] == answer["one"]
