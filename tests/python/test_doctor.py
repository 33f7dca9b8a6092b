"""doctor around its checks: ranking, names in commands, text, support, the trainer's Python, the order of questions."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from doctor_support import CORPUS, MACHINE, Answers, told
from xtts_advise.doctor import in_python, support
from xtts_advise.doctor.diagnose import Diagnosis
from xtts_advise.doctor.in_python import NotMeasured
from xtts_advise.doctor.named_commands import Names
from xtts_advise.doctor.text import text_of
from xtts_advise.findings import (
    Change,
    Check,
    Evidence,
    Finding,
    Gain,
    changes,
    document_of,
    issues,
    reached,
    recommended,
)
from xtts_advise.ranges import Range, middle_of
from xtts_advise.words import Failure, duration, number_of, short


def finding(status, text, *gain):
    return Finding(status, text, f"mend {text}", gain=Gain(*gain) if gain else None)


def storage(*findings):
    return Check(
        "storage", "Storage", "It is slow.", list(findings), [Evidence("read", "9 MB/s", "dd", 9e6, "bytes/s")]
    )


# Checks.


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([], "pass"),
        (["cannot_tell", "warn"], "warn"),
        (["pass", "cannot_tell"], "cannot_tell"),
        (["warn", "fail"], "fail"),
    ],
)
def test_a_warning_is_worse_than_an_unanswered_question(statuses, worst):
    assert storage(*(finding(one, one) for one in statuses)).status == worst


def test_known_gains_come_first_and_larger_before_smaller():
    check = storage(finding("fail", "unknown"), finding("warn", "small", 1.0, 1.2), finding("warn", "large", 2.0, 4.0))
    assert [one.text for one in recommended([check])] == ["large", "small", "unknown"]
    assert issues([check])[0].text == "unknown"  # what fails


def test_one_change_for_each_key():
    first, second = finding("fail", "first", 2.0, 3.0), finding("fail", "second")
    first.changes = [Change("data.num_workers", "0", "8", "a")]
    second.changes = [Change("data.num_workers", "0", "2", "b")]
    assert [one.after for one in changes([storage(second, first)])] == ["8"]


def test_json_has_the_keys_of_the_contract():
    document = document_of([storage(finding("fail", "slow", 1.5, 2.0))])
    assert list(document) == ["checks", "config_changes", "issues", "recommendations"]
    (one,) = document["checks"]
    assert (one["name"], one["status"], one["remedy"]) == ("storage", "fail", "mend slow")
    assert one["evidence"] == [{"what": "read", "value": "9 MB/s", "source": "dd", "number": 9e6, "unit": "bytes/s"}]
    assert document["recommendations"][0]["gain"]["low"] == 1.5


@pytest.mark.parametrize(("fail_on", "titles"), [("", ""), ("fail", ""), ("warn", "Storage")])
def test_fail_on_names_the_checks_that_reach_it(fail_on, titles):
    assert reached([storage(finding("warn", "slow")), Check("gpu", "GPU")], fail_on) == titles


# Words.


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.01234, "0.0123"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (123.4, "123"),
        (12345.6, "12,346"),
        (-5, "-5.00"),
    ],
)
def test_short_numbers(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "under 1 s"),
        (5.55, "5.5 s"),
        (42.4, "42 s"),
        (185, "3 min 5 s"),
        (7800, "2 h 10 min"),
        (356400, "4 d 3 h"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_numbers_of_options():
    assert number_of("--step-ms", "", 1, 10) is None
    assert number_of("--step-ms", "2.5", 1, 10) == 2.5
    for text in ("x", "nan", "0.5", "11"):
        with pytest.raises(Failure, match="--step-ms is a number from 1 to 10, not"):
            number_of("--step-ms", text, 1, 10)
    with pytest.raises(Failure, match="whole number"):
        number_of("--workers", "2.5", 0, 64, is_whole=True)


# Commands.


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Build with `xtts-precompute DATA CACHE`.", "Build with `xtts-precompute 'my data' ./cache --config c.yaml`."),
        (
            "`xtts-precompute build DATA CACHE --dry-run` lists DATA.",
            "`xtts-precompute build 'my data' ./cache --config c.yaml --dry-run` lists DATA.",
        ),
        ("`xtts-precompute DATA CACHE --recipe vits`", "`xtts-precompute 'my data' ./cache --recipe vits`"),
        ("measure: `xtts-precompute bench CACHE`.", "measure: `xtts-precompute bench ./cache`."),
        ("`DATA` is a word, and an odd ` DATA", "`DATA` is a word, and an odd ` DATA"),
        (
            "`xtts-precompute profile --loader M:N --step M:N`",
            "`xtts-precompute profile --loader data:make --step M:N`",
        ),
    ],
)
def test_commands_have_the_names_that_were_given(text, told):
    assert Names("my data", "./cache", "--config c.yaml", "data:make").in_text(text) == told
    assert Names().in_text(text) == text


# The text.


def test_a_command_is_never_broken():
    check = storage(finding("warn", "slow"))
    (found,) = check.findings
    found.remedy = "Build it with `xtts-precompute ./a/long/path ./another/long/path --recipe vits`, then train."
    lines = text_of(Diagnosis([check], ["2 processors"]), "", 40).split("\n")
    assert "  `xtts-precompute ./a/long/path ./another/long/path --recipe vits`," in lines
    assert "WARN    Storage" in lines
    assert "          read: 9 MB/s (dd)" in lines


def test_titles_have_the_colour_of_their_status_where_a_terminal_shows_it():
    diagnosis = Diagnosis([storage(finding("fail", "slow"))], [])
    assert "\x1b[1;31mFAIL    Storage\x1b[0m\n" in text_of(diagnosis, "", 80, is_coloured=True)
    assert "\x1b" not in text_of(diagnosis, "", 80)


def test_nothing_found_and_nothing_judged_are_told_apart():
    assert "Nothing was found that holds training back." in text_of(Diagnosis([storage()], []), "", 80)
    unknown = Check("gpu", "GPU", "No driver.", is_judged=False)
    assert "Nothing could be judged." in text_of(Diagnosis([unknown], []), "", 80)


def test_the_text_steers_no_terminal():
    assert "\x1b" not in text_of(Diagnosis([storage(finding("fail", "\x1b[31m"))], ["\x1b[2J"]), "\x1b", 80)


# Support.


@pytest.mark.parametrize(
    "line",
    [
        "wandb_api_key: abc123", "  hf_token: 'abc123'", "PASSWORD=abc123", '"secret": "abc123"',
        "  - access_key: abc123", "aws_secret_access_key = abc123",
    ],
)  # fmt: skip
def test_values_of_secret_keys_are_removed(line):
    text = support.without_secrets(line)
    assert "abc123" not in text and "[removed]" in text


def test_what_helps_is_kept():
    config = "data:\n  batch_size: 32   # clips\n  path: /data/corpus\n  max_text_tokens: 200\n"
    assert support.without_secrets(config) == config


def test_users_of_addresses_and_random_words_are_removed():
    assert support.without_secrets("url: https://me:pw@host/x") == "url: https://[removed]@host/x\n"
    assert "[removed]" in support.without_secrets("x: hf_AbCdEf0123456789AbCdEf0123456789")
    assert support.without_secrets("a" * 100_000) == "[removed]\n"


def test_support_shows_the_trainers_own_keys_alone(tmp_path):
    """Whatever the form of a secret."""
    config = tmp_path / "config.yaml"
    config.write_text(
        "data:\n  batch_size: 32\n  api_key: SEKRIT1\n  dataset_path: https://me:SEKRIT2@host/x\n"
        "training:\n  stop_token_positive_weight: 5.0\n  password:\n    - SEKRIT3\n"
        "  passphrase: |\n    SEKRIT4\n  # note: SEKRIT5\nheaders: {Authorization: SEKRIT6}\n"
    )
    told = support.support_text(Diagnosis([], []), "1.0\n", "doctor", str(config), "")
    assert "data.batch_size: 32\n" in told and "training.stop_token_positive_weight: 5.0\n" in told
    assert "data.api_key: (not shown)\n" in told
    assert "SEKRIT" not in told
    config.write_text("a: [SEKRIT")
    assert "SEKRIT" not in support.support_text(Diagnosis([], []), "1.0\n", "doctor", str(config), "")


def test_support_hides_the_home_folder():
    told = support.support_text(
        Diagnosis([], ["2 processors"]), "1.0\n", "doctor --data /home/anna/c", "", "/home/anna"
    )
    assert "doctor --data ~/c" in told and "anna" not in told and "2 processors" in told


# The trainer's Python.


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Gives a function: runs a module of this source in a Python."""
    (tmp_path / "measure").mkdir()
    (tmp_path / "doctor").mkdir()
    monkeypatch.setattr(in_python, "__file__", str(tmp_path / "doctor/in_python.py"))

    def run(source, *words, **more):
        (tmp_path / "measure/one.py").write_text(source)
        return in_python.find(sys.executable, str(tmp_path)).run("one", *words, **more)

    return run


