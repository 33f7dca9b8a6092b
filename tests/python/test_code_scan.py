"""The code scan: each rule finds its planted fault at its line, and nothing in code that looks alike.

A comment `#! RULE` in the code of a test marks a line where exactly that rule has to find something.
The projects with planted faults stand in code_scan_cases.
"""

import ast
import json
import os
import re
import sys
import textwrap
import time

import pytest
from code_scan_cases import CASES
from support import PROJECT, ran
from xtts_advise.measure.code_scan import scan
from xtts_advise.measure.code_scan.finds import RULES

DOCTOR = PROJECT / "src/python/xtts_advise/measure"
FILES = sorted((DOCTOR / "code_scan").rglob("*.py"))


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return folder


def marked(folder):
    return {
        (path.relative_to(folder).as_posix(), number, rule)
        for path in folder.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        for rules in re.findall(r"#! ([\w ]+)", line)
        for rule in rules.split()
    }


def found(folder, **options):
    return {(one["file"], one["line"], one["rule"]) for one in scan(str(folder), **options)["finds"]}


def scan_text(tmp_path, text, name="train.py"):
    return scan(str(write(tmp_path, {name: text})))


@pytest.mark.parametrize("case", CASES)
def test_finds_are_at_the_marked_lines(tmp_path, case):
    files = CASES[case]
    write(tmp_path, files if isinstance(files, dict) else {"train.py": files})
    assert found(tmp_path) == marked(tmp_path)


def test_each_rule_has_a_planted_fault_and_something_that_looks_alike():
    planted = {
        rule for case in CASES.values() for rule in re.findall(r"\w+", " ".join(re.findall("#! (.*)", str(case))))
    }
    assert set(RULES) <= planted
    for rule in RULES:
        assert any(rule in case for case in CASES)


def test_a_find_has_what_the_doctor_shows(tmp_path):
    text = "import tensorflow as tf\ntf.config.run_functions_eagerly(True)\n"
    (one,) = scan_text(tmp_path, text)["finds"]
    assert list(one) == ["rule", "file", "line", "status", "text", "why", "remedy", "certainty"]
    assert one["text"] == "tf.config.run_functions_eagerly(True) switches compiled functions off."
    assert all(rule.status in ("warn", "fail") for rule in RULES.values())
    assert all(rule.certainty in ("high", "medium", "low") for rule in RULES.values())
    assert all(rule.why.endswith(".") and rule.remedy.endswith(".") for rule in RULES.values())


def test_a_find_that_may_never_run_is_less_sure(tmp_path):
    eager = "import tensorflow as tf\nif config.eager_debug:\n    tf.config.run_functions_eagerly(True)\n"
    (one,) = scan_text(tmp_path, eager)["finds"]
    assert (one["status"], one["certainty"]) == ("warn", "low") and "where eager_debug is on" in one["text"]
    unused = "import librosa\nclass Clips:\n    def __getitem__(self, i):\n        return librosa.load(i)\n"
    write(tmp_path, {"train.py": "", "data.py": unused})
    (one,) = scan(str(tmp_path))["finds"]
    assert (one["status"], one["certainty"]) == ("warn", "low") and "No scanned file makes" in one["text"]
    write(tmp_path, {"train.py": "from data import Clips\n"})
    (one,) = scan(str(tmp_path))["finds"]
    assert (one["status"], one["certainty"]) == ("fail", "high")


def test_a_loader_that_is_made_in_each_epoch_has_a_remedy_of_its_own(tmp_path):
    made = "train = DataLoader(data, shuffle=True, num_workers=2)\n"
    head = "from torch.utils.data import DataLoader\n"
    (one,) = scan_text(tmp_path, f"{head}for epoch in range(8):\n    {made}")["finds"]
    assert one["remedy"] == "Make it once before the loop, with persistent_workers=True."
    (one,) = scan_text(tmp_path, f"{head}for phase in phases:\n    {made}")["finds"]
    assert one["remedy"] == RULES["workers_restart"].remedy


def test_a_comment_hides_a_find(tmp_path):
    lines = [
        "tf.config.run_functions_eagerly(True)  # xtts: ignore eager_mode",
        "tf.config.run_functions_eagerly(True)  # xtts: ignore",
        "tf.config.run_functions_eagerly(True)  # xtts: ignore no_prefetch, eager_mode",
        "# xtts: ignore eager_mode",
        "tf.config.run_functions_eagerly(True)",
        "tf.config.run_functions_eagerly(True)",
        "tf.config.run_functions_eagerly(True)  # xtts: ignore no_prefetch",
    ]
    answer = scan_text(tmp_path, "import tensorflow as tf\n" + "\n".join(lines) + "\n")
    assert [one["line"] for one in answer["finds"]] == [7, 8]


