"""The doctor times the loader that a training uses (xtts_advise/measure/own_loader, trainers/myxtts/loader.py)."""

import argparse
import json
import os
import sys

import pytest
from doctor_support import Answers
from xtts_advise.doctor import in_python, sweep
from xtts_advise.doctor.diagnose import diagnose
from xtts_advise.doctor.in_python import NotMeasured
from xtts_advise.doctor.request import Request
from xtts_advise.words import Failure

LOADER = """
import itertools, time
class Loader:
    batch_size, num_workers = 4, 0
    def __iter__(self):
        for _ in range(5):
            time.sleep(0.01)
            yield [{"mel": Rows()}, 3]
class Rows:
    shape = (6, 80)
class Unnamed(Loader):
    batch_size = None
def make(): return Loader()
def broken(): raise OSError("no disk")
def empty(): return []
def once():  # an iterator
    return iter(Loader())
"""


def timed(tmp_path, place, step_ms=None):
    (tmp_path / "own.py").write_text(LOADER)
    wish = {"place": place, "folders": [str(tmp_path)], "step_ms": step_ms, "seconds": 0.1, "rounds": 2}
    return in_python.find(sys.executable, str(tmp_path)).run("own_loader", request=wish)


@pytest.mark.parametrize(("name", "rows"), [("make", 4), ("Unnamed", 6), ("once", 6)])
def test_a_loader_is_timed_alone_and_beside_a_step(tmp_path, name, rows):
    answer = timed(tmp_path, f"own:{name}", 30)
    assert answer["batch_size"] == rows
    assert all(9 < ms < 30 for ms in answer["batch_ms"]) and len(answer["batch_ms"]) == 2
    assert all(39 < ms < 80 for ms in answer["with_step_ms"])  # without workers they add up


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("own:broken", "OSError: no disk"), ("own:empty", "no batch left"),
        ("own:nothing", "has no attribute 'nothing'"), ("nowhere:make", "No module named 'nowhere'"),
    ],
)  # fmt: skip
def test_a_loader_that_cannot_be_timed_says_why(tmp_path, place, reason):
    assert reason in timed(tmp_path, place)["missing"]