def test_the_module_gets_its_words_and_its_request(ask):
    source = "import json, sys; print(json.dumps([sys.argv[1:], json.load(sys.stdin), __package__]))"
    assert ask(source, "-x", "a b", request={"é": 1}) == [["-x", "a b"], {"é": 1}, "xtts_measure"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import time; time.sleep(60)", "took longer than 1 s"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9"),
        ("raise OSError('no luck')", "failed: OSError: no luck"),
        ("import sys; sys.exit(3)", "failed: it says nothing"),
        ("print('[1, 2')", "printed something else than JSON"),
        ("print('[' * 100000)", "printed something else than JSON"),
        ("while True: print('x' * 1000000)", "printed without end"),
    ],
)
def test_a_module_that_fails_says_why(ask, source, reason):
    with pytest.raises(NotMeasured, match=f"the check 'one' in Python {reason}"):
        ask(source, limit_s=10 if "without end" in reason else 1)


def test_what_a_module_has_started_ends_with_it(ask, tmp_path):
    started = tmp_path / "started"
    source = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(started)!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    with pytest.raises(NotMeasured):
        ask(source, limit_s=2)
    with pytest.raises(ProcessLookupError):
        for _ in range(100):  # until it is reaped
            os.kill(int(started.read_text()), 0)
            time.sleep(0.05)


