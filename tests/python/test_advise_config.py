"""config check: a planted fault for each rule, what the trainer does not take, and the mending of a file."""

import argparse
import contextlib
import errno
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import config_texts
import pytest
from support import ran
from xtts_advise.config import command, gpus, trainer
from xtts_advise.config.check import check, judge_rules
from xtts_advise.config.edit import set_value
from xtts_advise.config.facts import Facts, Situation
from xtts_advise.config.file import Files, replace
from xtts_advise.config.fix import mend
from xtts_advise.config.tree import read_text
from xtts_advise.probe import Program
from xtts_advise.words import Failure

ITS = trainer.load()
RULES = {rule["name"]: rule for rule in ITS.rules}
SEED = int(os.environ.get("XTTS_SEED", "0")) or int.from_bytes(os.urandom(4), "little")

# The config of a careful user. No rule warns of it.
GOOD = """\
model:
  sample_rate: 22050
training:
  learning_rate: 1.0e-4
  gradient_accumulation_steps: 2
  enable_memory_cleanup: false
  spectrogram_log_interval: 500
data:
  batch_size: 32
  num_workers: 16
  max_text_tokens: 200
  max_text_length: 200
  max_mel_frames: 800
  pad_to_fixed_length: true
"""

# Each rule: values over GOOD that break it.
PLANTED = {
    "graph-mode": {"training.enable_graph_mode": "false"},
    "graph-accumulation": {"training.gradient_accumulation_steps": "1"},
    "eager-debug": {"training.enable_eager_debug": "yes"},
    "static-shapes": {"data.pad_to_fixed_length": "off"},
    "no-text-limit": {"data.max_text_length": "0"},
    "no-mel-limit": {"data.max_mel_frames": "0"},
    "long-text": {"data.max_text_tokens": "1024"},
    "text-cut": {"model.max_attention_sequence_length": "150"},
    "xla-off": {"training.enable_xla_compilation": "false"},
    "xla-differs": {"data.enable_xla": "false"},
    "mixed-precision": {"data.mixed_precision": "false"},
    "accumulation-rest": {"training.gradient_accumulation_steps": "3"},
    "memory-cleanup": {"training.enable_memory_cleanup": "true"},
    "spectrogram-log": {"training.spectrogram_log_interval": "5"},
    "audio-samples": {"training.text2audio_interval_steps": "20"},
    "native-loading": {"data.use_tf_native_loading": "false"},
    "augmentation": {"data.enable_pitch_shift": "true"},
    "no-workers": {"data.num_workers": "0"},
    "few-workers": {"data.num_workers": "4"},
    "small-buffer": {"data.pipeline_buffer_size": "2", "data.prefetch_to_gpu": "false"},
    "prefetch-to-gpu": {"data.prefetch_to_gpu": "false"},
    "enhanced-prefetch": {"data.enhanced_gpu_prefetch": "false"},
    "overlap": {"data.optimize_cpu_gpu_overlap": "false"},
    "large-buffer": {"data.pipeline_buffer_size": "900"},
    "no-batch": {"data.batch_size": "0"},
    "batch-memory": {"data.batch_size": "128"},
    "small-batch": {"data.batch_size": "2"},
    "gpu-accumulation": {"training.gradient_accumulation_steps": "1", "training.enable_graph_mode": "false"},
    "one-of-two-gpus": {"data.data_gpu": "0"},
    "same-gpu": {"data.data_gpu": "0", "data.model_gpu": "0"},
    "negative-data-gpu": {"data.data_gpu": "-1"},
    "negative-model-gpu": {"data.model_gpu": "-1"},
    "missing-gpu": {"data.data_gpu": "0", "data.model_gpu": "2"},
    "two-gpus": {"data.data_gpu": "0", "data.model_gpu": "1"},
    "second-gpu": {},
    "sample-rates": {"model.sample_rate": "16000"},
    "mels": {"model.n_mels": "100"},
    "window": {"model.n_fft": "2048"},
    "hop": {"model.hop_length": "200"},
    "window-length": {"model.win_length": "800"},
}


def situation(name="RTX 4090", count=2, **more):
    return Situation(gpu=gpus.named(ITS, name), gpu_count=count, **more)


def situation_of(rule):
    return situation("RTX 3060" if rule == "gpu-accumulation" else "RTX 4090")


