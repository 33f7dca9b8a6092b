"""xtts_precompute.ray without Ray: which attempt begins when, and what OUT holds meanwhile.

Attempts are pretended; the clock is the test's.
"""

import contextlib
import json
import os
import pathlib
import random
import shutil
import sys

import pytest
import xtts_precompute as xp
from support import PROGRAM, make_corpus, ran, tell
from xtts_precompute.ray import attempt as attempts
from xtts_precompute.ray import command
from xtts_precompute.ray import schedule as schedules
from xtts_precompute.ray.attempt import BUSY, Outcome, build_part, collect_local, local_scratch
from xtts_precompute.ray.columns import Column, ColumnMaker
from xtts_precompute.ray.folder import Folder, Progress
from xtts_precompute.ray.schedule import Pace, Schedule, State
from xtts_precompute.ray.totals import Totals
from xtts_precompute.ray.view import View, document, summary

OPTIONS = ["--layout", "packed", "--set", "max_frames=52428", "--quiet"]  # shards of 8


class Pretended:
    """Nodes on which attempts take as long as the test says. It is the clock, too."""

    def __init__(self, monkeypatch, folder, slots, takes, outcomes=lambda part, number: Outcome(0)):
        self.now, self.slots, self.takes, self.outcomes = 0.0, slots, takes, outcomes
        self.folder = folder
        self.live, self.tried, self.most = {}, {}, 0
        self.published, self.doubled, self.cancelled = [], [], []
        monkeypatch.setattr(schedules.time, "monotonic", lambda: self.now)

    def slot_count(self):
        return self.slots

    def room(self):
        return 2 * self.slots + 1 - len(self.live)

    def start(self, part, attempt, token):
        if any(one[:2] == (part, attempt) for one in self.live.values()):
            self.doubled.append((part, attempt))
        self.tried[part] = number = self.tried.get(part, 0) + 1
        self.live[token] = (part, attempt, number, None)
        self.most = max(self.most, len(self.live))
        return token

    def cancel(self, known_by):
        if known_by not in self.live:
            return  # both have ended at once; to Ray, too, that is nothing
        self.cancelled.append(self.live[known_by][:2])
        part, attempt, number, _ = self.live[known_by]
        self.live[known_by] = (part, attempt, number, self.now)

    def ended(self, timeout_s):
        self.now += timeout_s
        found = []
        for token, (part, attempt, number, ends) in list(self.live.items())[: self.slots]:
            if ends is None:
                ends = self.now - timeout_s + self.takes(part, number)
                self.live[token] = (part, attempt, number, ends)
                with self.folder.claim(part, attempt, token):
                    pass
            if ends <= self.now:
                del self.live[token]
                outcome = self.outcomes(part, number)
                if outcome.code == 0 and (part, attempt) not in self.cancelled:
                    self.published.append(part)
                found.append((token, outcome))
        return found


@pytest.fixture
def folder(tmp_path):
    folder = Folder(str(tmp_path / "out"))
    folder.begin()
    return folder


def run(folder, nodes, part_count, **options):
    state, done = State(part_count), []
    schedule = Schedule(folder, nodes, state, Pace(**options), done.append, runs_twice=True)
    schedule.run(range(1, part_count + 1), lambda: None)
    assert not nodes.doubled, "two attempts shared a scratch"
    assert len(done) == len(set(done)), "a part was done twice"
    assert not state.runs
    return state, done


def test_parts_that_fail_come_again_until_they_are_done(folder, monkeypatch):
    chance = random.Random(5)
    codes = {part: [chance.choice([-9, 143, 6, BUSY]) for _ in range(chance.randrange(3))] for part in range(1, 201)}

    def outcome(part, number):
        return Outcome(codes[part][number - 1] if number <= len(codes[part]) else 0)

    nodes = Pretended(monkeypatch, folder, 4, lambda part, number: 3.0, outcome)
    state, done = run(folder, nodes, 200)
    assert sorted(done) == sorted(nodes.published) == list(range(1, 201))
    assert state.repeated_count == sum(code != BUSY for all_of in codes.values() for code in all_of)
    assert nodes.most <= 9 and not state.failed
    assert os.listdir(folder.path / "scratch") == []


def test_a_part_that_always_fails_does_not_hold_the_others(folder, monkeypatch):
    codes = {3: -11, 5: 6}
    nodes = Pretended(
        monkeypatch, folder, 2, lambda part, number: 1.0, lambda part, number: Outcome(codes.get(part, 0), "why")
    )
    state, done = run(folder, nodes, 8, deaths_max=4)
    assert sorted(done) == [1, 2, 4, 6, 7, 8]
    assert state.failed == {3: Outcome(-11, "why"), 5: Outcome(6, "why")}
    assert (nodes.tried[3], nodes.tried[5]) == (4, 3)


