"""`xtts-precompute trace`: what is recorded within a process, and what is said of it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import textwrap
import types
import weakref
from pathlib import Path
from typing import Any

import pytest
from support import ran
from xtts_advise.trace.inside.counts import Counts, c_name_of
from xtts_advise.trace.inside.marks import Marks
from xtts_advise.trace.judge.calls import Call, calls_of
from xtts_advise.trace.judge.causes import cause_of
from xtts_advise.trace.judge.finding import gain_of
from xtts_advise.trace.judge.findings import judge
from xtts_advise.trace.judge.mounts import slow_mount_of
from xtts_advise.trace.judge.profile import read_profile
from xtts_advise.trace.judge.recording import Place, Recording, Stack, read_recordings
from xtts_advise.trace.judge.tensorflow import why_traced
from xtts_advise.trace.judge.text import text_of

PACKAGES = str(Path(sys.modules["xtts_advise"].__file__).parent.parent)


def traced(tmp_path: Path, program: str, *options: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Runs a program under the trace, with recordings in tmp_path/kept."""
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(program), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    trace = [sys.executable, "-m", "xtts_advise", "trace", "--keep", "kept", *options]
    command = [*trace, "--", sys.executable, "train.py"]
    ended = ran(*command, cwd=tmp_path, env=environment, timeout=120)
    return ended, tmp_path / "kept"


# --- within the process ----------------------------------------------------------------------


def test_time_is_booked_on_the_line_that_takes_it(tmp_path: Path) -> None:
    ended, kept = traced(
        tmp_path,
        """
        import time

        def waits():
            time.sleep(0.6)

        def computes():
            end = time.monotonic() + 0.6
            while time.monotonic() < end:
                pass

        waits()
        computes()
        """,
    )
    assert ended.returncode == 0, ended.stderr
    (recording,) = read_recordings(str(kept))
    wall = {"waits": 0.0, "computes": 0.0}
    busy = dict(wall)
    for stack in recording.stacks:
        for place in stack.path:
            if place.function in wall and place.kind == "own":
                wall[place.function] += stack.wall_s
                busy[place.function] += stack.processor_s
    assert wall["waits"] == pytest.approx(0.6, abs=0.15)
    assert wall["computes"] == pytest.approx(0.6, abs=0.15)
    assert busy["waits"] < 0.2 * wall["waits"]
    assert busy["computes"] > 0.7 * wall["computes"]


def test_children_are_recorded_however_they_start(tmp_path: Path) -> None:
    ended, kept = traced(
        tmp_path,
        """
        import multiprocessing, subprocess, sys, time

        def work():
            time.sleep(0.3)

        if __name__ == "__main__":
            for way in ("fork", "spawn"):
                process = multiprocessing.get_context(way).Process(target=work)
                process.start()
                process.join()
            subprocess.run([sys.executable, "-c", "import time; time.sleep(0.3)"])
        """,
    )
    assert ended.returncode == 0, ended.stderr
    recordings = read_recordings(str(kept))
    trainer = next(recording for recording in recordings if recording.facts["arguments"] == ["train.py"])
    children = [recording for recording in recordings if recording.parent == trainer.process]
    assert len([child for child in children if child.facts["forked"]]) == 1
    assert len([child for child in children if not child.facts["forked"]]) >= 2  # spawned, and by subprocess


def test_the_users_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("import builtins\nbuiltins.mine_ran = True\n", encoding="utf-8")
    script = "import sys; print(mine_ran, sys.modules['sitecustomize'].__file__)"
    start = str(Path(PACKAGES, "xtts_advise", "trace", "start"))
    environment = {"PYTHONPATH": os.pathsep.join([start, str(tmp_path / "mine")]), "XTTS_TRACE": str(tmp_path)}
    ended = ran(sys.executable, "-c", script, environment=environment, timeout=60)
    assert ended.stdout.split() == ["True", str(tmp_path / "mine" / "sitecustomize.py")], ended.stderr