# ---- files


LOADER = "from torch.utils.data import DataLoader\ntrain = DataLoader(data, shuffle=True)\n"


def test_folders_of_others_are_skipped(tmp_path):
    skipped = [".git", ".ipynb_checkpoints", "venv", "env", "tests", "test", "build", "a/site-packages", "__pycache__"]
    write(tmp_path, {f"{name}/train.py": LOADER for name in skipped})
    write(tmp_path, {"mine/pyvenv.cfg": "", "mine/train.py": LOADER, "test_train.py": LOADER, "src/train.py": LOADER})
    answer = scan(str(tmp_path))
    assert answer["files_read"] == 1 and {one["file"] for one in answer["finds"]} == {"src/train.py"}


HOSTILE = {
    "python2.py": (b"print 'hello'\n", "it is not Python 3: "),
    "broken.py": (b"def f(:\n", "it is not Python 3: "),
    "tabs.py": (b"if a:\n\tb\n        c\n", "it is not Python 3: "),
    "nul.py": (b"a = 1\0\n", "it has NUL bytes"),
    "binary.py": (bytes(range(1, 256)), ""),
    "utf8.py": (b"a = '\xff'\n", ""),
    "coding.py": (b"# -*- coding: no-such-code -*-\n", ""),
    "huge.py": (b"#" * ((2 << 20) + 1), "it is larger than 2 MiB"),
    "nested.py": (b"a = " + b"[" * 100_000 + b"]" * 100_000, ""),
    "minus.py": (b"a = " + b"-" * 100_000 + b"1\n", ""),
    "chain.py": (b"a = b" + b".c()" * 50_000 + b"\n", ""),
    "sum.py": (b"a = 1" + b" + 1" * 100_000 + b"\n", ""),
    "ifs.py": b"".join(b" " * level + b"if a:\n" for level in range(200)),
    "digits.py": (b"a = " + b"9" * 100_000 + b"\n", ""),
    "json.ipynb": (b"{", "it is no JSON"),
    "cells.ipynb": (b'{"cells": 3}', "it is no notebook"),
    "list.ipynb": (b"[1]", "it is no notebook"),
}


def test_hostile_files_are_listed_and_stop_nothing(tmp_path):
    for name, content in HOSTILE.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content[0])
    write(tmp_path, {"train.py": LOADER})
    (tmp_path / "empty.py").write_bytes(b"")
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbfa = 1\r\n")
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\na = '\xe9'\n")
    (tmp_path / "escape.py").write_bytes(b"a = '\\d'\n")
    answer = scan_in_child(tmp_path)
    reasons = {one["file"]: one["reason"] for one in answer["not_read"]}
    for name, content in HOSTILE.items():
        assert name in reasons or name in ("sum.py", "chain.py", "digits.py"), name
        expected = "" if isinstance(content, bytes) else content[1]
        assert reasons.get(name, expected).startswith(expected), reasons[name]
    assert answer["files_read"] + len(reasons) == len(HOSTILE) + 5
    assert {(one["file"], one["rule"]) for one in answer["finds"]} == {("train.py", "no_workers")}


def test_links_that_go_round_and_pipes_do_no_harm(tmp_path):
    write(tmp_path, {"train.py": LOADER})
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "round.py").symlink_to("round.py")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / "again.py").symlink_to("train.py")
    os.mkfifo(tmp_path / "pipe.py")
    answer = scan(str(tmp_path))
    assert answer["files_read"] == 1 and answer["not_read"] == []


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has file names in UTF-8 alone")
def test_a_name_that_is_not_utf8_gives_valid_json(tmp_path):
    with open(os.fsencode(tmp_path) + b"/train_\xff.py", "w", encoding="utf-8") as file:
        file.write(LOADER)
    (one,) = scan_in_child(tmp_path)["finds"]
    assert one["file"] == "train_\\udcff.py"


def test_a_folder_that_is_not_there_and_one_file_alone(tmp_path):
    missing = scan(str(tmp_path / "none"))
    assert missing["files_read"] == 0 and missing["not_read"][0]["reason"] == "it is not there"
    write(tmp_path, {"train.py": LOADER})
    alone = scan(str(tmp_path / "train.py"))
    assert [one["file"] for one in alone["finds"]] == ["train.py"]


