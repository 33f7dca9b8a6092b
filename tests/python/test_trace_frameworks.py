"""`xtts-precompute trace` on trainings of PyTorch and TensorFlow. tests/advise/planted has many more."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support import ran

PACKAGES = str(Path(__import__("xtts_advise").__file__).parent.parent)

TORCH = """
    import csv, hashlib, torch
    from torch.utils.data import DataLoader, Dataset

    class Clips(Dataset):
        def __len__(self):
            return 96

        def __getitem__(self, index):
            with open("list.csv", newline="") as file:
                rows = list(csv.reader(file))
            generator = torch.Generator().manual_seed(int(rows[index][0]))
            return torch.randn(400, generator=generator)

    def main():
        torch.manual_seed(3)
        torch.set_num_threads(1)
        model = torch.nn.Linear(400, 1)
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        digest = hashlib.sha256()
        for _ in range(2):
            for batch in DataLoader(Clips(), 4, shuffle=True, num_workers=2):
                digest.update(batch.numpy().tobytes())
                loss = model(batch).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        print(digest.hexdigest())

    if __name__ == "__main__":
        main()
"""

# As Lightning does it: one call of the trainer's own trains and validates, batches are counted, the optimizer calls the
# model. The loader is left before it could say that it has no more.
LIBRARY = """
    import time

    def fit(model, optimizer, loader, validation):
        for _ in range(3):
            batches = iter(loader)
            for _ in range(len(loader)):
                optimizer.step(lambda batch=next(batches): closure(model, batch))
            validate(model, validation)

    def closure(model, batch):
        loss = sum(model(batch).pow(2).mean() for _ in range(100))
        loss.backward()
        return loss

    def validate(model, loader):
        batches = iter(loader)
        for _ in range(len(loader)):
            next(batches)
            time.sleep(0.2)
"""

FITTED = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    import fitting

    def main():
        torch.set_num_threads(1)
        model = torch.nn.Linear(400, 300)
        clips = TensorDataset(torch.randn(40, 400))
        def pad(rows):
            return torch.stack([row for row, in rows])
        fitting.fit(model, torch.optim.SGD(model.parameters(), 1e-3), DataLoader(clips, 4, collate_fn=pad),
                    DataLoader(clips, 20, collate_fn=pad))

    main()
"""

TENSORFLOW = """
    import tensorflow as tf

    @tf.function
    def step(batch, number):
        total = tf.constant(0.0)
        for _ in range(60):
            total = tf.math.sin(total + tf.reduce_sum(batch)) * number
        return total

    number = 0
    for batch in tf.data.Dataset.from_tensor_slices(tf.ones((40, 8))).batch(2):
        number += 1
        step(batch, number)
"""

# Keras takes its batches within the compiled step. The trainer's own profile of later steps goes on.
KERAS = """
    import os, time
    import keras, numpy as np, tensorflow as tf

    def slow(batch):
        time.sleep(0.05)
        return batch

    def clips(batch):
        return tf.ensure_shape(tf.numpy_function(slow, [batch], tf.float32), (4, 8)), tf.ones((4, 1))

    class Profiled(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 20:
                tf.profiler.experimental.start("profile")
            if batch == 22:
                tf.profiler.experimental.stop()

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices(np.ones((160, 8), "f")).batch(4).map(clips).prefetch(1)
    model.fit(data, verbose=0, callbacks=[Profiled()])
    print(os.listdir("profile"))
"""

# Where a data set's length is not known, a strategy asks each device's iterator whether it has a batch.
MIRRORED = """
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    data = tf.data.Dataset.range(200).filter(lambda number: number >= 0).batch(4, drop_remainder=True)

    @tf.function
    def step(batch):
        return strategy.run(lambda one: one + 1, args=(batch,))

    batches = 0
    for _ in range(2):
        for batch in strategy.experimental_distribute_dataset(data):
            step(batch)
            batches += 1
    print(batches)
"""

EAGER = """
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Dense(900, activation="relu") for _ in range(3)])
    optimizer = keras.optimizers.Adam()
    for batch in tf.data.Dataset.from_tensor_slices(tf.random.normal((1200, 900), seed=1)).batch(40):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.mean_squared_error(batch, model(batch, training=True)))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""

COMPILED = """
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Dense(900, activation="relu") for _ in range(3)])
    optimizer = keras.optimizers.Adam()

    @tf.function(jit_compile=XLA)
    def step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(batch - model(batch, training=True)))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

    for batch in tf.data.Dataset.from_tensor_slices(tf.random.normal((1200, 900), seed=1)).batch(40):
        step(batch)