def test_the_trainers_random_numbers_and_modules_stay(tmp_path: Path) -> None:
    program = """
        import random, sys
        random.seed(7)
        print([random.random() for _ in range(1000)][-1])
        print("start" in "".join(sys.path))
        """
    ended, _ = traced(tmp_path, program)
    plain = ran(sys.executable, "train.py", cwd=tmp_path, timeout=60)
    assert ended.stdout.split()[0] == plain.stdout.split()[0]
    assert ended.stdout.split()[-1] == "False"


def test_calls_of_a_sample_are_counted_with_their_arguments() -> None:
    counts = Counts()

    def load(path: str) -> str:
        return path

    counts.begin()
    for path in ("a", "a", "b"):
        load(path)
        len(path)
    counts.end(2)
    edges = {edge.function: edge for edge in counts.edges.values()}
    loaded = next(edge for name, edge in edges.items() if name.endswith("load"))
    assert (loaded.count, loaded.repeats) == (3, 2)
    assert loaded.examples == {"path='a'": 2, "path='b'": 1}
    assert edges["len"].count == 3
    assert counts.units == 2
    assert sys.getprofile() is None


def test_a_profiler_of_the_trainers_own_stays() -> None:
    def profiler(*_: object) -> None:
        return None

    sys.setprofile(profiler)
    try:
        assert not Counts().is_due()
    finally:
        sys.setprofile(None)


# --- what is said ----------------------------------------------------------------------------

STEP = ["/home/me/train.py", 10, "__main__", "main", "own"]
NEXT = ["/x/marks.py", 1, "xtts_advise.trace.inside.marks", "Marks.batches_of.__next__", "trace"]
MEASURED = ["/x/marks.py", 2, "xtts_advise.trace.inside.marks", "Unit.measured", "trace"]
ITEM = ["/home/me/data.py", 20, "data", "Clips.__getitem__", "own"]
LOAD = ["/x/site-packages/torchaudio/_backend/utils.py", 200, "torchaudio._backend.utils", "load", "library"]
ALIGN = ["/home/me/align.py", 5, "align", "path", "own"]
MODEL = ["/x/site-packages/torch/autograd/__init__.py", 5, "torch.autograd", "backward", "library"]
ITEM_OF = ["/x/torch.py", 5, "torch._C", "TensorBase.item", "library"]
LOSS = ["/home/me/train.py", 12, "__main__", "step", "own"]
AVERAGE = ["/home/me/average.py", 8, "average", "Average.update", "own"]
ADD = ["/x/site-packages/torch/_tensor.py", 9, "torch._tensor", "Tensor.add", "library"]
PREDICT = ["/x/site-packages/keras/src/models.py", 3, "keras.src.trainers.trainer", "Trainer.predict", "library"]
PLACES = [STEP, NEXT, MEASURED, ITEM, LOAD, ALIGN, MODEL, LOSS, AVERAGE, ADD, PREDICT]


def document(stacks: list[tuple[list[int], float]], steps: list[list[float]], **more: Any) -> dict[str, Any]:
    """A recording of one process without workers; keys name PLACES, the outermost first."""
    nothing = {"units": 0, "edges": []}
    facts = {"kind": "torch.utils.data.DataLoader", "data": "data.Clips", "workers": 0, "batch": 4}
    loop = {
        "file": STEP[0],
        "line": 10,
        "function": "main",
        "facts": facts,
        "batches": len(steps),
        "iterators": more.pop("iterators", 1),
        "asks": ["/home/me/data.py", 30, "batches"],
        "gaps": more.pop("gaps", []),
        "gap_stacks": [[list(reversed(key)), wall, wall] for key, wall in more.pop("gap_stacks", [])],
        "trains": len(steps),
        "wait_s": 0.0,
        "step_s": sum(step[2] for step in steps),
        "steps": steps,
        "lines": more.pop("lines", [[] for _ in steps]),
        "stacks": [[list(reversed(key)), wall, wall] for key, wall in stacks],
        "counts": nothing,
    }
    samples = sum(wall for key, wall in stacks if 2 in key)
    unit = {"name": "data.Clips", "calls": 10, "samples": 40, "seconds": samples, "counts": nothing}
    return {
        "process": 1,
        "parent": 0,
        "forked": False,
        "arguments": [],
        "seconds": 10,
        "processor_s": 10,
        "cost_s": 0.05,
        "places": PLACES,
        "stacks": [
            {"thread": "MainThread", "key": list(reversed(key)), "wall_s": wall, "processor_s": wall, "samples": 1}
            for key, wall in stacks
        ],
        "loops": [loop],
        "units": [unit],
        "events": {},
        "modes": [],
        "faults": [],
        "threads": {},
        **more,
    }