def test_the_number_of_files_and_the_time_are_bounded(tmp_path, monkeypatch):
    from xtts_advise.measure.code_scan import files

    write(tmp_path, {f"train_{number}.py": LOADER for number in range(6)})
    with monkeypatch.context() as patch:
        patch.setattr(files, "_FILES_MAX", 4)
        answer = scan(str(tmp_path))
        assert answer["files_read"] == 4 and "only the first 4 files" in answer["not_read"][0]["reason"]
    monkeypatch.setattr(files, "_SECONDS_MAX", -1.0)
    answer = scan(str(tmp_path))
    assert answer["files_read"] == 0 and "took" in answer["not_read"][0]["reason"]


def test_the_time_of_the_rules_is_bounded_and_their_finds_stay(tmp_path, monkeypatch):
    from xtts_advise.measure.code_scan import getitem
    from xtts_advise.measure.code_scan import scan as module

    def slow(project):
        project.end = 0.0
        project.check_time()
        yield {}

    write(tmp_path, {"train.py": LOADER})
    monkeypatch.setattr(getitem, "finds", slow)
    answer = sys.modules[module.__module__].scan(str(tmp_path))
    assert [one["rule"] for one in answer["finds"]] == ["no_workers"]
    assert "the rules took more than" in answer["not_read"][0]["reason"]


def test_a_large_project_is_scanned_in_seconds(tmp_path):
    body = "".join(
        f"class C{n}(Dataset):\n    def __getitem__(self, i):\n        return f{n}(i)\n"
        f"def f{n}(i):\n    return f{n + 1}(i), f{n + 2}(i), tf.data.Dataset.range(i).map(f{n})\n"
        for n in range(100)
    )
    write(tmp_path, {f"train_{n}.py": "import tensorflow as tf\n" + body for n in range(20)})
    start = time.monotonic()
    answer = scan(str(tmp_path))
    assert time.monotonic() - start < 30 and answer["files_read"] == 20 and answer["not_read"] == []


def test_a_notebook_is_read_with_the_lines_of_its_file(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["train = DataLoader(data)"]},
        {"cell_type": "code", "source": ["%pip install torch\n", "!ls\n", "from torch.utils.data import DataLoader"]},
        {"cell_type": "code", "source": ["this is no Python"]},
        {"cell_type": "code", "source": ['name = "train"\n', "\n", "train = DataLoader(data, shuffle=True)"]},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    (tmp_path / "train.ipynb").write_text(text, encoding="utf-8")
    (one,) = scan(str(tmp_path))["finds"]
    line = next(number for number, line in enumerate(text.split("\n"), 1) if "shuffle=True" in line)
    assert (one["file"], one["line"], one["rule"]) == ("train.ipynb", line, "no_workers")


# ---- which loader trains


TWO_WAYS = """\
    import tensorflow as tf

    class Data:
        def make(self):
            def python_way(index):
                return tf.numpy_function(self.load, [index], tf.float32)

            native = getattr(self.config, "fast_loading", DEFAULT)
            data = tf.data.Dataset.range(8)
            if native:
                try:
                    data = data.map(own_way, num_parallel_calls=2)
                except Exception:
                    native = False
            if not native:
                data = data.map(python_way, num_parallel_calls=2)
            return data.prefetch(1)
    """


def loader_of(tmp_path, config=None, default="True", **files):
    write(
        tmp_path,
        {"data.py": TWO_WAYS.replace("DEFAULT", default), **{f"{name}.py": text for name, text in files.items()}},
    )
    if config is not None:
        (tmp_path / "config.yaml").write_text(config, encoding="utf-8")
    return scan(str(tmp_path), str(tmp_path / "config.yaml") if config is not None else None)["loader"]


@pytest.mark.parametrize(
    ("config", "default", "kind", "place"),
    [
        ("data:\n  fast_loading: true\n", "False", "native", ("config.yaml", 2)),
        ("data:\n  fast_loading: false  # true is faster\n", "True", "python", ("config.yaml", 2)),
        ("data: {a: 1, 'fast_loading': off}\n", "True", "python", ("config.yaml", 1)),
        ("# fast_loading: false\nslow_fast_loading: false\n", "True", "native", ("data.py", 8)),
        (None, "True", "native", ("data.py", 8)),
        (None, "False", "python", ("data.py", 8)),
        (None, "unknown()", "cannot_tell", ("data.py", 8)),
        ("data:\n  fast_loading: ${env}\n", "unknown()", "cannot_tell", ("data.py", 8)),
    ],
)
def test_the_way_of_a_pipeline_with_two(tmp_path, config, default, kind, place):
    loader = loader_of(tmp_path, config, default)
    assert (loader["kind"], loader["file"], loader["line"]) == (kind, *place), loader
    assert ("where that fails, the code goes through Python" in loader["text"]) == (kind == "native")