def test_a_file_of_the_current_folder_takes_no_modules_place(ask, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    assert ask("import json; print(json.dumps(1))") == 1


def test_a_python_that_is_none_is_told(tmp_path, monkeypatch):
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho 3.7.1; exit 1\n")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'no libpython' >&2; exit 127\n")
    for program in (old, broken):
        program.chmod(0o755)
    for python, why in (
        (old, "is Python 3.7.1, and 3.8 is needed"),
        (broken, "no libpython"),
        ("/no/such", "cannot be"),
    ):
        with pytest.raises(Failure, match=why):
            in_python.find(str(python), "")
    monkeypatch.setenv("XTTS_PYTHON", str(old))
    with pytest.raises(Failure, match=r"3\.7\.1"):
        in_python.find("", "")
    monkeypatch.delenv("XTTS_PYTHON")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Failure, match="there is no Python on PATH"):
        in_python.find("", "")


def test_a_scratch_folder_is_locked_and_goes():
    with in_python.scratch_folder() as path:
        taken = subprocess.run(["flock", "--nonblock", path, "true"], check=False)
        assert taken.returncode == 1
    assert not os.path.exists(path)


# Questions and answers.


def test_each_name_brings_its_checks():
    assert list(told(Answers())) == ["will_it_help", "gpu", "clock", "memory"]
    assert list(told(Answers(), data="d")) == [
        "will_it_help",
        "gpu",
        "formats",
        "clock",
        "memory",
        "storage",
        "real_run",
    ]
    assert list(told(Answers(), data="d", cache="c"))[-2:] == ["storage_of_cache", "real_run"]
    assert told(Answers())["will_it_help"].status == "cannot_tell"


