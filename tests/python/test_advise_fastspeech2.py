"""config check of FastSpeech 2's train.yaml: a planted fault for each rule, and what the trainer does with keys."""

import argparse
import os
import sys

import pytest
from doctor_support import Answers
from xtts_advise.config import command, trainer
from xtts_advise.config.check import check, judge_rules
from xtts_advise.config.edit import set_value
from xtts_advise.config.facts import Facts, Situation
from xtts_advise.doctor import command as doctor
from xtts_advise.doctor import in_python
from xtts_advise.probe import Program
from xtts_advise.words import Failure

ITS = trainer.load("fastspeech2")
RULES = {rule["name"]: rule for rule in ITS.rules}

# config/LJSpeech/train.yaml of ming024/FastSpeech2 at d4e79eb.
GOOD = """\
path:
  ckpt_path: "./output/ckpt/LJSpeech"
  log_path: "./output/log/LJSpeech"
  result_path: "./output/result/LJSpeech"
optimizer:
  batch_size: 16
  betas: [0.9, 0.98]
  eps: 0.000000001
  weight_decay: 0.0
  grad_clip_thresh: 1.0
  grad_acc_step: 1
  warm_up_step: 4000
  anneal_steps: [300000, 400000, 500000]
  anneal_rate: 0.3
step:
  total_step: 900000
  log_step: 100
  synth_step: 1000
  val_step: 1000
  save_step: 100000
"""

# Each rule: values over GOOD that break it.
PLANTED = {
    "no-batch": [{"optimizer.batch_size": "0"}],
    "no-workers": [{}],
    "zero-steps": [
        {key: "0"}
        for key in ("step.log_step", "step.synth_step", "step.val_step", "step.save_step", "optimizer.grad_acc_step")
    ],
    "log-often": [{"step.log_step": "1"}],
    "synth-often": [{"step.synth_step": "10"}],
    "validate-often": [{"step.val_step": "100"}, {"optimizer.batch_size": "2"}],
    "save-often": [{"step.save_step": "100"}],
    "accumulation-counts": [{"optimizer.grad_acc_step": "4"}],
}
EVERY_FAULT = [(rule, values) for rule, faults in PLANTED.items() for values in faults]


def with_values(values, text=GOOD):
    for key, value in values.items():
        text = set_value(text, "train.yaml", key, value)
    return text


def judged(text):
    return check(text, "train.yaml", trainer.of_text(text, "train.yaml"), Situation(), Program())


def faults(text):
    return [one for one in judged(text).findings if one.status != "pass"]


def names_of(text, **more):
    facts = Facts(text, "train.yaml", ITS, Situation(**more))
    found = {one.text for one in judge_rules(facts)}
    return {name for name, rule in RULES.items() if f"{facts.filled(rule['text'])} {rule['source']}" in found}


# ---- rules


def test_each_rule_has_a_planted_fault():
    assert set(PLANTED) == set(RULES)


def test_its_own_file_has_no_warning_and_says_that_nobody_reads_ahead():
    made = judged(GOOD)
    assert (made.status, made.summary) == ("pass", "train.yaml: no setting that starves a GPU is known")
    (note,) = made.findings
    assert note.text.startswith("The DataLoader of train.py has no workers.") and "64 clips" in note.text
    assert names_of(GOOD, cache="./cache") == set()


@pytest.mark.parametrize(("rule", "values"), EVERY_FAULT)
def test_each_rule_finds_its_fault_and_mends_it(rule, values):
    text = with_values(values)
    assert names_of(text) - {"no-workers"} <= {rule} and rule in names_of(text)
    facts = Facts(text, "train.yaml", ITS, Situation())
    (finding,) = (one for one in judge_rules(facts) if one.text.startswith(facts.filled(RULES[rule]["text"])))
    assert finding.status == {"note": "pass"}.get(RULES[rule]["status"], RULES[rule]["status"])
    assert finding.remedy and "{" not in finding.text + finding.remedy
    mended = with_values({change.key: change.after for change in finding.changes}, text)
    assert not finding.changes or names_of(mended) == {"no-workers"}


# ---- keys


def test_a_key_that_it_does_not_ask_for_is_not_seen():
    for line, words, remedy in (
        ("  num_workers: 8\n", "gives its DataLoader no workers", "unless your copy of the trainer reads it"),
        ("  bach_size: 8\n", "does not see it", "Did you mean optimizer.batch_size?"),
        ("  log_step: 8\n", "does not see it", "Did you mean step.log_step?"),
    ):
        (finding,) = faults(GOOD.replace("optimizer:\n", f"optimizer:\n{line}"))
        assert finding.status == "warn" and words in finding.text and remedy in finding.remedy
        assert not finding.changes


def test_a_key_that_is_missing_stops_it():
    without = "".join(line for line in GOOD.splitlines(True) if " eps" not in line and "val_step" not in line)
    (finding,) = faults(without)
    assert finding.status == "fail" and "lacks optimizer.eps and step.val_step." in finding.text
    assert "lacks path." in faults(GOOD[GOOD.index("optimizer") :])[0].text
    emptied = faults(GOOD[: GOOD.index("  total_step")])
    assert [one.text for one in emptied] == ["The section step is empty, and the trainer stops at it."]
    assert not emptied[0].changes