def with_values(text, values):
    for key, value in values.items():
        text = set_value(text, "config.yaml", key, value)
    return text


def judged(text, its=None, path="folder/config.yaml"):
    return check(text, path, ITS, its or Situation(), Program())


def found_by(rule, text, its):
    facts = Facts(text, "config.yaml", ITS, its)
    words = facts.filled(RULES[rule]["text"])
    return next((one for one in judged(text, its).findings if one.text.startswith(words)), None)


# ---- rules


def test_each_rule_has_a_planted_fault():
    assert set(PLANTED) == set(RULES)


def test_a_good_file_has_no_warning():
    for its in (situation(), Situation()):
        made = judged(GOOD, its)
        assert made.status == "pass", made.summary
        assert not any(one.changes for one in made.findings)


@pytest.mark.parametrize("rule", PLANTED)
def test_each_rule_finds_its_fault_and_mends_it(rule):
    its = situation_of(rule)
    if PLANTED[rule]:
        assert found_by(rule, GOOD, its) is None
    text = with_values(GOOD, PLANTED[rule])
    finding = found_by(rule, text, its)
    assert finding is not None
    assert finding.status == {"note": "pass"}.get(RULES[rule]["status"], RULES[rule]["status"])
    assert finding.place.startswith("folder/config.yaml:") and finding.remedy
    assert "{" not in finding.text + finding.remedy
    for change in finding.changes:
        assert change.reason and change.before != change.after
        text = set_value(text, "config.yaml", change.key, change.after)
    if finding.changes:
        assert not Facts(text, "config.yaml", ITS, its).holds(RULES[rule]["when"])


@pytest.mark.parametrize("rule", [name for name, rule in RULES.items() if "changes" in rule])
def test_the_change_of_a_rule_is_no_fault_of_another(rule):
    its = situation()
    facts = Facts(GOOD, "config.yaml", ITS, its)
    for key, value in RULES[rule]["changes"].items():
        filled = facts.filled(value)
        if filled == "nothing":  # the GPU of this file has no such setting
            continue
        assert key in ITS.fields
        assert judged(set_value(GOOD, "config.yaml", key, filled), its).status == "pass"


def test_rules_are_sound():
    for rule in ITS.rules:
        assert "unread" not in ITS.fields[rule["key"]], rule["key"]
        if "gain" in rule:  # nobody promises what was neither measured nor documented
            low, high = map(float, rule["gain"])
            assert low <= high and "Documented" in rule["source"]


@pytest.mark.parametrize("expression", ["__import__('os')", "data.batch_size.real", "[1]", "lambda: 1", "open(1)"])
def test_an_expression_is_no_program(expression):
    with pytest.raises(ValueError):
        Facts(GOOD, "config.yaml", ITS, Situation()).value(expression)


# ---- what stops the trainer


@pytest.mark.parametrize(
    "text",
    [
        "data:\n  language: en\n",
        GOOD.replace("steps: 2", "steps: 1"),
        "training: # none\n  enable_graph_mode: false\n  gradient_accumulation_steps: 1\ndata:\n  batch_size: 9\n",
    ],
)
@pytest.mark.parametrize("gpu", ["RTX 4090", "12GB", "RTX 3060", None])
def test_a_mended_file_accumulates_where_the_step_is_compiled(text, gpu):
    its = situation(gpu, 1) if gpu else Situation()
    fix = mend(text, "config.yaml", ITS, lambda now: judged(now, its))
    facts = Facts(fix.text, "config.yaml", ITS, its)
    steps, batch = facts.number("training.gradient_accumulation_steps"), facts.number("data.batch_size")
    assert facts.flag("training.enable_graph_mode") and steps >= 2 and batch % steps == 0
    assert not any("gradient_accumulation_steps: 1" in one.remedy for one in fix.check.findings)


def test_twelve_gigabytes_have_the_documented_settings_by_name_and_by_size():
    for name in ("RTX 3060", "12GB", "12"):
        gpu = gpus.named(ITS, name)
        assert [gpu[key] for key in ("batch_size", "num_workers", "prefetch", "accumulation")] == [8, 8, 8, 2]