"""

IN_STEP = """
    import time
    import tensorflow as tf

    def durations(batch):
        time.sleep(0.03)
        return batch

    @tf.function
    def step(batch):
        return tf.reduce_sum(tf.numpy_function(durations, [batch], tf.float32))

    for batch in tf.data.Dataset.from_tensor_slices(tf.ones((80, 8))).batch(2):
        step(batch)
"""


def traced(tmp_path: Path, program: str) -> tuple[str, dict[str, Any]]:
    """Returns what the program printed, and the report."""
    (tmp_path / "train.py").write_text(textwrap.dedent(program), encoding="utf-8")
    trace = [sys.executable, "-m", "xtts_advise", "trace", "--out", "report.json", "--", sys.executable, "train.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")])}
    ended = ran(*trace, cwd=tmp_path, env=environment, timeout=600)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))


def test_a_list_that_each_sample_reads_is_named_and_the_batches_stay(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "list.csv").write_text("".join(f"{number},some words\n" for number in range(6000)), encoding="utf-8")
    printed, report = traced(tmp_path, TORCH)
    plain = ran(sys.executable, "train.py", cwd=tmp_path, timeout=600)
    assert printed == plain.stdout
    assert (report["workers"], report["steps"]) == (2, 48)
    assert parts_of(report)["data"] == report["wait_ms"]
    first = report["findings"][0]
    assert first["function"] == "Clips.__getitem__"
    assert first["cause"] == "table"
    assert first["share"] > 0.3


def parts_of(report: dict[str, Any]) -> dict[str, float]:
    parts = {part["name"]: part["ms"] for part in report["parts"]}
    assert sum(parts.values()) == pytest.approx(report["step_ms"], rel=0.02)
    return parts


def test_a_librarys_loop_trains_and_validates_by_one_call(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "fitting.py").write_text(textwrap.dedent(LIBRARY), encoding="utf-8")
    program = "import sys; sys.path.insert(0, 'site-packages')\n" + textwrap.dedent(FITTED)
    _, report = traced(tmp_path, program)
    assert report["steps"] == 29  # nothing tells when the last one ended
    assert report["step_ms"] < 200  # a validation takes 400
    parts = {part["name"]: part["ms"] for part in report["parts"]}
    assert "validation" not in parts and parts["forward"] + parts["backward"] > 0.5 * report["step_ms"]
    validation = next(finding for finding in report["findings"] if finding["cause"] == "validation")
    assert validation["evidence"] == ["4 batches of main"]  # the third one's is not within the training


def test_the_parts_of_an_eager_step_of_tensorflow(tmp_path: Path) -> None:
    pytest.importorskip("keras", reason="TensorFlow's own Keras comes with it")
    pytest.importorskip("tensorflow")
    parts = parts_of(traced(tmp_path, EAGER)[1])
    assert {"forward", "backward", "optimizer"} <= set(parts), parts


@pytest.mark.parametrize("xla", [False, True])
def test_the_parts_of_a_compiled_step(tmp_path: Path, xla: bool) -> None:
    pytest.importorskip("keras", reason="TensorFlow's own Keras comes with it")
    pytest.importorskip("tensorflow")
    _, report = traced(tmp_path, COMPILED.replace("XLA", str(xla)))
    parts = parts_of(report)
    told = {"forward", "backward", "optimizer"} & set(parts)
    assert (len(told), "step (XLA)" in parts) == ((0, True) if xla else (3, False)), parts
    assert any("XLA" in note for note in report["notes"]) == xla


def test_a_python_number_that_is_traced_again_is_named(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    _, report = traced(tmp_path, TENSORFLOW)
    first = report["findings"][0]
    assert first["cause"] == "traced again"
    assert "Python value" in first["evidence"][0]


def test_a_strategys_batch_is_one_for_all_devices(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    printed, report = traced(tmp_path, MIRRORED)
    assert report["steps"] == int(printed.split()[-1])


def test_keras_waits_for_batches_within_its_compiled_step(tmp_path: Path) -> None:
    pytest.importorskip("keras", reason="TensorFlow's own Keras comes with it")
    pytest.importorskip("tensorflow")
    printed, report = traced(tmp_path, KERAS)
    assert printed == "['plugins']\n"
    assert report["wait_ms"] > 0.6 * report["step_ms"]
    assert next(iter(parts_of(report))) == "data"  # the step itself is less than a hundredth
    found = next(finding for finding in report["findings"][:2] if finding["call"] == "tf.py_function")
    assert "slow runs in Python for each clip" in found["title"]
    assert found["cache"] == "yes"


def test_a_python_function_within_the_step_is_no_matter_of_a_cache(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    _, report = traced(tmp_path, IN_STEP)
    first = report["findings"][0]
    assert "durations runs in Python within the step" in first["title"]
    assert first["cache"] == "no"