def test_values_are_those_that_its_code_takes():
    assert not faults(with_values({"step.val_step": "2000.0", "optimizer.grad_clip_thresh": "1"}))
    for key, value, after in (
        ("optimizer.eps", "1e-9", "1.0e-9"), ("optimizer.batch_size", "16.0", "16"), ("step.total_step", "9e5", None),
    ):  # fmt: skip
        (finding,) = faults(with_values({key: value}))
        assert finding.status == "fail" and finding.changes[0].key == key
        assert after is None or finding.changes[0].after == after
    (finding,) = faults(GOOD.replace("eps: 0.000000001", "eps:"))
    assert finding.remedy == "Write a number." and not finding.changes


# ---- whose file it is


def test_its_two_other_files_are_none_of_its_train_yaml():
    for text in (
        'dataset: "LJSpeech"\npath:\n  corpus_path: x\npreprocessing:\n  val_size: 512\n',
        "transformer:\n  encoder_layer: 4\nmax_seq_len: 1000\n",
        "optimizer:\n  lr: 1\ntrainer:\n  epochs: 3\n",
    ):
        with pytest.raises(Failure, match="there is no section"):
            judged(text)


def test_the_command_judges_and_mends_it(tmp_path):
    file = tmp_path / "train.yaml"
    file.write_text(with_values({"step.log_step": "1"}))
    asked = argparse.Namespace(file=str(file), gpu="", gpus="", cache="", reader="launcher", fix=True)
    fix = command.judge(asked, Program())
    assert file.read_text() == GOOD and [change.key for change in fix.changes] == ["step.log_step"]


def test_the_doctor_names_no_command_that_refuses_it(tmp_path):
    file = tmp_path / "train.yaml"
    file.write_text(GOOD)
    program = Answers(config={"recipe": None, "refused": "holds neither 'data:' nor 'model:'"})
    program.inform = lambda _: None
    parser = argparse.ArgumentParser()
    doctor.add_arguments(parser)
    options = parser.parse_args([f"--config={file}", "--quick-fix", f"--python={sys.executable}"])
    options.quiet = True
    printed, _, document = doctor.run(options, program)
    assert printed.endswith("Now train as before: a build and `xtts-precompute train` take no such file.\n")
    assert "myxtts" not in printed and "--config" not in printed and document["fixed"] == []


# ---- its loader

STANDS_FOR = {
    "yaml.py": "import json\nFullLoader = None\ndef load(text, Loader): return json.loads(text)\n",
    "torch/__init__.py": "",
    "torch/utils/__init__.py": "",
    "torch/utils/data.py": "class DataLoader:\n"
    "    def __init__(self, clips, batch_size, shuffle, collate_fn, num_workers):\n"
    "        assert shuffle and num_workers == 0\n"
    "        self.clips, self.size, self.collate = clips, batch_size, collate_fn\n"
    "    def __iter__(self):\n"
    "        for at in range(0, len(self.clips), self.size):\n"
    "            yield self.collate(self.clips.rows[at : at + self.size])\n",
    "dataset.py": "import os\n"
    "class Dataset:\n"
    "    def __init__(self, name, preprocess, train, sort, drop_last):\n"
    "        assert sort and drop_last\n"
    "        self.size = train['optimizer']['batch_size']\n"
    "        self.rows = open(os.path.join(preprocess['path']['preprocessed_path'], name)).read().splitlines()\n"
    "    def __len__(self): return len(self.rows)\n"
    "    def collate_fn(self, rows):\n"
    "        whole = len(rows) // self.size * self.size\n"
    "        return [rows[at : at + self.size] for at in range(0, whole, self.size)]\n",
}


@pytest.fixture
def timed(tmp_path):
    """Gives a function: times the loader of a trainer that stands for FastSpeech 2, with so many clips."""
    for name, source in STANDS_FOR.items():
        (tmp_path / "trainer" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "trainer" / name).write_text(source)
    (tmp_path / "train.yaml").write_text('{"optimizer": {"batch_size": 3}}')
    (tmp_path / "preprocess.yaml").write_text('{"path": {"preprocessed_path": "./made"}}')
    (tmp_path / "trainer/made").mkdir()

    def run(clips):
        if clips:
            (tmp_path / "trainer/made/train.txt").write_text("".join(f"{i}\n" for i in range(clips)))
        wish = {
            "file": str(ITS.folder / "loader.py"),
            "config": str(tmp_path / "train.yaml"),
            "data": "d",
            "scratch": "",
        }
        wish |= {"folders": [str(tmp_path / "trainer")], "step_ms": 1, "seconds": 0.01, "rounds": 1}
        return in_python.find(sys.executable, str(tmp_path)).run("own_loader", request=wish)

    return run


def test_its_loader_gives_the_batches_of_its_training(timed):
    answer = timed(100)
    assert (answer.get("batch_size"), answer.get("workers")) == (3, 0), answer


def test_a_loader_without_its_data_says_what_is_missing(timed, tmp_path):
    assert "run the trainer's preprocess.py first" in timed(0)["missing"]
    assert "asks for more than 12 clips, and train.txt has 12" in timed(12)["missing"]
    os.unlink(tmp_path / "preprocess.yaml")
    assert "preprocess.yaml is not there" in timed(100)["missing"]