def test_a_late_part_runs_twice_and_the_first_to_end_wins(folder, monkeypatch):
    nodes = Pretended(monkeypatch, folder, 4, lambda part, number: 1e6 if part == 2 and number == 1 else 20.0)
    state, done = run(folder, nodes, 9)
    assert sorted(done) == list(range(1, 10))
    assert (state.twice_count, nodes.tried[2], nodes.cancelled) == (1, 2, [(2, 1)])
    assert nodes.now < 120
    assert os.listdir(folder.path / "scratch") == [], "the loser's files are collected"


@pytest.mark.parametrize("busy_s", [40.0, 80.0, 98.0, 99.0, 100.0])
def test_a_second_attempt_that_finds_its_place_taken_does_not_end_the_part_twice(folder, monkeypatch, busy_s):
    def takes(part, number):
        if part != 2:
            return 20.0
        return 100.0 if number == 1 else max(busy_s - nodes.now, 1.0)

    def outcome(part, number):
        return Outcome(BUSY if (part, number) == (2, 2) else 0)

    nodes = Pretended(monkeypatch, folder, 4, takes, outcome)
    state, done = run(folder, nodes, 4)
    assert sorted(done) == [1, 2, 3, 4] and state.done_count == 4
    assert not state.failed and state.twice_count <= 1
    assert os.listdir(folder.path / "scratch") == []


def test_no_part_runs_twice_while_others_wait_for_nodes(folder, monkeypatch):
    nodes = Pretended(monkeypatch, folder, 2, lambda part, number: 200.0 if part == 1 else 40.0)
    state, _ = run(folder, nodes, 8)
    assert state.twice_count == 0


def test_a_node_that_hangs_does_not_hold_the_end(folder, monkeypatch):
    nodes = Pretended(monkeypatch, folder, 2, lambda part, number: 1e6 if part == 2 and number == 1 else 20.0)
    nodes.cancel = lambda known_by: nodes.cancelled.append(nodes.live[known_by][:2])
    state, done = State(3), []
    Schedule(folder, nodes, state, Pace(), done.append, runs_twice=True).run(range(1, 4), lambda: None)
    assert sorted(done) == [1, 2, 3] and nodes.now < 200


def test_thousands_of_parts_leave_the_driver_small(folder, monkeypatch):
    nodes = Pretended(monkeypatch, folder, 50, lambda part, number: 1.0)
    nodes.folder.claim = nodes.folder.progress = None
    nodes.ended = lambda timeout_s: [(token, Outcome(0)) for token in list(nodes.live)[:50] if nodes.live.pop(token)]
    folder.progress, folder.collect = (lambda *_: None), (lambda _: None)
    schedule = Schedule(folder, nodes, State(20_000), Pace(), lambda _: None, runs_twice=True)
    schedule.run(range(1, 20_001), lambda: None)
    assert nodes.most <= 101
    held = [value for value in vars(schedule).values() if hasattr(value, "__len__")]
    assert max(map(len, held)) <= 1000


# OUT


def test_only_one_attempt_publishes(folder, tmp_path):
    of_all = {"recipe": {}, "numerics": {}}
    folder.plan.mkdir()
    (folder.plan / "plan.json").write_text(json.dumps({"plan": "clips", "parts": [{}, {}], **of_all}))
    for name in "ab":
        (tmp_path / name).mkdir()
        manifest = {"partition": {"index": 1, "count": 2, "plan": "clips"}, "name": name, **of_all}
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest))
    assert folder.publish(1, tmp_path / "a")
    assert not folder.publish(1, tmp_path / "b")
    assert json.loads((folder.part(1) / "manifest.json").read_text())["name"] == "a" and (tmp_path / "b").exists()
    with pytest.raises(OSError, match="No such file"):
        folder.publish(2, tmp_path / "missing")


def test_a_claim_keeps_others_out_until_it_ends(folder):
    with folder.claim(1, 1, "# one") as log:
        assert log is not None
        with folder.claim(1, 1, "# two") as other:
            assert other is None
        with folder.claim(1, 2, "# three") as second:
            assert second is not None
        assert folder.progress(1, 1, "# one") == Progress()
        assert folder.progress(1, 1, "# two") is None
    with folder.claim(1, 1, "# four") as log:
        assert log is not None


