"""`xtts-precompute profile` with the user's own loader and step, its limits, and what disturbs it.

Needs no framework.
"""

import io
import json
import os
import re
import subprocess
import sys
import types

import numpy as np
import pytest
import xtts_precompute as xp
from support import PROGRAM, PROJECT, ran
from xtts_advise.measure.own_loader import sweep
from xtts_advise.others import Others
from xtts_precompute.profile import command, measuring, progress
from xtts_precompute.profile.placement import place, tier
from xtts_precompute.profile.progress import StepCount
from xtts_precompute.profile.torch_parts import TorchParts, torch_parts

TRAINER = """
import os
import sys
import time
import numpy as np

def loader():
    class Slow:
        def __iter__(self):
            for _ in range(20):
                time.sleep(0.03)
                yield {"mel": np.zeros((4, 8))}
    return Slow()

batches = [np.zeros((4, 8))] * 5

def step(batch):
    time.sleep(0.01)

def named(batch, profiler):
    with profiler.phase("forward"):
        time.sleep(0.01)
    with profiler.phase("backward"):
        time.sleep(0.01)

def broken(batch):
    raise ValueError("a shape does not fit")

class Broken:
    def __iter__(self):
        yield np.zeros(4)
        raise OSError("a file is gone")

def no_loader():
    return 7

def sized(batch_size, num_workers):
    while True:
        time.sleep(0.001 * batch_size / max(1, num_workers))
        yield np.zeros((batch_size, 8))

def short(num_workers):
    return [np.zeros((4, 8))] * 2

def nothing():
    yield np.zeros((4, 8))
    yield None

def generator():
    while True:
        time.sleep(0.001)
        yield np.zeros((4, 8))

once = generator()

def exits(batch):
    sys.exit(0)

def prints(batch):
    print("said by the step")
    os.write(1, b"written by the step\\n")
    time.sleep(0.01)

def names_data(batch, profiler):
    with profiler.phase("data"):
        pass

async def later(batch):
    pass

class Passes:
    def __iter__(self):
        time.sleep(0.2)
        yield from batches
"""
FEW = ("--num-steps", "5", "--warmup", "1")


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A folder with a trainer's module; the current folder, too."""
    (tmp_path / "own_trainer.py").write_text(TRAINER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("own_trainer", None)


def program(folder, *arguments):
    return ran(PROGRAM, "profile", *arguments, "--python", sys.executable, cwd=folder, timeout=600)


# ---- the program


def test_the_program_times_a_loader_and_a_step_that_it_has_never_seen(trainer):
    done = program(trainer, "--loader", "own_trainer:loader", "--step", "own_trainer:step", *FEW, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [phase["name"] for phase in found["phases"]] == ["data", "train", "other"]
    assert (found["steps"], found["batch_size"], found["cache"], found["parameters"]) == (5, 4, None, None)
    assert 0.5 < found["data"]["share"] < 0.95 and found["synthetic"]["gain"] > 1.5
    assert 0 <= found["others_share"] <= 1
    check = [sys.executable, PROJECT / "tests/cli/check_json.py", "profile"]
    checked = ran(*check, input=done.stdout)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_python_without_the_package_is_told_what_to_install(tmp_path):
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": ""}
    done = ran(PROGRAM, "profile", "cache", "--python", sys.executable, "--json", cwd=tmp_path, env=bare)
    if "there is no cache at" in done.stderr:
        pytest.skip("this Python has the package in itself")
    assert done.returncode == 2 and "-m pip install ." in done.stderr
    assert json.loads(done.stdout)["error"]["code"] == "unsupported"


def test_the_program_and_the_package_have_the_same_options():
    def options(text):
        return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text.split("Output:")[0]))

    of_program = options(program(".", "--help").stdout) - {"--python"}
    of_package = {word for action in command._parser()._actions for word in action.option_strings}
    assert of_program | {"--json", "--quiet", "-q", "-h"} == of_package


# ---- own code