def test_a_slow_load_is_named_with_its_share() -> None:
    steps = [[float(number), 0.8, 1.0] for number in range(10)]
    report = judge([Recording(document([([0, 1, 2, 3, 4], 7.0), ([0, 1, 2, 3], 1.0), ([0, 6], 2.0)], steps))])
    first = report.findings[0]
    assert (first.call, first.file, first.line) == ("torchaudio.load", "/home/me/data.py", 20)
    assert first.seconds_per_step == pytest.approx(0.7)
    assert first.cache == "yes"
    low, high = first.gain
    assert low < 1 / (1 - 0.7) < high


def test_what_computes_within_the_step_is_no_matter_of_a_cache() -> None:
    steps = [[float(number), 0.01, 1.0] for number in range(10)]
    report = judge([Recording(document([([0, 5], 6.0), ([0, 6], 4.0)], steps))])
    assert [finding.call for finding in report.findings] == ["align.path"]
    assert report.findings[0].cache == "no"


def test_a_step_of_the_model_alone_is_clean() -> None:
    steps = [[float(number), 0.02, 1.0] for number in range(10)]
    assert judge([Recording(document([([0, 6], 10.0), ([0, 1, 2, 3, 4], 0.2)], steps))]).findings == []


def test_workers_that_need_the_processors_of_a_step_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader keeps up, and takes from the step what it computes with."""
    steps = [[float(number), 0.02, 1.0] for number in range(10)]
    made = document([([0, 6], 10.0), ([0, 1, 2, 3, 4], 8.0)], steps)
    made["loops"][0]["facts"]["workers"] = 2

    def told(cores: int) -> list[str]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
        report = judge([Recording(made)])
        assert report.findings == []
        assert report.workers_cpu_s == pytest.approx(0.8)
        return [note for note in report.notes if note.startswith("Its workers compute 800 ms for each step")]

    assert len(told(2)) == 1
    assert told(4) == []


@pytest.mark.parametrize(("wait", "said"), [(0.4, "Its steps wait for data"), (0.1, "Nothing was found that starves")])
def test_a_wait_that_no_call_explains_is_told(wait: float, said: str) -> None:
    steps = [[float(number), wait, 1.0] for number in range(10)]
    report = judge([Recording(document([([0, 6], 10.0 - 10 * wait)], steps))])
    assert report.findings == []
    assert said in text_of(report)


def test_a_function_that_is_no_part_of_the_model_is_named_where_nothing_else_is() -> None:
    steps = [[float(number), 0.02, 1.0] for number in range(10)]
    (found,) = judge([Recording(document([([0, 7, 6], 7.0), ([0, 7, 8, 9], 3.0)], steps))]).findings
    assert (found.call, found.line, found.cache) == ("average.Average.update", 8, "no")
    assert found.share == pytest.approx(0.98 * 0.3, rel=0.01)
    known = [([0, 7, 6], 5.0), ([0, 7, 8, 9], 3.0), ([0, 5], 2.0)]
    assert [finding.call for finding in judge([Recording(document(known, steps))]).findings] == ["align.path"]


def test_a_search_of_errors_that_is_on_comes_first() -> None:
    steps = [[float(number), 0.02, 1.0] for number in range(10)]
    stacks = [([0, 5], 6.0), ([0, 6], 4.0)]
    report = judge([Recording(document(stacks, steps, modes=["a GPU", "torch.autograd.set_detect_anomaly(True)"]))])
    assert report.findings[0].call == "torch.autograd.set_detect_anomaly(True)"
    assert report.findings[0].gain == (1.0, 1.0)
    assert [finding.call for finding in report.findings[1:]] == ["align.path"]


def test_a_prediction_within_the_training_is_named() -> None:
    steps = [[float(number), 0.02, 1.0] for number in range(10)]
    (found,) = judge([Recording(document([([0, 6], 6.0), ([0, 7, 10], 4.0)], steps))]).findings
    assert (found.call, found.cause) == ("keras.predict", "prediction")


def test_a_copy_to_the_host_costs_where_something_waits() -> None:
    place = Place("/home/me/train.py", 3, "train", "step", "own")

    def cause(processor_s: float, has_gpu: bool) -> str:
        call = Call(place, "torch._C.TensorBase.item", "", True, wall_s=1.0, processor_s=processor_s)
        found = cause_of(call, "step", has_gpu)
        return found.name if found else ""

    assert (cause(1.0, True), cause(0.1, False), cause(1.0, False)) == ("host copy", "host copy", "own code")


def test_a_loop_over_numbers_within_the_model_is_the_trainers_own_code() -> None:
    place = Place("/home/me/model.py", 18, "model", "positions", "own")

    def cause(often: float) -> str:
        call = Call(place, "model.positions", "", True, wall_s=1.0, processor_s=1.0, modules={"torch", "math"})
        call.c_names = {"math.sin": often, "torch.Tensor.to": 1.0}
        found = cause_of(call, "step")
        return found.name if found else ""

    assert (cause(9000.0), cause(2.0)) == ("own code", "")


def test_a_look_at_the_gpus_result_in_every_20th_step_is_no_fault() -> None:
    def found(period: int) -> list[str]:
        steps = [[2.0 * number, 0.01, 1.9 if number % period == 0 else 1.0] for number in range(60)]
        lines = [[[0, 11, 0.9]] if number % period == 0 else [] for number in range(60)]
        places = [*PLACES, ["/home/me/report.py", 4, "report", "shown", "own"], ITEM_OF]
        stacks = [([0, 6], 50.0), ([0, 11, 12], 20.0)]
        more: dict[str, Any] = {"lines": lines, "places": places, "modes": ["a GPU"]}
        return [finding.cause for finding in judge([Recording(document(stacks, steps, **more))]).findings]

    assert found(20) == []
    assert found(5) == ["host copy"]


def test_what_runs_between_epochs_costs_by_their_length() -> None:
    steps = [[float(number), 0.0, 1.0] for number in range(20)]
    stacks = [([0, 6], 20.0)]
    more: dict[str, Any] = {"gaps": [4.0, 4.0, 4.0], "gap_stacks": [([0, 5], 11.0), ([0, 6], 1.0)]}
    (found,) = judge([Recording(document(stacks, steps, **more))]).findings
    assert (found.cause, found.call) == ("between epochs", "align.path")
    assert found.seconds_per_step == pytest.approx(4.0 * 11 / 12 / 5)  # four epochs of five steps
    assert found.gain[0] > 1.3
    uneven = {**more, "gaps": [1.0, 4.0, 9.0]}
    (wide,) = judge([Recording(document(stacks, steps, **uneven))]).findings
    assert wide.gain[0] < found.gain[0] < found.gain[1] < wide.gain[1]
    report = text_of(judge([Recording(document(stacks, steps, **more))]))
    assert "Between two epochs, 4.0 s pass: 800 ms for each of an epoch's 5 steps." in report
    assert judge([Recording(document(stacks, steps))]).findings == []


def test_an_iterator_that_ends_in_each_epoch_is_told_and_no_function_that_trains() -> None:
    places = [["/home/me/train.py", 5, "train", "run", "own"], *PLACES]
    more: dict[str, Any] = {"gaps": [9.0, 9.0], "gap_stacks": [([0, 1], 18.0)], "places": places}
    made = document([([0, 1, 7], 20.0)], [[float(number), 0.0, 1.0] for number in range(20)], **more)
    assert judge([Recording(made)]).findings == []  # of a DataLoader
    made["loops"][0]["facts"]["kind"] = "tf.data"
    (found,) = judge([Recording(made)]).findings
    assert (found.cause, found.line, "repeat()" in found.remedy) == ("iterator made anew", PLACES[0][1], True)
    assert found.seconds_per_step == pytest.approx(9.0 * 3 / 20)
    for number, step in enumerate(made["loops"][0]["steps"]):  # two epochs of eight, and a part of the third
        step[0] += 9.0 * (number // 8)
    assert judge([Recording(made)]).findings[0].seconds_per_step == pytest.approx(9.0 / 8)


def test_a_loader_that_is_begun_for_each_batch_is_named_where_it_is_asked() -> None:
    steps = [[float(number), 0.5, 1.0] for number in range(10)]
    stacks = [([0, 6], 5.0), ([0, 1, 2, 3, 4], 5.0)]
    assert [finding.call for finding in judge([Recording(document(stacks, steps))]).findings] == ["torchaudio.load"]
    found = judge([Recording(document(stacks, steps, iterators=9))]).findings
    anew = next(finding for finding in found if finding.cause == "iterator made anew")
    assert (anew.file, anew.line, anew.function) == ("/home/me/data.py", 30, "batches")


def test_nothing_recorded_is_said_with_the_reason() -> None:
    assert "-I, -E or -S" in judge([]).notes[0]
    assert "more than two steps" in judge([Recording(document([], []))]).notes[0]


def test_every_nth_step_is_told_with_its_period() -> None:
    steps = [[float(number), 0.01, 6.0 if number % 10 == 9 else 1.0] for number in range(40)]
    lines = [[[0, 5, 5.0]] if number % 10 == 9 else [[0, 5, 0.01]] for number in range(40)]
    report = judge([Recording(document([([0, 5], 20.0), ([0, 6], 20.0)], steps, lines=lines))])
    assert "in every 10 steps, 5.0 s each time" in report.findings[0].evidence
    # Steps of one length in which every other one was looked at.
    steps = [[float(number), 0.01, 1.0] for number in range(40)]
    lines = [[[0, 5, 1.0]] if number % 3 == 0 else [] for number in range(40)]
    report = judge([Recording(document([([0, 5], 20.0), ([0, 6], 20.0)], steps, lines=lines))])
    assert not any("in every" in words for words in report.findings[0].evidence)


def test_gains_are_ranges_that_hold_the_truth() -> None:
    for share in (0.1, 0.5, 0.8, 0.9):
        low, high = gain_of(1.0, share)
        assert low < 1 / (1 - share) < high < 2 * low
    assert gain_of(1.0, 1.0)[1] < 60


def test_why_a_function_is_traced_again() -> None:
    def rows(functions: list[int], plain: list[str], shapes: list[str]) -> list[dict[str, Any]]:
        return [
            {"function": function, "values": {"plain": [value], "shapes": [shape]}}
            for function, value, shape in zip(functions, plain, shapes)
        ]

    assert "made anew" in why_traced(rows([1, 2, 3], ["1", "1", "1"], ["(8,)"] * 3))[0]
    assert "Python value" in why_traced(rows([1, 1, 1], ["1", "2", "3"], ["(8,)"] * 3))[0]
    assert "shapes" in why_traced(rows([1, 1, 1], ["1", "1", "1"], ["(8,)", "(9,)", "(7,)"]))[0]


@pytest.mark.parametrize(
    ("name", "unit", "cause", "cache"),
    [
        ("torchaudio.load", "sample", "decoding", "yes"),
        ("pandas.read_csv", "sample", "table", "no"),
        ("phonemizer.phonemize", "sample", "phonemizer", "part"),
        ("matplotlib.savefig", "step", "picture", "no"),
    ],
)
def test_known_calls_have_their_cause(name: str, unit: str, cause: str, cache: str) -> None:
    place = Place("/home/me/data.py", 1, "data", "f", "own")
    found = cause_of(Call(place, name, name, False), unit)
    assert found is not None
    assert (found.name, found.cache) == (cause, cache)


def test_the_mount_of_a_path_is_named_where_each_read_leaves_the_machine() -> None:
    rows = [
        "22 1 254:0 / / rw - ext4 /dev/vda rw",
        "60 22 0:50 / /mnt/nas rw shared:1 - nfs4 host:/speech rw",
        "61 60 0:51 / /mnt/nas/copy rw - ext4 /dev/vdb rw",
        "62 22 0:52 / /mnt/my\\040drive rw - fuse.sshfs host:/ rw",
        "63 22 0:53 / /media/usb rw - fuseblk /dev/sdb1 rw",
    ]
    table = "\n".join(rows)
    mounts = {
        "/mnt/nas/wavs/a.wav": "/mnt/nas (nfs4)",
        "/mnt/nas/copy/a.wav": None,
        "/mnt/nasal/a.wav": None,
        "/mnt/my drive/a.wav": "/mnt/my drive (fuse.sshfs)",
        "/media/usb/a.wav": None,
        "wavs/a.wav": None,
    }
    assert {path: slow_mount_of(path, table) for path in mounts} == mounts


def test_waits_and_parts_are_read_from_tensorflows_profile() -> None:
    def field(number: int, value: bytes | int) -> bytes:
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        return varint(number << 3 | 2) + varint(len(value)) + value

    def varint(value: int) -> bytes:
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)

    def event(name: bytes, ms: int, long_name: bytes = b"") -> bytes:
        fact = field(11, field(1, b"long_name") + field(2, long_name)) if long_name else field(11, field(1, name))
        return field(4, field(1, 701) + field(3, name) + field(9, 10**12) + field(10, ms * 10**9) + fact)

    wait = event(b"IteratorGetNextOp::DoCompute", 3)
    profile = field(1, b"devices") + wait + event(b"MatMul of IteratorGetNext", 1000) + wait
    found = read_profile(profile, set())
    assert (round(found.wait_s, 9), found.batches, found.parts, found.xla_s) == (0.006, 2, {}, 0)
    assert read_profile(b"", set()).batches == 0
    assert read_profile(event(b"CpuExecutable::ExecuteAsyncOnStream", 7), set()).xla_s == pytest.approx(0.007)

    operations = {
        b"tts_1/dense/MatMul:_MklMatMul": 1,  # its scope is "tts"
        b"StatefulPartitionedCall/tts/lstm/while/body/_1/add:AddV2": 2,
        b"compile_loss/mae/sub:Sub": 4,
        b"gradient_tape/tts/dense/MatMul_1:MatMul": 8,
        b"adam/truediv_5:RealDiv": 16,
        b"update/tts:ResourceApplyAdam": 32,
        b"clip_by_global_norm/mul:Mul": 64,
        b"Mean:Mean": 128,
        b"StatefulPartitionedCall:StatefulPartitionedCall": 256,  # holds the others
        b"stft/rfft:RFFT": 512,  # of tf.data
    }
    scopes = {"tts", "StatefulPartitionedCall", "compile_loss", "gradient_tape", "adam", "update", "Mean"}
    profile = b"".join(event(name.rpartition(b":")[2], ms, name) for name, ms in operations.items())
    parts = read_profile(profile, scopes | {"clip_by_global_norm"}).parts
    assert {name: round(1e3 * seconds) for name, seconds in parts.items()} == {
        "forward": 3,
        "loss": 4,
        "backward": 8,
        "optimizer": 112,
        "": 128,
    }


def test_imports_are_one_call_by_the_module_that_was_asked_for() -> None:
    places = [
        Place("/home/me/data.py", 3, "data", "Clips.__getitem__", "own"),
        Place("<frozen importlib._bootstrap>", 1, "importlib._bootstrap", "_find_and_load", "standard"),
        Place("/x/site-packages/librosa/__init__.py", 1, "librosa", "<module>", "library"),
        Place("<frozen importlib._bootstrap>", 1, "importlib._bootstrap", "_find_and_load", "standard"),
        Place("/x/site-packages/scipy/__init__.py", 1, "scipy", "<module>", "library"),
    ]
    stacks = [Stack("MainThread", tuple(places[:count]), 0.1, 0.1) for count in (3, 5)]
    (call,) = calls_of(stacks, None)
    assert (call.name, call.is_import) == ("import librosa", True)
    assert call.wall_s == pytest.approx(0.2)


# --- the command -----------------------------------------------------------------------------


def test_the_programs_exit_code_is_handed_on(tmp_path: Path) -> None:
    ended, _ = traced(tmp_path, "import sys; sys.exit(7)", "--out", "report.json")
    assert ended.returncode == 7
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (document["program_exit"], document["findings"]) == (7, [])
    assert document["notes"][0].startswith("The program ended with exit code 7 ")


def test_a_training_ends_when_its_time_is_over(tmp_path: Path) -> None:
    ended, _ = traced(tmp_path, "import time; time.sleep(100)", "--for", "1")
    assert ended.returncode == 0
    assert "ended after 1 s" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["--"], 2),
        (["--for", "0", "--", "true"], 2),
        (["--for=--", "--", "true"], 2),
        (["--", "no-such-program-here"], 2),
        (["--out", "/no/such/folder/report.json", "--", "echo", "trained"], 6),
        (["--keep", "/dev/null", "--", "echo", "trained"], 6),
    ],
)
def test_what_cannot_be_done_is_told_before_the_training_runs(arguments: list[str], code: int) -> None:
    ended = ran(
        sys.executable, "-m", "xtts_advise", "trace", *arguments, environment={"PYTHONPATH": PACKAGES}, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith("xtts-precompute: ")
    assert ended.stderr.count("\n") == 1


def test_what_runs_in_the_trainers_python_reads_as_3_8() -> None:
    """A trainer's Python may be old; its recording must not stop it."""
    inside = Path(PACKAGES, "xtts_advise", "trace")
    files = [*inside.glob("inside/*.py"), *inside.glob("start/*.py")]
    assert len(files) >= 9
    for file in files:
        ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_a_fault_of_the_recording_does_not_reach_the_trainer() -> None:
    marks = Marks()

    class Batches:
        def __init__(self) -> None:
            self.left = 3

        def __next__(self) -> int:
            if not self.left:
                raise StopIteration
            self.left -= 1
            return self.left

        def __iter__(self) -> Batches:
            return self

    def facts(_: object) -> dict[str, Any]:
        raise RuntimeError("facts that cannot be had")

    marks.batches_of(Batches, facts)
    marks.event("stage", lambda: facts(None))
    assert list(Batches()) == [2, 1, 0]
    assert "cannot be had" in marks.faults[0]