def test_what_is_left_on_local_disks_is_collected_and_nothing_else(tmp_path):
    local = str(tmp_path / "local")
    outs = [str(tmp_path / name) for name in ("out", "data/out", "data-out", "a/b-c", "a-b/c", "o[ut]")]
    names = ["0001.1-0a", "0001.2-0a", "12345.1-0a", "12345.2-0b"]
    of = {out: [local_scratch(local, out, name) for name in names] for out in outs}
    others = [tmp_path / "local" / name for name in ("0001.1-mine", "notes", of[outs[0]][0].name + ".old")]
    for path in [*others, *(path for paths in of.values() for path in paths)]:
        path.mkdir(parents=True)
    for out in outs:
        Folder(out).begin()
        log = Folder(out).path / "scratch/0001.2.log"
        log.write_text("why it failed")
        with Folder(out).claim(1, 1, "# at work"):
            collect_local(out, local)
        assert [path.exists() for path in of[out]] == [True, False, False, False]
        assert log.read_text() == "why it failed"
        collect_local(out, local)
        assert not of[out][0].exists()
        assert all(path.exists() for later in outs[outs.index(out) + 1 :] for path in of[later])
    assert all(path.exists() for path in others)


def test_a_node_that_does_not_see_out_says_so(folder):
    elsewhere = Folder(str(folder.path / "elsewhere"))
    with pytest.raises(xp.NotFoundError, match="a folder that all nodes share"), elsewhere.claim(1, 1, "# one"):
        pass


def test_the_line_of_progress_is_the_builders(folder, corpus, tmp_path):
    """The builder writes a line each ten seconds; the log has one of its form."""
    with folder.claim(1, 1, "# one") as log:
        log.write("warning: x\n12%, 1,234/10,000, ETA 3 min 2 s, 120 clips/s, 3 rejects, 1,240x real time, 12 MB/s\n")
        log.flush()
        assert folder.progress(1, 1, "# one") == Progress(1234, 10000, 1240.0)
        log.write("13%, 1,300/10,000, 0.00125x real time\n")
        log.flush()
        assert folder.progress(1, 1, "# one") == Progress(1300, 10000, 0.00125)


# Real builds, without a cluster


@pytest.fixture(scope="module")
def parts_corpus(tmp_path_factory):
    data = tmp_path_factory.mktemp("parts") / "data"
    make_corpus(data, 37)
    (data / "clip-003.wav").write_text("no sound")
    return data


@pytest.fixture
def attempt_at(folder, parts_corpus, monkeypatch):
    monkeypatch.setattr(attempts, "program", lambda: PROGRAM)
    tell("plan", parts_corpus, folder.plan, "--parts", 3, *OPTIONS)
    assert folder.part_count() == 3

    def build_one(part, attempt=1, local=None):
        return build_part(str(folder.path), part, attempt, f"# {part}", 1, None, [], local)

    return build_one


@pytest.mark.parametrize("has_local_scratch", [False, True])
def test_attempts_make_the_parts_of_one_build(attempt_at, folder, parts_corpus, tmp_path, has_local_scratch):
    local = str(tmp_path / "local") if has_local_scratch else None
    totals = Totals()
    folder.begin()
    for part in (1, 2, 3):
        assert attempt_at(part, local=local) == Outcome(0)
        totals.add(part, folder.part(part))
    assert attempt_at(2) == Outcome(0), "a published part is done"
    tell("merge", tmp_path / "merged", *(folder.part(part) for part in (1, 2, 3)))
    tell("build", parts_corpus, tmp_path / "whole", *OPTIONS)
    assert (tmp_path / "merged/manifest.json").read_bytes() == (tmp_path / "whole/manifest.json").read_bytes()
    assert (totals.clips, totals.records) == (37, 36)
    assert list(totals.examples.values()) == ["clip-003.wav"]
    assert has_local_scratch is False or os.listdir(local) == []
    folder.end()
    assert sorted(os.listdir(folder.path)) == ["parts", "plan"]
    state = State(3, done_count=3)
    text = summary("OUT", state, totals, 12.0)
    assert "3 of 3 parts" in text and "1  input  decode  decode_failed: clip-003.wav" in text
    assert document("OUT", state, totals, 12.0)["rejects"]["count"] == 1
    assert "3/3 parts done, 0 running, 0 failed, 37 clips" in View(state, totals, True).line()