def test_a_gpu_is_found_by_name_where_its_memory_agrees():
    assert gpus.of_driver(ITS, "NVIDIA GeForce RTX 4090", 24 * 2**30, 64)["batch_size"] == 32
    laptop = gpus.of_driver(ITS, "NVIDIA GeForce RTX 4090", 16 * 2**30, 3.5)
    assert laptop["memory_gb"] == 16 and laptop["num_workers"] == 3 and laptop["name"].endswith("4090")
    assert gpus.named(ITS, "80GB")["name"] == "a GPU of 80 GB"
    with pytest.raises(Failure, match="did you mean 'RTX 4090'"):
        gpus.named(ITS, "RTX 4080")


def test_the_settings_by_gpu_are_complete():
    for row in ITS.gpus["gpus"] + ITS.gpus["sizes"]:
        assert all(
            int(row[key]) > 0 for key in ("memory_gb", "batch_size", "batch_size_max", "num_workers", "prefetch")
        )
        assert int(row["batch_size"]) <= int(row["batch_size_max"]) and row["source"]
    sizes = [float(row["memory_gb"]) for row in ITS.gpus["sizes"]]
    assert sizes == sorted(sizes)


# ---- keys and values


def faults(text):
    return [one for one in judged(text).findings if one.status != "pass"]


def quiet(data="", training="", rest=""):
    """A file with nothing wrong but what a test adds."""
    head = (
        "training:\n  gradient_accumulation_steps: 2\n  enable_memory_cleanup: false\n  spectrogram_log_interval: 500\n"
    )
    return f"{head}{training}data:\n  pad_to_fixed_length: true\n  max_text_tokens: 200\n{data}{rest}"


def only_fault(text):
    found = faults(text)
    assert len(found) == 1, [one.text for one in found]
    return found[0]


def keys_of(finding):
    return [change.key for change in finding.changes]


def test_an_unknown_key_stops_the_trainer():
    known = only_fault(quiet("  n_mels: 80\n"))
    assert known.status == "fail" and known.place == "folder/config.yaml:8" and "always has 80 mels" in known.text
    assert [change.after for change in known.changes] == [""]
    assert keys_of(only_fault(quiet("  zzzzzzzzzz: 80\n"))) == ["data.zzzzzzzzzz"]
    typo = only_fault(quiet("  bach_size: 32\n"))
    assert "Did you mean data.batch_size?" in typo.remedy and not typo.changes
    short = only_fault(quiet("", "  esp: 1.0e-9\n"))
    assert "Did you mean training.eps?" in short.remedy and not short.changes


def test_a_key_of_another_section_moves_there():
    moved = only_fault(quiet("", "  mixed_precision: true\n"))
    assert keys_of(moved) == ["data.mixed_precision", "training.mixed_precision"]
    contradicts = only_fault(quiet("  mixed_precision: true\n", "  mixed_precision: false\n"))
    assert "data.mixed_precision is, and has another value: true" in contradicts.text
    assert keys_of(contradicts) == ["training.mixed_precision"]
    assert "section data" in only_fault(quiet("", "", "batch_size: 4\n")).remedy
    assert "Did you mean model?" in only_fault(quiet("", "", "modell:\n  n_mels: 80\n")).remedy


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("learning_rate: 1e-4", "1.0e-4"), ('learning_rate: "0.001"', "0.001"), ("epochs: 1e3", "1000"),
        ("epochs: 20.0", "20"), ('epochs: "20"', "20"), ('use_wandb: "False"', "false"), ("optimizer: 5", "5"),
        ("wandb_project: no", "no"), ("epochs: many", None), ("use_wandb: maybe", None), ("epochs: [1]", None),
        ("text2audio_texts: hello", None), ("optimizer: {a: 1}", None),
    ],
)  # fmt: skip
def test_values_have_the_type_that_the_trainer_needs(line, after):
    finding = only_fault(quiet("", f"  {line}\n"))
    assert finding.status == "fail"
    assert [change.after for change in finding.changes] == ([after] if after else [])


def test_null_is_a_value_of_some_keys_alone():
    assert not faults(quiet("  data_gpu:\n  metadata_train_file: null\n  text_cleaners: ~\n"))
    finding = only_fault(quiet("  batch_size:\n"))
    assert "default is 56" in finding.remedy and finding.changes[0].after == ""
    assert keys_of(only_fault(quiet("", "", "model:\n"))) == ["model"]