def test_quiet_prints_what_the_training_prints_and_json_one_document(tmp_path: Path) -> None:
    ended, _ = traced(tmp_path, "print('loss 0.5')", "-q")
    assert (ended.stdout, ended.stderr) == ("loss 0.5\n", "")
    ended, _ = traced(tmp_path, "print('loss 0.5')", "--json")
    assert json.loads(ended.stdout)["program_exit"] == 0
    assert ended.stderr == "loss 0.5\n"


def test_a_copy_that_tensorflow_made_is_no_file_of_the_trainers() -> None:
    from xtts_advise.trace.inside.places import kind_of

    assert kind_of("/tmp/__autograph_generated_filek2x.py") == "library"
    assert kind_of("/tmp/train.py") == "own"


def test_counting_raises_nothing_and_keeps_no_object_of_the_trainers_alive() -> None:
    """An extension's function may have a module object as its module, and a loader's threads end with the loader."""

    odd = types.SimpleNamespace(__module__=types, __qualname__="resample")
    assert c_name_of(odd) == "builtins.resample"

    class Loader(list):  # type: ignore[type-arg]
        pass

    counts, loader = Counts(), Loader()
    kept = weakref.ref(loader)
    counts.begin()
    loader.append(1)
    counts.end()
    assert any("append" in edge.function for edge in counts.edges.values())
    del loader
    assert kept() is None
    counts._count_call = lambda *_: 1 / 0  # type: ignore[method-assign]
    counts.begin()
    len([])
    counts.end()
    assert sys.getprofile() is None
    assert isinstance(counts.fault, ZeroDivisionError)