def test_a_part_from_a_local_disk_is_on_the_disk_of_out_before_the_local_one_goes(
    attempt_at, folder, tmp_path, monkeypatch
):
    folder.begin()
    local = tmp_path / "local"
    events = []
    fsync, rename, rmtree = os.fsync, pathlib.Path.rename, shutil.rmtree

    def synced(descriptor):
        events.append(("sync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def renamed(path, target):
        events.append(("rename", str(target)))
        return rename(path, target)

    def removed(path):
        events.append(("remove", str(path)))
        rmtree(path)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(pathlib.Path, "rename", renamed)
    monkeypatch.setattr(shutil, "rmtree", removed)
    assert attempt_at(1, local=str(local)) == Outcome(0)
    names = ["", *(str(path.relative_to(folder.part(1))) for path in folder.part(1).rglob("*"))]
    copy = folder.path / "scratch/0001.1.copy"
    published = events.index(("rename", str(folder.part(1))))
    assert {path for kind, path in events[:published] if kind == "sync"} == {str(copy / name) for name in names}
    assert events[published + 1 :] == [
        ("sync", str(folder.path / "parts")),
        ("remove", str(local_scratch(str(local), str(folder.path), folder.scratch(1, 1).name))),
    ]


def test_half_a_copy_is_not_taken_for_a_part(attempt_at, folder, tmp_path, monkeypatch):
    folder.begin()

    def half(source, target):
        target.mkdir()
        shutil.copyfile(source / "manifest.json", target / "manifest.json")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "copytree", half)
        attempt_at(1, local=str(tmp_path / "local"))
    assert attempt_at(1) == Outcome(0)
    tell("verify", folder.part(1))


def test_a_part_without_clips_gets_the_column_of_the_others(parts_corpus, tmp_path):
    (tmp_path / "my_columns.py").write_text("def length(clip): return [[clip.frames]] * clip.frames\n")
    out = Folder(str(tmp_path / "out"))
    out.begin()
    tell("plan", parts_corpus, out.plan, "--parts", 9, *OPTIONS)
    totals = Totals()
    for part in range(1, 10):
        tell("build", "--part", out.planned(part), out.part(part), "--quiet")
        totals.add(part, out.part(part))
    filled = sorted({*range(1, 10)} - {*totals.empty_parts})
    column = Column("length", "my_columns", "length", "frames", None, "1", None)
    assert totals.empty_parts
    for part in [*filled, *totals.empty_parts]:
        like = str(out.part(filled[0])) if part in totals.empty_parts else None
        maker = ColumnMaker(str(out.path), column._replace(like=like), [str(tmp_path)])
        assert maker.add(part, 1, f"# {part}") == Outcome(0)
        assert out.is_published(part), "it is the plan's still"
    tell("set", tmp_path / "set", *(out.part(part) for part in range(1, 10)))
    together = xp.open(tmp_path / "set")
    assert [together[id]["length"][0, 0] for id in together.ids] == [len(together[id].mel) for id in together.ids]


def test_an_attempt_beside_another_has_its_own_scratch(attempt_at, folder):
    with folder.claim(1, 1, "# alive"):
        assert attempt_at(1).code == BUSY
        assert attempt_at(1, attempt=2) == Outcome(0)
    assert folder.is_published(1)


def test_what_a_builder_says_is_told(attempt_at, folder):
    (folder.plan / "0001").write_bytes(b"no part")
    outcome = attempt_at(1)
    assert outcome.code == 2 and "copy both from one plan" in outcome.message
    assert not folder.is_published(1)


class Here:
    """Builds in this process, instead of a cluster."""

    def __init__(self, _ray, out, cpus, _gpus, memory, limits, local):
        self.of_all = (out, cpus, memory, limits, local)
        self.outcomes = []

    def slot_count(self):
        return 1

    def room(self):
        return 1 - len(self.outcomes)

    def start(self, part, attempt, token):
        out, *others = self.of_all
        self.outcomes.append((token, build_part(out, part, attempt, token, *others)))
        return token

    def ended(self, _timeout_s):
        found, self.outcomes = self.outcomes, []
        return found

    def collect_local(self):
        out, *_, local = self.of_all
        if local:
            collect_local(out, local)


@pytest.fixture
def build_here(parts_corpus, tmp_path, monkeypatch):
    for module in (attempts, command):
        monkeypatch.setattr(module, "program", lambda: PROGRAM)
    monkeypatch.setattr(command, "Builds", Here)
    monkeypatch.setattr(command, "connect", contextlib.nullcontext)
    return lambda *words: command.main(["build", str(parts_corpus), str(tmp_path / "out"), "--quiet", *words])


def test_limits_reach_the_parts_and_the_set(build_here, parts_corpus, tmp_path):
    wrong = [parts_corpus / f"clip-0{number}.wav" for number in (10, 20, 30)]
    sounds = [path.read_bytes() for path in wrong]
    for path in wrong:
        path.write_text("no sound")
    try:
        assert build_here("--parts", "3", *OPTIONS, "--max-rejects", "40%") == 0
        shutil.rmtree(tmp_path / "out")
        assert build_here("--parts", "3", *OPTIONS) == 6
        assert build_here("--max-rejects", "40%") == 0, "later limits hold for the parts that are missing"
    finally:
        for path, sound in zip(wrong, sounds, strict=True):
            path.write_bytes(sound)


def test_a_set_has_the_limits_of_its_plan(build_here, tmp_path, monkeypatch):
    assert build_here("--parts", "3", *OPTIONS) == 0
    plan = Folder(str(tmp_path / "out")).known_plan()
    monkeypatch.setattr(Folder, "known_plan", lambda _: {**plan, "limits": {"max_rejects": "0", "max_dropped": "1%"}})
    asked = []
    monkeypatch.setattr(command, "_ran", lambda words, *_: asked.append(words) or 0)
    assert build_here() == 0 and build_here("--max-rejects", "7%") == 0
    assert [words[-3:-1] for words in asked] == [
        ["--max-rejects=0", "--max-dropped=1%"],
        ["--max-rejects=7%", "--max-dropped=1%"],
    ]


@pytest.mark.parametrize("local", [False, True])
def test_a_new_plan_builds_what_does_not_fit_anew(build_here, parts_corpus, tmp_path, capfd, local):
    local = ["--scratch", str(tmp_path / "local")] if local else []
    out, again = Folder(str(tmp_path / "out")), ["--parts", "2", *OPTIONS, "--set", "n_mels=40"]
    assert build_here("--parts", "3", *OPTIONS, *local) == 0
    out.begin()
    for half_built in (
        out.scratch(1, 1),
        local_scratch(str(tmp_path / "local"), str(out.path), out.scratch(1, 1).name),
    ):
        shutil.copytree(out.part(1), half_built)

    assert build_here(*again, *local) == 2 and "holds another plan" in capfd.readouterr().err
    shutil.rmtree(out.plan)
    assert build_here(*again, *local) == 2
    assert "holds 3 parts of another plan, 0001 among them" in capfd.readouterr().err
    assert len(os.listdir(out.path / "parts")) == 3, "nothing is removed that was not asked for"

    assert build_here(*again, *local, "--overwrite") == 0
    assert sorted(os.listdir(out.path)) == ["parts", "plan", "set.json"]
    assert sorted(os.listdir(out.path / "parts")) == ["0001", "0002"]
    assert not local or os.listdir(tmp_path / "local") == []
    tell("build", parts_corpus, tmp_path / "whole", *again[2:])
    tell("merge", tmp_path / "merged", out.part(1), out.part(2), "--quiet")
    assert (tmp_path / "merged/manifest.json").read_bytes() == (tmp_path / "whole/manifest.json").read_bytes()

    built = [out.part(number).stat().st_ino for number in (1, 2)]
    assert build_here(*again, *local, "--overwrite") == 0
    assert built == [out.part(number).stat().st_ino for number in (1, 2)], "parts that fit stay"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["build", "--recipe", "x", "DATA", "OUT"], 2, "DATA and OUT come first"),
        (["build", "DATA", "OUT", "--parts", "none"], 2, "is a number from 1"),
        (["build", "DATA", "OUT", "--add-column", "pitch"], 2, "NAME=MODULE:FUNCTION"),
        (["build", "DATA", "OUT"], 2, "there is no DATA"),
    ],
)
def test_wrong_calls_are_told_in_a_line(words, code, text, tmp_path):
    done = ran(sys.executable, "-m", "xtts_precompute.ray", *words, cwd=tmp_path)
    assert done.returncode == code and text in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_missing_ray_is_told(parts_corpus, tmp_path):
    hidden = "import sys; sys.modules['ray'] = None; from xtts_precompute.ray.command import main; sys.exit(main())"
    done = ran(sys.executable, "-c", hidden, "build", parts_corpus, tmp_path / "out", *OPTIONS, "--max-rejects=5%")
    assert done.returncode == 2 and "pip install 'xtts-precompute[ray]'" in done.stderr, done.stderr
    assert os.listdir(tmp_path / "out/parts") == []