def test_the_corpus_is_measured_as_the_configuration_says(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("data: {}")
    keys = [{"key": "data.batch_size", "value": "16"}, {"key": "data.num_workers", "value": "3"}]
    program = Answers(config={"recipe": {"config": keys}})
    told(program, data="d", config=str(config))
    assert program.asked[-1] == ("corpus", "d", "--batch-size=16", "--workers=3", f"--config={config}")
    told(program, data="d", config=str(config), batch_size=4, worker_count=0, cache="c")
    assert program.asked[-2] == (
        "corpus", "d", "--batch-size=4", "--workers=1", f"--config={config}", "--no-sample-cache",
    )  # fmt: skip
    assert program.asked[-1] == ("cache", "c", "--batch-size=4")
    refused = Answers(config={"recipe": None, "refused": "no section"})
    told(refused, data="d", config=str(config))
    assert refused.asked[-1] == ("corpus", "d", "--batch-size=32", "--workers=8")
    assert refused.warned == ["the corpus is measured without the configuration: no section"]


def test_what_makes_a_prediction_doubtful_is_told():
    other = Answers(corpus=CORPUS | {"clip_count": 3, "recipe": CORPUS["recipe"] | {"fingerprint": "g"}})
    check = told(other, data="d", cache="c", step_ms=50.0)["will_it_help"]
    assert [one.text.partition(" than ")[0] for one in check.findings[-2:]] == [
        "A batch of 32 is more", "The cache has other features",
    ]  # fmt: skip


def test_a_training_that_hardly_waits_is_advised_no_cache(tmp_path):
    """Its trace says how many workers it has, and what they take from the step's processors."""
    code, trace = tmp_path / "code", tmp_path / "trace.json"
    code.mkdir()
    (code / "data.py").write_text(
        "import librosa\nfrom torch.utils.data import Dataset\n\n\nclass Clips(Dataset):\n"
        "    def __getitem__(self, i):\n        return librosa.load(self.paths[i])\n"
    )

    def checks(wait_ms):
        numbers = {"step_ms": 1000.0, "wait_ms": wait_ms, "workers_cpu_ms": 4000.0, "workers": 3}
        trace.write_text(json.dumps({"findings": [], "notes": [], **numbers}))
        program = Answers()
        found = told(program, data="d", trace=str(trace), code=str(code))
        assert program.asked[-1] == ("corpus", "d", "--batch-size=32", "--workers=3")
        (pattern,) = found["code"].findings
        return found["will_it_help"], pattern

    fed, pattern = checks(10.0)
    assert fed.summary.startswith("No:")
    assert any(one.text.startswith("The workers of your training compute 4,000 ms for each") for one in fed.findings)
    assert (pattern.status, pattern.remedy) == ("pass", "")
    starved, pattern = checks(600.0)
    assert starved.summary.startswith("Yes:")
    assert pattern.status == "fail"
    assert "DATA CACHE" in pattern.remedy


def test_faults_of_the_plan_count():
    faulty = Answers(corpus=CORPUS | {"faults": {"count": 7, "allowed": 5, "first": "a.wav: it is empty"}})
    check = told(faulty, data="d")["formats"]
    assert check.status == "fail"
    assert check.summary.startswith("A build would stop: 7 clips cannot be used, and 5 may be. One of them is a.wav")


def test_a_corpus_that_computes_nothing_is_no_answer():
    silent = Answers(
        corpus=CORPUS | {"rates": {"way": "x", "worker_count": 8, "one": [0.0], "all": [0.0]}, "cache": None}
    )
    assert (
        told(silent, data="d")["will_it_help"].summary
        == "No clip of the sample could be computed, so there is no rate."
    )


@pytest.mark.parametrize("name", ["config", "code", "profile", "trace"])
def test_what_was_named_and_is_not_there_is_a_mistake(name):
    with pytest.raises(Failure, match="examining /no/such: No such file"):
        told(Answers(), **{name: "/no/such"})


def test_the_real_modules_answer(tmp_path):
    (tmp_path / "train.py").write_text("for batch in data:\n    loss.item()\n")
    check = told(Answers(), code=str(tmp_path))["code"]
    assert "1 file read" in check.evidence[0].value


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_and_waits_for_it(tmp_path, number):
    """What the program has made goes before the doctor ends."""
    program = tmp_path / "program"
    program.write_text(
        f"#!{sys.executable}\nimport os, signal, sys, time\n"
        f"if 'machine' in sys.argv: sys.exit(print({json.dumps(MACHINE)!r}))\n"
        "def end(*_):\n    time.sleep(0.3); open('ended', 'w'); sys.exit(130)\n"
        "signal.signal(signal.SIGTERM, end); signal.signal(signal.SIGINT, end)\n"
        "open('begun', 'w'); time.sleep(60)\n"
    )
    program.chmod(0o755)
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(in_python.__file__))))
    doctor = subprocess.Popen(
        [sys.executable, f"{source}/xtts_advise", "--program", str(program), "doctor", "--data=d"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        # A shell's job in the background ignores SIGINT, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.kill(doctor.pid, number)
    assert doctor.wait(30) == 130
    assert (tmp_path / "ended").exists()


def test_of_many_rounds_the_middle_third_counts():
    assert middle_of([5.0, 1.0, 2.0, 3.0, 90.0], 0.0) == Range(2.0, 5.0)
    assert middle_of([7.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0) == Range(3.0, 5.0)
    assert middle_of([4.0, 2.0], 0.5) == Range(1.0, 6.0)