def test_what_else_a_file_may_have():
    assert "stands twice, first on line 8" in only_fault(quiet("  batch_size: 0\n  batch_size: 8\n")).text
    assert only_fault(quiet("  batch_size: &b 8\n  num_workers: *b\n")).status == "cannot_tell"
    for line in ("  batch_size: 8\t# note\n", "  batch_size:\t8\n"):
        assert "has a tab" in only_fault(quiet(line)).text
    for line in ("  batch_size: 8 #\tnote\n", '  language: "a\tb" # c\td\n'):
        assert not faults(quiet(line))
    unread = judged(quiet("  pin_memory: false\n  prefetch_buffer_size: 1\n"))
    assert unread.status == "pass"
    assert (
        "The trainer does nothing with these keys: data.pin_memory, data.prefetch_buffer_size. "
        "data.pipeline_buffer_size is the buffer that it reads."
    ) in [one.text for one in unread.findings]


def test_values_of_foreign_keys_are_not_shown():
    text = "data:\n  batch_size: 8\n  api_key: SEKRIT\ntraining:\n  wandb_api_key: SEKRIT\n"
    assert "SEKRIT" not in str(judged(text).json()) and "api_key" in str(judged(text).json())


@pytest.mark.parametrize(
    ("text", "code"),
    [(one, "invalid_argument") for one in ("", "a: 1\n", "- x\n", "data:\n\tx: 1\n", "data: {a: 1\n",
                                           "data:\n  a: 1\n---\ndata:\n  a: 2\n")]
    + [(one, "unsupported") for one in ("data: 5\n", "base: &b\n  n: 1\ndata:\n  <<: *b\n",
                                        "data:\n  a: 1\ndata:\n  b: 1\n")],
)  # fmt: skip
def test_a_file_that_cannot_be_judged_is_refused(text, code):
    with pytest.raises(Failure) as caught:
        judged(text)
    assert caught.value.code == code


def test_bytes_that_are_no_text_are_refused():
    for data, line in ((b"data:\n  \xff: 1\n", 2), (b"data:\r  a: 1\n", 1), (b"data:\n  a: \0\n", 2)):
        with pytest.raises(Failure, match=f"f:{line}: "):
            read_text(data, "f")


def test_a_launchers_file_with_precomputed_features_asks_for_the_plain_cache():
    def advice(mode):
        return judged(quiet(f"  preprocessing_mode: {mode}\n")).findings[-1].remedy

    assert "`xtts-precompute DATA CACHE`. Then" in advice("precompute")
    assert "`xtts-precompute DATA CACHE --config folder/config.yaml`. Then" in advice("auto")


def test_without_a_gpu_memory_is_not_judged_and_the_summary_says_so():
    text = with_values(GOOD, {"data.batch_size": "4096"})
    assert judged(text).status == "pass" and "no GPU is known, so memory was not judged" in judged(text).summary
    assert judged(text, situation()).status == "warn"


def test_with_a_cache_loading_is_not_judged():
    facts = Facts(with_values(GOOD, {"data.num_workers": "1"}), "f", ITS, situation())
    assert len(judge_rules(facts)) == 2
    facts.situation.cache = "./cache"
    assert [one.status for one in judge_rules(facts)] == ["pass"]


# ---- writing

FAULTY = "# mine\n" + quiet("  n_mels: 80  # mels\n", "  mixed_precision: false\n  learning_rate: 1e-4\n")


def mended(text):
    return mend(text, "config.yaml", ITS, judged).text


def write(path, text=FAULTY):
    path.write_text(text, encoding="utf-8")
    return str(path)


def rewritten(path, files=Files):
    return replace(path, FAULTY.encode(), mended(FAULTY).encode(), files)


def test_a_mended_file_has_nothing_to_mend():
    texts, count = config_texts.Texts(SEED), 0
    for _ in range(60):
        text, its = texts.file(), texts.any((Situation(), situation("4090", 1), situation("12GB", 1)))
        try:
            first = mend(text, "f", ITS, lambda now, its=its: judged(now, its))
        except Failure:
            continue
        count += bool(first.changes)
        second = mend(first.text, "f", ITS, lambda now, its=its: judged(now, its))
        assert not second.changes, (SEED, text, first.text)
    assert count > 5