def own(answer, **wishes):
    """The check of a training whose loader gave this answer."""

    class Python:
        version = "3.11"

        def run(self, module, *_, **__):
            if module == "own_loader":
                return answer
            raise NotMeasured("not asked")

    wish = Request(data="d", loader="train:loader", runs_frameworks=False, **wishes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xtts_advise.doctor.measuring.find", lambda *_: Python())
        return diagnose(wish, Answers(), lambda _: None).checks[0]


def answer_of(batch_ms, step_ms, took_ms):
    return {"batch_size": 16, "workers": 2, "batch_ms": [batch_ms], "step_ms": step_ms, "with_step_ms": [took_ms]}


@pytest.mark.parametrize(
    ("batch_ms", "took_ms", "gain"),
    [(200, 202, 4.0), (20, 51, None), (60, 110, 2.1)],  # late, in time, and one after the other
)
def test_the_gain_is_that_of_the_users_own_loader(batch_ms, took_ms, gain):
    check = own(answer_of(batch_ms, 50.0, took_ms), step_ms=50.0)
    assert "librosa" not in check.summary
    if gain is None:
        assert check.summary.startswith("No: data is not what training waits for.")
    else:
        assert check.findings[0].gain.low < gain < check.findings[0].gain.high < 2 * check.findings[0].gain.low
        assert check.summary.startswith("Yes: training becomes ")


def test_a_loader_that_is_not_the_one_that_was_asked_for_is_told():
    check = own({**answer_of(200, 50.0, 202), "note": "its native loader fails (No module named 'x')"}, step_ms=50.0)
    told = " ".join(one.text for one in check.findings)
    assert "not the one that was asked for: its native loader fails (No module named 'x')." in told


def test_a_trainer_whose_loader_was_not_timed_is_promised_nothing():
    for answer in ({"missing": "OSError: no disk"}, {"odd": 1}, []):
        check = own(answer, step_ms=50.0)
        assert "so no gain is promised (" in check.summary
        assert check.findings[0].gain is None
    assert "no disk" in own({"missing": "OSError: no disk"}).summary


def test_myxtts_is_loaded_as_its_training_does(tmp_path):
    """A package that stands for the trainer says what it was given."""
    package = tmp_path / "myxtts"
    for name, source in {
        "config/config.py": "from types import SimpleNamespace\n"
        "def DataConfig(**given):\n"
        "    return SimpleNamespace(**{'num_workers': 3, 'shuffle_buffer_multiplier': 5, **given})\n",
        "data/ljspeech.py": "import pathlib\n"
        "class LJSpeechDataset:\n"
        "    def __init__(self, folder, config, **given):\n"
        "        self.folder, self.config, self.given = pathlib.Path(folder), config, given\n"
        "        (self.folder / 'processed').mkdir()\n"
        "    def create_tf_dataset(self, **given):\n"
        "        rows = len((self.folder / 'metadata.csv').read_text().splitlines())\n"
        "        assert self.given == {'subset': 'train', 'download': False}, self.given\n"
        "        assert given['num_parallel_calls'] == 3 and given['prefetch'] and not given['memory_cache'], given\n"
        "        assert (self.folder / 'wavs/a.wav').read_text() == 'a'\n"
        "        print('TF-native loading FAILED\\n====\\nError: No module named x\\nFalling back')\n"
        "        return Batches([rows] * 9)\n"
        "class Batches(list): pass\n",
        "__init__.py": "", "config/__init__.py": "", "data/__init__.py": "",
    }.items():  # fmt: skip
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(source)
    (tmp_path / "yaml.py").write_text("def safe_load(_): return {'data': {'batch_size': 7, 'preprocessing_mode': 'x'}}")
    data = tmp_path / "corpus"
    (data / "wavs").mkdir(parents=True)
    (data / "wavs/a.wav").write_text("a")
    (data / "metadata.csv").write_text("".join(f"{i}|text\n" for i in range(3000)))
    (tmp_path / "config.yaml").write_text("")
    (tmp_path / "scratch").mkdir()
    file = os.path.join(os.path.dirname(in_python.__file__), "../trainers/myxtts/loader.py")
    wish = {
        "file": file,
        "config": str(tmp_path / "config.yaml"),
        "data": str(data),
        "scratch": str(tmp_path / "scratch"),
    }
    wish |= {"folders": [str(tmp_path)], "step_ms": 1, "seconds": 0.01, "rounds": 1}
    answer = in_python.find(sys.executable, str(tmp_path)).run("own_loader", request=wish)
    assert answer.get("batch_size") == 7, answer
    assert answer["note"].startswith("its native loader fails (No module named x), and")
    assert sorted(os.listdir(data)) == ["metadata.csv", "wavs"]  # what the trainer writes goes elsewhere
    assert len((tmp_path / "scratch/data/metadata.csv").read_text().splitlines()) == 1025


@pytest.mark.parametrize("place", ["train.py:loader", "./train:loader", "train", ":loader", "train:", "1:2"])
def test_a_place_that_is_none_is_refused_before_anything_is_measured(place):
    from xtts_advise.doctor import command

    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args([f"--loader={place}", "--data=d"])
    options.quiet = True
    with pytest.raises(Failure, match="write MODULE:NAME, as in train:loader for train.py"):
        command.run(options, Answers())


# The sweep.


def row(size, workers, low, median, high):
    times = {"low": low, "median": median, "high": high}
    return {"batch_size": size, "num_workers": workers, "batch_ms": times, "clips_per_s": 1e3 * size / median}


ROWS = [row(8, 0, 99, 100, 104), row(8, 2, 50, 52, 55), row(16, 0, 200, 210, 220), row(16, 2, 100, 101, 110)]
SWEPT = {
    "rows": ROWS,
    "recommended": [{"batch_size": 8, "num_workers": 2}, {"batch_size": 16, "num_workers": 2}],
    "left_out": [],
}


def test_more_workers_are_advised_where_they_clearly_help():
    check = sweep.check(SWEPT, 8, 0)
    assert check.findings[0].text == "With 2 workers instead of 0, batches of 8 come 1.8 to 2.1 times as fast."
    assert "set num_workers to 2" in check.findings[0].remedy
    assert check.evidence[1].value == "52.0 ms a batch (50.0 to 55.0), 154 clips/s"
    assert [bar.label for bar in check.charts[0].content.bars][1] == "batches of 8, 2 workers"


@pytest.mark.parametrize(("size", "workers"), [(8, 2), (32, 0), (8, None), (8, 5)])
def test_nothing_is_advised_for_what_was_not_timed_or_is_best(size, workers):
    check = sweep.check(SWEPT, size, workers)
    assert check.status == "pass" and not check.findings
    assert "batches of 16, 2 workers" in check.summary


def test_a_difference_within_the_rounds_is_none():
    close = {**SWEPT, "rows": [row(8, 0, 52, 60, 70), ROWS[1]]}
    assert not sweep.check(close, 8, 0).findings


@pytest.mark.parametrize("answer", [None, [], {"missing": "it takes no sizes"}, {"rows": [{}, 3, {"batch_ms": "x"}]}])
def test_without_rows_it_cannot_tell(answer):
    check = sweep.check(answer, 8, 0)
    assert check.status == "cannot_tell"
    assert "it takes no sizes" in check.summary or "answered oddly" in check.summary


def test_no_steady_setting_is_told():
    check = sweep.check({**SWEPT, "recommended": []}, 8, 0)
    assert (check.status, check.summary) == ("cannot_tell", "No setting is steady enough.")


def test_a_loader_that_takes_sizes_is_swept(tmp_path):
    source = "def make(batch_size=4, num_workers=0):\n    import time\n    while True:\n"
    (tmp_path / "own.py").write_text(source + "        time.sleep(batch_size / 1e4)\n        yield [0] * batch_size\n")
    wish = {"place": "own:make", "folders": [str(tmp_path)], "step_ms": 1, "seconds": 0.01, "rounds": 1, "sweeps": True}
    rows = in_python.find(sys.executable, str(tmp_path)).run("own_loader", request=wish, limit_s=120)["sweep"]["rows"]
    assert {one["batch_size"] for one in rows} == {8, 16, 32}


# The training itself.


def test_the_training_that_is_named_is_run_and_its_calls_are_in_the_report(tmp_path, monkeypatch):
    from xtts_advise.doctor import command

    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("print('trained')\n")
    program = Answers()
    program.is_quiet, program.inform, program.version = False, lambda _: None, lambda: "1\n"
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = parser.parse_args(["--out=found", "--", sys.executable, "train.py"])
    options.quiet = True
    _, _, document = command.run(options, program)
    assert [check["name"] for check in document["checks"]][:3] == ["will_it_help", "gpu", "trace"]
    assert json.loads((tmp_path / "found/trace.json").read_text())["program_exit"] == 0
    assert sorted(os.listdir("found"))[:2] == ["diagnostic_report.html", "diagnostic_report.json"]