def test_a_step_that_takes_the_profiler_names_its_phases(trainer, capsys):
    assert command.main(["--loader", "own_trainer:batches", "--step", "own_trainer:named", *FEW, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [phase["name"] for phase in found["phases"]] == ["data", "forward", "backward", "other"]


def test_mistakes_are_told_with_what_to_do(trainer, capsys):
    def fails(words, *arguments):
        assert command.main([*map(str, arguments), *FEW, "--json"]) == 2, words
        said = capsys.readouterr()
        assert words in said.err, said.err
        assert json.loads(said.out)["error"] == {
            "code": "invalid_argument",
            "message": said.err[said.err.rindex("xtts-precompute profile: ") + 25 :].rstrip("\n"),
        }

    step = ("--step", "own_trainer:step")
    fails("name a CACHE, or your own loader by --loader")
    fails("not both", "cache", "--loader", "own_trainer:loader", *step)
    fails("--loader needs --step", "--loader", "own_trainer:loader")
    fails("--batch-size is for a CACHE", "--loader", "own_trainer:loader", *step, "--batch-size", 4)
    fails("--framework is for a CACHE", "--loader", "own_trainer:loader", *step, "--framework", "torch")
    fails("write MODULE:NAME, as in train:make_loader", "--loader", "own_trainer", *step)
    fails("write MODULE:NAME, as in train:step", "--loader", "own_trainer:loader", "--step", "step")
    fails("name the module as Python imports it", "--loader", "./own_trainer.py:loader", *step)
    fails("name the module as Python imports it", "--loader", "own_trainer.py:loader", *step)
    fails("there is no module 'nowhere'; start the command in the folder", "--loader", "nowhere:loader", *step)
    fails("there is no 'nobody' in own_trainer", "--loader", "own_trainer:nobody", *step)
    fails("gives no batches, but an object of type int", "--loader", "own_trainer:no_loader", *step)
    fails("own_trainer:nothing gives None instead of a batch", "--loader", "own_trainer:nothing", *step)
    fails("an object of type list: name", "--loader", "own_trainer:loader", "--step", "own_trainer:batches")
    fails("a coroutine: name a function", "--loader", "own_trainer:loader", "--step", "own_trainer:later")
    fails("called sys.exit(0)", "--loader", "own_trainer:batches", "--step", "own_trainer:exits")
    fails("cannot be called 'data'", "--loader", "own_trainer:batches", "--step", "own_trainer:names_data")
    fails("leave it out with --data-gpu", "cache", "--data-gpu", 0, "--device", "cpu")
    fails("as in 5%, not '5'", "cache", "--fail-over", 5)


@pytest.mark.parametrize(
    ("words", "cause", "arguments"),
    [
        ("--step own_trainer:broken failed: ValueError: a shape does not fit", "in broken", "batches broken"),
        ("--loader own_trainer:Broken failed: OSError: a file is gone", "in __iter__", "Broken step"),
    ],
)
def test_a_failure_of_own_code_shows_where_it_failed(trainer, capsys, words, cause, arguments):
    loader, step = (f"own_trainer:{name}" for name in arguments.split())
    assert command.main(["--loader", loader, "--step", step, *FEW]) == 2
    said = capsys.readouterr().err
    assert words in said and "Traceback" in said and cause in said


def test_a_module_that_exits_is_no_success(trainer, capsys):
    (trainer / "exits_at_once.py").write_text("import sys; sys.exit(0)")
    assert command.main(["--loader", "exits_at_once:loader", "--step", "own_trainer:step"]) == 2
    assert "exits_at_once:loader called sys.exit(0)" in capsys.readouterr().err


def test_what_a_step_prints_is_not_in_the_json(trainer):
    done = program(trainer, "--loader", "own_trainer:batches", "--step", "own_trainer:prints", *FEW, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["device"] == "cpu"
    assert "said by the step" in done.stderr and "written by the step" in done.stderr


@pytest.mark.parametrize("form", ((), ("--json",)))
def test_a_full_disk_is_told_in_one_line(trainer, form):
    command = [sys.executable, "-m", "xtts_precompute.profile", "--loader", "own_trainer:batches"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*command, "--step", "own_trainer:step", *FEW, "--quiet", *form],
            cwd=trainer, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=600,
        )  # fmt: skip
    assert done.returncode == 6 and "No space left on device" in done.stderr and "Traceback" not in done.stderr


def test_ctrl_c_ends_with_a_word(trainer, capsys):
    (trainer / "stops.py").write_text("def step(batch):\n    raise KeyboardInterrupt\n")
    assert command.main(["--loader", "own_trainer:batches", "--step", "stops:step", *FEW]) == 130
    assert capsys.readouterr().err.endswith("stopped\n")


def test_a_generator_function_is_called_again_for_a_second_measurement(trainer, monkeypatch, capsys):
    monkeypatch.setattr(measuring, "Others", busy_for([0.5, 0.0]))
    assert command.main(["--loader", "own_trainer:generator", "--step", "own_trainer:step", *FEW]) == 0
    assert "measuring again (2 of at most 3)" in capsys.readouterr().err
    # An iterator that is there only once is measured once.
    monkeypatch.setattr(measuring, "Others", busy_for([0.5]))
    assert command.main(["--loader", "own_trainer:once", "--step", "own_trainer:step", *FEW]) == 0
    said = capsys.readouterr()
    assert "Other programs took 50 %" in said.out and said.err == ""


class Screen(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


def test_steps_are_counted_while_they_run(monkeypatch):
    monkeypatch.setattr(progress, "_REDRAW_S", 0.0)
    screen = Screen(is_terminal=True)
    count = StepCount(12, screen)
    step = count.counted(lambda batch: None)
    step(None)
    step(None)
    assert screen.getvalue().split("\r")[1:] == [f"xtts-precompute profile: step {n} of 12" for n in (1, 2)]
    count.clear()
    assert screen.getvalue().endswith(f"\r{' ' * len('xtts-precompute profile: step 2 of 12')}\r")
    # Elsewhere a line stands now and then, and there is nothing to clear.
    log = Screen(is_terminal=False)
    count = StepCount(12, log)
    count.counted(lambda batch: None)(None)
    assert log.getvalue() == ""
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0.0)
    count = StepCount(12, log)
    count.counted(lambda batch: None)(None)
    count.clear()
    assert log.getvalue() == "xtts-precompute profile: step 1 of 12\n"


def test_a_new_pass_that_steps_wait_for_is_told(trainer, capsys):
    assert command.main(["--loader", "own_trainer:Passes", "--step", "own_trainer:step", "--num-steps", "20"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"[345] steps of 20 began a new pass over the loader and waited 20\d ms, the others 0", said), said


def test_fail_over_ends_with_four(trainer, capsys):
    slow = ["--loader", "own_trainer:loader", "--step", "own_trainer:step", *FEW]
    assert command.main([*slow, "--fail-over", "5%", "--json"]) == 4
    said = capsys.readouterr()
    assert json.loads(said.out)["steps"] == 5 and "--fail-over allows 5 %" in said.err
    assert command.main([*slow, "--fail-over", "99.5%"]) == 0
    assert command.main([*slow, "--fail-over", "5%", "--no-synthetic"]) == 4
    free = ["--loader", "own_trainer:batches", "--step", "own_trainer:step", *FEW]
    assert command.main([*free, "--fail-over", "30%"]) == 0


# ---- PyTorch's own calls


def test_backward_and_optimizer_of_a_pytorch_step_are_seen(monkeypatch):
    hooks = {}
    optimizer = types.ModuleType("torch.optim.optimizer")
    optimizer.register_optimizer_step_pre_hook = lambda hook: hooks.update(pre=hook)
    optimizer.register_optimizer_step_post_hook = lambda hook: hooks.update(post=hook)
    now = [0.0]

    def backward():
        now[0] += 2.0

    torch = types.SimpleNamespace(autograd=types.SimpleNamespace(backward=backward))
    monkeypatch.setitem(sys.modules, "torch.optim.optimizer", optimizer)
    profiler = xp.StepProfiler(warmup=0, clock=lambda: now[0])
    parts = TorchParts(torch, profiler)
    for _ in profiler.batches([1, 2]):
        with parts.inside():
            now[0] += 5.0
            torch.autograd.backward()
            hooks["pre"](None, (), {})
            now[0] += 1.0
            hooks["post"](None, (), {})
    torch.autograd.backward()  # outside of a step
    shares = {phase.name: phase.share for phase in profiler.report().real.phases}
    assert shares == {"data": 0, "backward": 0.25, "optimizer": 0.125, "forward, loss": 0.625, "other": 0}


def test_without_pytorch_there_are_no_parts(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert torch_parts(xp.StepProfiler()) is None


def test_a_real_pytorch_step_is_split():
    torch = pytest.importorskip("torch")
    if not hasattr(pytest.importorskip("torch.optim.optimizer"), "register_optimizer_step_pre_hook"):
        pytest.skip(f"PyTorch {torch.__version__} has no hooks of optimizers; 2.0 has")
    script = """
import torch, xtts_precompute as xp
from xtts_precompute.profile.torch_parts import torch_parts
model = torch.nn.Linear(256, 256)
optimizer = torch.optim.Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
profiler = xp.StepProfiler(warmup=1)
parts = torch_parts(profiler)
for batch in profiler.batches([torch.randn(64, 256)] * 5):
    with parts.inside():
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        scheduler.step()
print(*(phase.name for phase in profiler.report().real.phases), sep="|")
"""
    done = ran(sys.executable, "-c", script, timeout=600)
    assert done.stdout == "data|forward, loss|backward|optimizer|other\n", done.stderr


# ---- disturbance


def busy_for(shares):
    """Returns an Others whose answers are these shares, one a measurement, and then 0."""

    class Busy:
        def share(self):
            return shares.pop(0) if shares else 0.0

    return Busy


def report(real, free, wait=0.0):
    """Returns a report of steps that take `real` seconds, of which `wait` for data, and `free` without."""
    now = [0.0]
    profiler = xp.StepProfiler(warmup=0, clock=lambda: now[0])

    def batches():
        for _ in range(20):
            now[0] += wait
            yield np.zeros(4)

    for series, seconds in ((profiler.batches(batches()), real - wait), (profiler.synthetic(None, 20), free)):
        for _ in series:
            with profiler.phase("forward"):
                now[0] += seconds
    return profiler.report()


def test_short_steps_are_measured_for_two_seconds(trainer, capsys):
    (trainer / "short.py").write_text("import time\ndef step(batch):\n    time.sleep(0.002)\n")
    words = ["--loader", "own_trainer:batches", "--step", "short:step", "--json", "--no-synthetic", "--attempts", "2"]
    assert command.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert 50 < found["steps"] <= 1000 and found["warmup_steps"] == pytest.approx(found["steps"] / 4, abs=1)
    assert command.main([*words, "--num-steps", "9"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] == 9 and found["warmup_steps"] == 5


def test_two_numbers_that_do_not_agree_prove_nothing():
    odd = report(1.0, 1.0, wait=0.4)  # waits 40 %, and is no faster with data for free
    assert odd.is_contradictory and "That does not fit the wait" in str(odd)
    assert "bottleneck" not in str(odd) and "improvable" not in str(odd).partition("\n")[2].split("wait for data")[0]
    assert any("Measure again" in one for one in odd.to_json()["advice"])
    assert report(1.0, 1.2).is_contradictory  # slower with data for free
    for sound in (report(1.0, 0.6, wait=0.4), report(1.0, 0.5, wait=0.1), report(1.0, 1.0), report(1.0, 0.97, 0.05)):
        assert not sound.is_contradictory


def test_the_least_that_data_costs():
    assert report(1.0, 0.6, wait=0.4).least_cost == pytest.approx(0.4)
    assert report(1.0, 0.5, wait=0.1).least_cost == pytest.approx(0.5)
    assert report(1.0, 1.0).least_cost == pytest.approx(0.0)


def test_a_disturbed_measurement_is_taken_again(trainer, monkeypatch, capsys):
    shares = [0.5, 0.4, 0.01]
    monkeypatch.setattr(measuring, "Others", busy_for(shares))
    free = ["--loader", "own_trainer:batches", "--step", "own_trainer:step", *FEW]
    assert command.main(free) == 0
    said = capsys.readouterr()
    assert shares == [] and "other programs took 50 % of the processors: measuring again (2 of" in said.err
    assert "5 steps of 4 samples, after 1 that do not count" in said.out and "Other programs" not in said.out
    shares[:] = [0.5, 0.6, 0.7]
    assert command.main([*free, "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.err == "" and "Other programs took 70 % of the processors meanwhile" in said.out
    shares[:] = [0.5]
    assert command.main([*free, "--attempts", "1"]) == 0


def test_others_are_all_but_this_process_and_its_children(tmp_path):
    def write(busy, processes):
        (tmp_path / "stat").write_text(f"cpu {busy} 0 0 1000 50 0 0 0 0 0\n")
        for number, (parent, ticks) in processes.items():
            (tmp_path / str(number)).mkdir(exist_ok=True)
            fields = ["S", parent, *[0] * 9, ticks, 0, 0, 0, *[0] * 20]
            (tmp_path / str(number) / "stat").write_text(f"{number} (a) b) " + " ".join(map(str, fields)))

    own = os.getpid()
    write(1000, {own: (1, 10), 3_000_001: (own, 5), 3_000_002: (3_000_001, 5), 3_000_003: (1, 100)})
    others = Others(tmp_path)
    write(1000 + 100_000, {own: (1, 20), 3_000_001: (own, 25), 3_000_002: (3_000_001, 15), 3_000_003: (1, 99_000)})
    assert others.share() == 1.0  # more than the time that has passed
    write(1040, {own: (1, 20), 3_000_001: (own, 25), 3_000_002: (3_000_001, 15)})
    assert others.share() == 0.0  # all 40 are ours
    assert Others(tmp_path / "none").share() is None


# ---- two GPUs


def test_two_gpus_are_placed_as_asked():
    assert (place(None, 1, 2).data, place(0, None, 2).model) == (0, 1)
    split = place(2, 3, 4)
    assert (split.data, split.model, split.note) == (2, 3, "")
    with pytest.raises(xp.InvalidArgumentError, match="--model-gpu 2: the framework finds 2 GPUs, which are 0 to 1"):
        place(0, 2, 2)


def test_with_fewer_gpus_it_says_what_can_be_measured():
    one, none = place(0, 1, 1), place(0, 1, 0)
    assert (one.data, one.model) == (0, 0) and "share GPU 0" in one.note and "is measured" in one.note
    assert (none.data, none.model) == (None, None) and "share the CPU" in none.note and "is measured" in none.note


def test_with_own_code_gpus_are_only_watched(trainer, monkeypatch, capsys):
    assert place(1, 2, 3).only_watched().note.endswith("GPUs 1 and 2 are only watched.")
    assert place(0, 1, 1).only_watched().note.endswith("GPU 0 is only watched.")
    monkeypatch.setattr(measuring, "framework_of", lambda wanted: wanted)
    monkeypatch.setattr(measuring, "gpu_count", lambda framework: 0)
    own = ["--loader", "own_trainer:loader", "--step", "own_trainer:step", *map(str, FEW), "--no-synthetic"]
    assert command.main([*own, "--data-gpu", "0", "--model-gpu", "1"]) == 0
    said = capsys.readouterr().out
    assert "place nothing here" in said and "finds no GPU that could be watched" in said
    assert "share the CPU" not in said


@pytest.mark.parametrize(
    ("part", "words"),
    [("data", "bad low low acceptable good"), ("model", "bad low low low low")],
)
def test_tiers_are_the_users(part, words):
    assert " ".join(tier(part, percent) for percent in (29, 30, 50, 51, 60)) == words
    assert (tier("model", 81), tier("model", 85)) == ("acceptable", "good")


# ---- the sweep


def row(size, workers, *rounds):
    return sweep.Row({"batch_size": size, "num_workers": workers}, list(rounds))


def test_of_settings_that_cannot_be_told_apart_the_fewest_workers_are_recommended():
    rows = [
        row(8, 0, 9.0, 9.1, 9.2), row(8, 1, 5.0, 5.2, 5.1), row(8, 2, 4.9, 5.0, 5.1), row(8, 4, 1.0, 9.0, 2.0),
        row(16, 0, 1.0, 5.0, 3.0),
    ]  # fmt: skip
    assert [one.setting for one in sweep.recommended(rows)] == [{"batch_size": 8, "num_workers": 1}]
    table = sweep.table_of(rows, ["4, 8 workers, because there are 2 processors"])
    assert table.count("fewest workers") == 1 and table.count("not steady") == 2
    assert "No setting is steady enough" in sweep.table_of(rows[-1:], [])


def test_settings_are_those_that_the_function_takes_and_the_machine_has():
    def both(num_workers, batch_size=4, **more):
        return []

    settings, left_out = sweep.settings_of(both, 2)
    assert len(settings) == 9 and {"num_workers": 2, "batch_size": 32} in settings
    assert left_out == ["4, 8, 16 workers, because there are 2 processors"]
    assert {"num_workers": 0, "batch_size": 8} not in sweep.settings_of(both, 2, least_workers=1)[0]
    for none in (dict, [1, 2]):
        with pytest.raises(sweep.NoSweep, match="batch_size and num_workers"):
            sweep.settings_of(none, 2)


def test_the_program_sweeps_over_a_loader_of_the_users(trainer):
    done = program(trainer, "--loader", "own_trainer:sized", "--sweep", "--num-steps", 2, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = {(row["batch_size"], row.get("num_workers")): row for row in found["sweep"]}
    assert rows[32, 0]["batch_ms"]["low"] >= 32 and rows[8, 0]["batch_ms"]["low"] >= 8
    assert all(setting in [{k: row[k] for k in setting} for row in found["sweep"]] for setting in found["recommended"])
    shown = program(trainer, "--loader", "own_trainer:sized", "--sweep", "--num-steps", 1)
    assert "batch size  workers" in shown.stdout and "round 3 of 3" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loader", "own_trainer:short", "--sweep"], "too few to time: give it more clips"),
        (["--loader", "own_trainer:loader", "--sweep"], "give the function the parameters"),
        (["--loader", "own_trainer:sized", "--step", "own_trainer:step", "--sweep"], "times --loader alone"),
        (["cache", "--sweep"], "times --loader alone"),
    ],
)
def test_what_cannot_be_swept_is_told(trainer, arguments, words):
    done = program(trainer, *arguments)
    assert done.returncode == 2 and words in done.stderr, done.stderr