def test_a_fix_writes_all_it_can_and_tells_the_rest():
    text = "data: {n_mels: 80, pad_to_fixed_length: true, max_text_tokens: 200}\n" + quiet(
        "", "  learning_rate: 1e-4\n"
    )
    text = text[: text.index("data:\n  pad")]
    fix = mend(text, "config.yaml", ITS, judged)
    assert fix.refused == ["config.yaml:1: the value stands in braces or brackets, so this line is for you to change"]
    assert [one.key for one in fix.changes] == ["training.learning_rate"] and "data: {n_mels: 80," in fix.text
    emptied = mend(quiet("", "", "model:\n  zzzzzzzz: 1\n"), "config.yaml", ITS, judged)
    assert "# model:\n  # zzzzzzzz: 1\n" in emptied.text
    many = quiet() + "".join(f"  k{number}0000: 1\n" for number in range(500))
    with pytest.raises(Failure, match="500 changes would be needed"):
        mend(many, "config.yaml", ITS, judged)


def test_each_change_is_named_though_it_is_of_quotes_or_of_nothing():
    text = quiet('  batch_size: "32"\n  language: no\n  num_workers:\n', "", "model:\n")
    fix = mend(text, "config.yaml", ITS, judged)
    assert command.fix_text(fix) == (
        'mended model: now a comment\nmended data.batch_size: "32" -> 32\n'
        'mended data.language: no -> "no"\nmended data.num_workers: now a comment\n'
    )


def test_no_older_backup_is_overwritten(tmp_path):
    path = write(tmp_path / "config.yaml")
    write(tmp_path / "config.yaml.bak", "older")
    (tmp_path / "config.yaml.bak.1").symlink_to("nowhere")
    assert rewritten(path) == f"{path}.bak.2"
    assert (tmp_path / "config.yaml.bak").read_text() == "older"
    assert (tmp_path / "config.yaml.bak.2").read_text() == FAULTY
    assert Path(path).read_text() == mended(FAULTY)


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o777])
def test_permissions_stay(tmp_path, mode):
    path = write(tmp_path / "config.yaml")
    os.chmod(path, mode)
    for one in (rewritten(path), path):
        assert stat.S_IMODE(os.stat(one).st_mode) == mode


def test_a_link_stays_and_its_target_is_mended(tmp_path):
    (tmp_path / "real").mkdir()
    write(tmp_path / "real/settings.yaml")
    link = tmp_path / "config.yaml"
    link.symlink_to("real/settings.yaml")
    assert os.path.basename(rewritten(str(link))) == "settings.yaml.bak"
    assert link.is_symlink() and link.read_text() == mended(FAULTY)


def test_a_file_that_somebody_changes_meanwhile_is_left(tmp_path):
    path = write(tmp_path / "config.yaml", "data:\n  a: 1\n")
    with pytest.raises(Failure, match="was changed meanwhile"):
        rewritten(path)
    assert os.listdir(tmp_path) == ["config.yaml"] and Path(path).read_text() == "data:\n  a: 1\n"


class Failing(Files):
    """Lets the call of a number fail. A write that fails may have written a part."""

    def __init__(self, at, error):
        self.left, self.error, self.happened = at, error, ""
        for name in ("open", "write", "fsync", "chmod", "chown", "link", "rename"):
            setattr(self, name, self._wrapped(name, getattr(Files, name)))

    def _wrapped(self, name, call):
        def wrapped(*arguments):
            self.left -= 1
            if self.left == 0:
                self.happened = name
                if name == "write":
                    call(arguments[0], arguments[1][:7])
                raise OSError(self.error, os.strerror(self.error))
            return call(*arguments)

        return wrapped


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EPERM])
def test_after_any_fault_the_file_is_the_old_or_the_new_one(tmp_path, error):
    for at in range(1, 20):
        folder = tmp_path / str(at)
        folder.mkdir()
        path, files = write(folder / "config.yaml"), Failing(at, error)
        try:
            rewritten(path, files)
            done = True
        except Failure as failure:
            done = False
            assert failure.code == "resource"
        assert Path(path).read_text() == (mended(FAULTY) if done else FAULTY), files.happened
        assert sorted(os.listdir(folder)) == ["config.yaml", "config.yaml.bak"][: 1 + done], files.happened
        if not files.happened:
            break
    assert at > 5


def test_bytes_in_disorder_end_in_a_failure_or_in_an_answer():
    random_ = random.Random(SEED)
    for _ in range(300):
        data = bytearray(GOOD.encode())
        for _ in range(random_.randrange(1, 6)):
            data[random_.randrange(len(data))] = random_.randrange(256)
        with contextlib.suppress(Failure):
            judged(read_text(bytes(data), "f"))