def test_a_script_that_sets_the_key_decides_or_contradicts(tmp_path):
    train = "config = DataConfig(\n    fast_loading=False, slow_loading=True, other=3,\n)\n"
    loader = loader_of(tmp_path, train=train)
    assert (loader["kind"], loader["file"], loader["line"]) == ("python", "train.py", 2)
    loader = loader_of(tmp_path, "fast_loading: true\n", train=train)
    assert loader["kind"] == "cannot_tell" and "it depends on which script trains" in loader["text"]
    settings = "class DataConfig:\n    slow: bool = True\n    fast_loading: bool = False\n"
    loader = loader_of(tmp_path, train="", settings=settings)
    assert (loader["kind"], loader["file"], loader["line"]) == ("python", "settings.py", 3)


def test_the_python_way_beside_a_native_one_only_warns(tmp_path):
    write(tmp_path, {"data.py": TWO_WAYS.replace("DEFAULT", "True")})
    (one,) = scan(str(tmp_path))["finds"]
    assert (one["rule"], one["status"], one["certainty"]) == ("python_in_pipeline", "warn", "low")
    assert "fast_loading" in one["text"]


def test_the_loader_that_trains_is_named_with_its_data_set(tmp_path):
    data = """\
        class Other:
            pass

        class Clips(Base):
            pass

        class Base:
            def __getitem__(self, i):
                return i
        """
    train = """\
        from torch.utils.data import DataLoader
        from data import Clips

        def main():
            clips = Other()
            clips = Clips()
            val_loader = DataLoader(Clips(), num_workers=1)
            loader = DataLoader(clips, shuffle=True, num_workers=1, persistent_workers=True)
            clips = Other()

        def other():
            clips = Other()
        """
    write(tmp_path, {"data.py": data, "train.py": train, "eval.py": LOADER})
    loader = scan(str(tmp_path))["loader"]
    assert (loader["kind"], loader["file"], loader["line"]) == ("DataLoader", "train.py", 8)
    assert (loader["dataset"], loader["getitem"]) == ("Clips", "data.py:8")
    assert loader["text"].endswith("DataLoader over Clips, whose __getitem__ is in data.py:8")
    write(tmp_path, {"train.py": "import tensorflow as tf\na = tf.data.Dataset.range(3)\n", "eval.py": ""})
    assert scan(str(tmp_path))["loader"]["kind"] == "tf.data"
    write(tmp_path, {"train.py": "print(1)\n"})
    assert scan(str(tmp_path))["loader"]["kind"] == "cannot_tell"


# ---- the package


CHILD = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
sys.argv[:2] = ["code_scan"]
runpy.run_module("code_scan", run_name="__main__")
"""


def run_child(*arguments):
    """Runs the scan as the doctor does: a copy of the modules alone, and the standard library."""
    command = [sys.executable, "-I", "-S", "-B", "-c", CHILD, str(DOCTOR), *map(str, arguments)]
    return ran(*command)


def scan_in_child(folder):
    done = run_child(folder)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)


def test_the_standard_library_is_enough(tmp_path):
    write(tmp_path, {"train.py": LOADER, "c.yaml": "a: 1\n"})
    done = run_child(tmp_path, "--config", tmp_path / "c.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == scan(str(tmp_path), str(tmp_path / "c.yaml"))


def test_two_scans_give_the_same_bytes():
    first, second = run_child(PROJECT / "samples"), run_child(PROJECT / "samples")
    assert first.returncode == 0 and first.stdout == second.stdout


def test_user_code_is_never_run(tmp_path):
    write(tmp_path, {"train.py": f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(3)\n"})
    assert scan_in_child(tmp_path)["files_read"] == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_python_3_8_can_run_it(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    newer = {"removeprefix", "removesuffix", "unparse", "cache", "pairwise", "is_relative_to"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            assert node.attr not in newer, node.attr
        if isinstance(node, ast.Call):
            assert not {"strict", "slots", "kw_only"} & {keyword.arg for keyword in node.keywords}
    is_future = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    assert is_future or path.name == "__init__.py"
