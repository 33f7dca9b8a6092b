"""The code scan: files that are made to stop it, and projects whose names mislead it."""

import importlib
import textwrap
import time

import pytest
from xtts_advise.measure.code_scan import scan


def written(folder, files):
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return str(folder)


def places(folder, rule):
    return [(one["file"], one["line"]) for one in scan(folder)["finds"] if one["rule"] == rule]


@pytest.mark.parametrize("encoding", ["rot13", "hex", "no-such-encoding"])
def test_an_unknown_encoding_stops_no_other_file(tmp_path, encoding):
    folder = written(tmp_path, {"a.py": f"# -*- coding: {encoding} -*-\nx = 1\n", "b.py": "x = 1\n"})
    result = scan(folder)
    assert result["files_read"] == 1
    assert result["not_read"] == [{"file": "a.py", "reason": "it is in an unknown encoding"}]


def test_a_file_of_gigabytes_is_not_read_to_its_first_line_end(tmp_path):
    with open(tmp_path / "a.py", "wb") as file:
        file.truncate(3 << 30)
    start = time.monotonic()
    assert scan(str(tmp_path))["not_read"] == [{"file": "a.py", "reason": "it is larger than 2 MiB"}]
    assert time.monotonic() - start < 2


# Three thousand functions of one name call one another: the answer about a name is kept.
@pytest.mark.parametrize("step", ["run(b).backward()", "with tf.GradientTape() as tape: tape.gradient(run(b))"])
def test_many_functions_of_one_name_are_soon_judged(tmp_path, step):
    function = f"def run(batches):\n    for b in batches:\n        {step}\n"
    folder = written(tmp_path, {"train.py": "import tensorflow as tf\n" + function * 3000})
    start = time.monotonic()
    result = scan(folder)
    assert result["not_read"] == []
    assert time.monotonic() - start < 20  # it took over a minute; now 2 s


def test_many_loaders_of_one_function_are_soon_judged(tmp_path):
    loader = "    a{0} = DataLoader(d)\n    for b in a{0}:\n        f(b).backward()\n"
    text = "from torch.utils.data import DataLoader\ndef main():\n"
    folder = written(tmp_path, {"train.py": text + "".join(loader.format(number) for number in range(2000))})
    start = time.monotonic()
    assert len(places(folder, "no_workers")) == 1000  # as many finds as are told
    assert time.monotonic() - start < 20  # it took minutes; now 2 s


# Three thousand functions that call Python are each looked for in three thousand pipelines.
def test_many_pipelines_end_within_the_time_of_the_rules(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("xtts_advise.measure.code_scan.scan"), "_SECONDS_MAX", 1.0)
    text = "import tensorflow as tf\ndef make():\n"
    text += "".join(f"    tf.data.Dataset.list_files('x').map(g{number})\n" for number in range(3000))
    text += "".join(f"def g{number}(p):\n    return tf.numpy_function(h, [p], tf.int32)\n" for number in range(3000))
    start = time.monotonic()
    result = scan(written(tmp_path, {"train.py": text}))
    assert time.monotonic() - start < 12  # reading included
    assert "python_in_pipeline" in {one["rule"] for one in result["finds"]}


# `train` of one file is compiled by TensorFlow, which says nothing of PyTorch's train().
def test_a_name_compiled_by_tensorflow_hides_no_wait_of_pytorch(tmp_path):
    folder = written(
        tmp_path,
        {
            "train_torch.py": """\
                import torch

                def train(model, batches):
                    total = 0
                    for batch in batches:
                        loss = model(batch.cuda())
                        loss.backward()
                        total += loss.item()
                """,
            "other_tf.py": """\
                import tensorflow as tf

                @tf.function
                def call(self, x):
                    return self.train(x)
                """,
        },
    )
    assert places(folder, "host_sync") == [("train_torch.py", 8)]


def test_a_value_that_is_fetched_under_its_own_name_waits(tmp_path):
    folder = written(
        tmp_path,
        {
            "train.py": """\
                import torch

                def train(model, batches):
                    for batch in batches:
                        loss = model(batch.cuda()) / len(batch)
                        loss.backward()
                        loss = loss.item()
                        print(float(loss))
                """
        },
    )
    assert places(folder, "host_sync") == [("train.py", 7)]


def test_the_backward_of_an_operation_is_no_step(tmp_path):
    folder = written(
        tmp_path,
        {
            "scaling.py": """\
                import torch

                class Penalty(torch.autograd.Function):
                    @staticmethod
                    def backward(ctx, gradient):
                        metric = measure(gradient)
                        metric.backward()
                        return metric.item()

                def train(model, batches):
                    for batch in batches:
                        model(batch).backward()
                """
        },
    )
    assert places(folder, "host_sync") == []


def test_a_data_set_that_only_its_own_file_tries_is_doubtful(tmp_path):
    data_set = """\
        import librosa
        class {0}:
            def __getitem__(self, i):
                return librosa.load(i)
        if __name__ == "__main__":
            {0}()[0]
        """
    used = "from b import B\nfor x in B():\n    x.backward()\n"
    folder = written(tmp_path, {"a.py": data_set.format("A"), "b.py": data_set.format("B"), "train.py": used})
    finds = [(one["file"], one["certainty"]) for one in scan(folder)["finds"]]
    assert finds == [("a.py", "low"), ("b.py", "high")]


def test_a_loader_of_validation_may_be_called_va(tmp_path):
    text = """\
        from torch.utils.data import DataLoader
        va_loader = DataLoader(clips)
        loader = DataLoader(clips)
        """
    assert places(written(tmp_path, {"train.py": text}), "no_workers") == [("train.py", 3)]