# ---- the command


def ended(*words, before=""):
    start = "import sys\nimport xtts_advise.__main__ as it\nit.SYSTEM_PYTHON = sys.executable"
    source = f"{start}\n{before}\nsys.exit(it.main())"
    return ran(sys.executable, "-c", source, *words)


def test_a_library_that_is_missing_is_told_with_what_brings_it():
    before = (
        "it.COMMANDS['config'] = ('', ('no_such_library',), ())\n"
        "from xtts_advise import words; words.PACKAGES['no_such_library'] = ('python3-no', 'no')"
    )
    for words in (["config", "check", "x"], ["--program", "y", "config", "check", "x", "--json"]):
        done = ended(*words, before=before)
        assert done.returncode == 2
        assert re.fullmatch(
            r"xtts-precompute: config runs in Python, and \S+ lacks no_such_library: "
            r"`(apt-get install python3-no|pip install no)` brings it\n",
            done.stderr,
        )
        assert ("--json" in words) == bool(done.stdout)
        if done.stdout:
            assert json.loads(done.stdout)["error"]["code"] == "unsupported"


def test_the_package_runs_by_its_folder_and_without_the_compiled_modules(tmp_path):
    path, folder = write(tmp_path / "config.yaml"), Path(trainer.__file__).parents[1]
    for start in ([sys.executable, folder], [sys.executable, "-m", "xtts_advise"]):
        command = [*map(str, start), "config", "check", path, "--gpu=24GB", "--gpus=1", "--fail-on=fail"]
        environment = {**os.environ, "PYTHONPATH": str(folder.parent)}
        done = ran(*command, env=environment, cwd=tmp_path)
        assert done.returncode == 4 and "config.yaml:11: fault: data.n_mels" in done.stdout, done.stdout + done.stderr
        assert done.stderr == f"xtts-precompute: {done.stdout.splitlines()[-1]}\n"
        quiet_one = subprocess.run([*command, "-q"], env=environment, capture_output=True, check=False)
        assert quiet_one.stdout == b""


# ---- another trainer


@pytest.fixture
def other(tmp_path, monkeypatch):
    """A trainer that is a folder of two files, beside MyXTTS's."""
    folder = tmp_path / "trainers"
    shutil.copytree(trainer.TRAINERS / "myxtts", folder / "myxtts")
    (folder / "other").mkdir()
    (folder / "other/keys.yaml").write_text(
        "trainer: some/Other at 1234567\n"
        "optimizer:\n  batch_size: {type: int, default: 16}\n"
        "step:\n  log_every: {type: int, default: 100}\n  home_less: {home: It is an option of train.py.}\n"
    )
    (folder / "other/rules.yaml").write_text(
        "rules:\n  - name: logs\n    key: step.log_every\n    when: step.log_every < 50\n    status: warn\n"
        "    text: Every {step.log_every} steps a picture is drawn.\n    source: Its code says so.\n"
        "    remedy: Draw seldom.\n    changes: {step.log_every: '500'}\n"
    )
    monkeypatch.setattr(trainer, "TRAINERS", folder)
    trainer.load.cache_clear()
    yield tmp_path
    trainer.load.cache_clear()


def test_a_file_is_judged_by_the_trainer_that_has_its_sections(other):
    file = other / "train.yaml"
    file.write_text("optimizer:\n  batch_size: many\nstep:\n  log_every: 10\n  lgo_every: 3\n")
    asked = argparse.Namespace(file=str(file), gpu="", gpus="", cache="", reader="launcher", fix=True)
    fix = command.judge(asked, Program())
    assert "log_every: 500" in file.read_text()
    told = " ".join(one.text for one in fix.check.findings)
    assert "optimizer.batch_size" in told and "step.lgo_every is no key of the trainer" in told and "cache" not in told
    assert [change.reason for change in fix.changes] == ["Every 10 steps a picture is drawn."]
    asked.gpu = "4090"
    with pytest.raises(Failure, match="no settings by GPU are known for some/Other"):
        command.judge(asked, Program())


def test_two_files_beside_are_a_trainer_and_the_usual_one_stays(other):
    assert trainer.of_text("data:\n  batch_size: 3\n", "x").folder.name == "myxtts"
    assert trainer.of_text("nothing: 1\n", "x").folder.name == "myxtts"
    assert trainer.of_text("step:\n", "x").title == "some/Other at 1234567"
