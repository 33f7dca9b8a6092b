"""TensorFlow: the same bytes without copies, one trace for all epochs, tf.data, strategies."""

import json
import os

import numpy as np
import pytest
import xtts_precompute as xp
from runtime_support import runtime
from support import ALL_FIELDS, RESIDENT_KIB, SOME_FORMS, framework, make_corpus, run_python, same_bytes

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = framework("tensorflow")

TRAINER = ("tokens", "mel", "text_len", "mel_len")
WAITS_FOR_SLOTS = True  # TensorFlow lets go of batches, not the test


def check(batch, expected):
    assert same_bytes(batch["mel"], expected.mel) and same_bytes(batch["tokens"], expected.tokens)
    assert same_bytes(batch["mel_len"], expected.mel_len) and same_bytes(batch["text_len"], expected.text_len)
    assert same_bytes(batch["speaker"], expected.speaker) and same_bytes(batch["language"], expected.language)
    assert [name.decode() for name in np.asarray(batch["ids"])] == expected.ids + [""] * (
        len(expected) - expected.valid_count
    )


def address(tensor):
    return np.from_dlpack(tensor).ctypes.data


@pytest.mark.parametrize("form", SOME_FORMS)
@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_batches_are_those_of_the_reader(form, shuffle, caches):
    options = {"batch_size": 8, "shuffle": shuffle, "seed": 3, "drop_last": False}
    cache = xp.open(caches(form))
    loader = xp.tensorflow.Loader(cache, fields=ALL_FIELDS, **options)
    dataset = xp.tensorflow.dataset(cache, fields=ALL_FIELDS, **options)
    assert len(loader) == int(dataset.cardinality()) == 5
    count = 0
    for batch, element, expected in zip(loader, dataset, cache.reader(**options)):
        assert tuple(batch) == ALL_FIELDS and set(element) == set(ALL_FIELDS)  # TensorFlow sorts a dict's keys
        check(batch, expected)
        check(element, expected)
        count += 1
    assert count == 5


@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_memory_is_taken_as_it_is(shuffle, cache):
    reader = cache.reader(batch_size=8, shuffle=shuffle)
    loader = xp.tensorflow.Loader(cache, batch_size=8, shuffle=shuffle)
    for batch in reader:
        made = loader._convert(batch)
        for name in ("mel", "tokens", "mel_len", "text_len"):
            array = batch[name] if name in batch else getattr(batch, name)
            assert address(made[name]) == array.ctypes.data
        del made, batch


@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_nothing_writes_into_the_readers_memory(shuffle, cache):
    # TensorFlow reuses an argument's memory for a result if nothing else holds it. If that were the
    # cache's own file ("none"), it would end the process.
    reader = cache.reader(batch_size=8, shuffle=shuffle)
    loader = xp.tensorflow.Loader(cache, batch_size=8, shuffle=shuffle)
    batch = next(reader)
    before = batch.mel.copy()

    def mel():
        return loader._convert(batch)["mel"]

    tf.raw_ops.Relu(features=mel())
    tf.raw_ops.Neg(x=mel())
    mel() + 1.0
    tf.function(lambda x: tf.nn.relu(x + 1.0) * 2.0)(mel())
    tf.function(lambda x: tf.nn.relu(x + 1.0) * 2.0, jit_compile=True)(mel())
    tf.Variable(mel()).assign_add(tf.ones_like(before))
    for _ in tf.data.Dataset.from_tensors(mel()).map(lambda x: tf.raw_ops.Neg(x=x)):
        pass
    np.testing.assert_array_equal(batch.mel, before)


@pytest.mark.parametrize("shuffle", ["global", "none"])
def test_a_pipeline_behind_the_dataset_changes_nothing(shuffle, cache):
    options = {"batch_size": 8, "shuffle": shuffle, "seed": 2}
    dataset = xp.tensorflow.dataset(cache, fields=("mel",), structure=tuple, **options)
    changed = dataset.map(lambda x: tf.raw_ops.Neg(x=x)).map(lambda x: tf.nn.relu(x + 1.0))
    reader = cache.reader(**options)
    for _ in range(2):
        for mel, expected in zip(changed, reader):
            np.testing.assert_array_equal(mel, np.maximum(1 - expected.mel, 0))


@pytest.mark.parametrize("kind", ["loader", "dataset"])
@pytest.mark.parametrize("jit", [False, True])
def test_a_step_is_traced_once(kind, jit, cache):
    traces = []

    @tf.function(jit_compile=jit)
    def step(batch):
        traces.append(1)
        return tf.reduce_sum(batch["mel"]) + tf.cast(
            tf.reduce_sum(batch["tokens"] + batch["mel_len"][:, None]), tf.float32
        )

    make = {"loader": xp.tensorflow.Loader, "dataset": xp.tensorflow.dataset}[kind]
    batches = make(cache, batch_size=8, drop_last=False, fields=TRAINER)
    for _ in range(4):
        for batch in batches:
            step(batch)
    assert len(traces) == 1


def test_a_batch_goes_through_a_function_as_it_is(cache):
    batch = next(iter(xp.tensorflow.Loader(cache, batch_size=8, fields=ALL_FIELDS)))
    doubled = tf.function(lambda one: one.mel * 2)(batch)
    np.testing.assert_array_equal(doubled, batch.mel.numpy() * 2)
    assert type(tf.nest.map_structure(tf.identity, batch)) is xp.tensorflow.TensorBatch


def test_slots_come_back(cache, monkeypatch):
    monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 0)
    loader = xp.tensorflow.Loader(cache, batch_size=4, prefetch=3)

    def step(batch):
        raise RuntimeError(str(float(tf.reduce_sum(batch.mel))))

    for _ in range(30):
        with pytest.raises(RuntimeError):
            for batch in loader:
                step(batch)
        del batch
    batches = iter(loader)
    kept = [next(batches).mel for _ in range(3)]
    with pytest.raises(xp.BusyError, match="prefetch="):
        next(batches)
    del kept[0]
    assert next(batches).mel.shape == (4, 64, 80)


def test_integers_can_be_longer(cache):
    for batch in (
        next(iter(xp.tensorflow.Loader(cache, batch_size=8, integers="int64", device="/CPU:0"))),
        next(iter(xp.tensorflow.dataset(cache, batch_size=8, integers="int64"))),
    ):
        assert {batch[name].dtype for name in ("tokens", "text_len", "mel_len", "speaker")} == {tf.int64}
        np.testing.assert_array_equal(batch["tokens"], next(cache.reader(batch_size=8)).tokens)


@pytest.mark.skipif(not tf.config.list_physical_devices("GPU"), reason="no GPU here")
def test_gpu_batches_are_the_same(cache):
    loader = xp.tensorflow.Loader(cache, batch_size=8, device="/GPU:0", fields=ALL_FIELDS)
    for batch, expected in zip(loader, cache.reader(batch_size=8)):
        assert "GPU" in batch.mel.device and "CPU" in batch.mel_len.device
        check(batch, expected)
    for batch, expected in zip(xp.tensorflow.dataset(cache, batch_size=8, device="/GPU:0"), cache.reader(batch_size=8)):
        assert "GPU" in batch["mel"].device and same_bytes(batch["mel"], expected.mel)


# ---- tf.data


@pytest.mark.parametrize("form", SOME_FORMS)
def test_shapes_are_static(form, caches):
    dataset = xp.tensorflow.dataset(caches(form), batch_size=8, fields=TRAINER, structure=tuple)
    tokens, mel, text_len, mel_len = dataset.element_spec
    assert (tokens.shape, mel.shape, text_len.shape, mel_len.shape) == ((8, 48), (8, 64, 80), (8,), (8,))
    assert mel.dtype.name == form.split("-")[2] and tokens.dtype == text_len.dtype == mel_len.dtype == tf.int32


@pytest.mark.filterwarnings("ignore:clip 'clip-005' is rejected")
def test_epochs_of_clips_without_a_cache_may_become_shorter(tmp_path):
    make_corpus(tmp_path / "data", 24)
    (tmp_path / "data/clip-005.wav").write_bytes(b"no sound at all, but words about one")
    dataset = xp.tensorflow.dataset(runtime(tmp_path / "data"), batch_size=4, fields=("mel", "ids"))
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY and dataset.element_spec["mel"].shape == (
        4,
        64,
        80,
    )
    assert [sum(1 for _ in dataset) for _ in range(3)][1:] == [5, 5]
    repeated = xp.tensorflow.dataset(runtime(tmp_path / "data"), batch_size=4, fields=("mel", "ids"), repeat=True)
    assert int(repeated.cardinality()) == tf.data.INFINITE_CARDINALITY and sum(1 for _ in repeated.take(20)) == 20


def test_each_pass_is_an_epoch(cache):
    dataset = xp.tensorflow.dataset(cache, batch_size=8, seed=4, fields=("ids",), structure=tuple, first_epoch=3)
    reader = cache.reader(batch_size=8, seed=4)
    for epoch in (3, 4):
        reader.set_epoch(epoch)
        assert [list(ids.numpy().astype(str)) for (ids,) in dataset] == [batch.ids for batch in reader]
    for _ in dataset.take(2):
        pass
    reader.set_epoch(6)
    assert [list(ids.numpy().astype(str)) for (ids,) in dataset] == [batch.ids for batch in reader]
    endless = xp.tensorflow.dataset(cache, batch_size=8, seed=4, fields=("ids",), structure=tuple, repeat=True)
    expected = []
    reader.set_epoch(0)
    for _ in range(3):
        expected += [batch.ids for batch in reader]
    assert [list(ids.numpy().astype(str)) for (ids,) in endless.take(12)] == expected
    assert int(endless.cardinality()) == tf.data.INFINITE_CARDINALITY


def test_elements_may_be_kept(cache, monkeypatch):
    monkeypatch.setattr(xp._cache.reader, "_WAIT_FOR_SLOT_S", 0)
    expected = [np.array(batch.mel) for batch in cache.reader(batch_size=2, prefetch=64)]
    dataset = xp.tensorflow.dataset(cache, batch_size=2, prefetch=3, fields=("mel",), structure=tuple)
    kept = [mel for (mel,) in dataset]
    assert len(kept) == 18 and all(same_bytes(one, other) for one, other in zip(kept, expected))
    del kept
    cached = (
        xp.tensorflow.dataset(cache, batch_size=2, prefetch=3, fields=("mel",), structure=tuple)
        .cache()
        .prefetch(tf.data.AUTOTUNE)
    )
    for _ in range(3):
        assert all(same_bytes(one, other) for (one,), other in zip(cached, expected))


def test_buckets_have_their_own_shapes(cache):
    buckets = [{"batch_size": 6, "mel": 32}, {"batch_size": 4}]
    dataset = xp.tensorflow.dataset(cache, buckets=buckets, fields=("mel", "mel_len"), structure=tuple)
    assert dataset.element_spec[0].shape.as_list() == [None, None, 80]
    assert {mel.shape[:2] for mel, _ in dataset} == {(6, 32), (4, 64)}


def test_prefetching_to_a_device(cache):
    dataset = xp.tensorflow.dataset(cache, batch_size=8, device="/CPU:0", fields=("mel",), structure=tuple)
    assert all(same_bytes(mel, batch.mel) for (mel,), batch in zip(dataset, cache.reader(batch_size=8)))


def test_errors_say_what_to_do(cache, own_path):
    with pytest.raises(xp.InvalidArgumentError, match="give a smaller batch_size"):
        xp.tensorflow.dataset(cache, batch_size=64)
    with pytest.raises(xp.InvalidArgumentError, match="dict or tuple"):
        xp.tensorflow.dataset(cache, structure=list)
    with pytest.raises(xp.InvalidArgumentError, match="/GPU:0"):
        xp.tensorflow.Loader(cache, device=0)
    with pytest.raises(xp.NotFoundError, match="did you mean 'mel'"):
        xp.tensorflow.dataset(cache, fields=("mell",))


@pytest.mark.parametrize("device", ["/GPU:7", "gpu:7", "/device:GPU:7", "/CPU:3", "/CPU:0", "/CPU", "", None])
def test_a_device_that_is_not_there_is_told(device, cache):
    options = {"batch_size": 8, "device": device}
    if "7" in str(device) or "3" in str(device):
        with pytest.raises(xp.UnsupportedError, match=f"device is '{device}', and TensorFlow finds . device"):
            next(iter(xp.tensorflow.Loader(cache, **options)))
        with pytest.raises(xp.UnsupportedError, match=f"device is '{device}'"):
            xp.tensorflow.dataset(cache, **options)
    else:
        assert next(iter(xp.tensorflow.Loader(cache, **options))).mel.shape[0] == 8


def test_what_is_no_device_is_told(cache):
    with pytest.raises(xp.InvalidArgumentError, match="not 'banana:split'"):
        xp.tensorflow.dataset(cache, batch_size=8, device="banana:split")


def test_keras_trains(cache):
    dataset = xp.tensorflow.dataset(cache, batch_size=8, fields=("mel", "mel_len"), structure=tuple)
    model = tf.keras.Sequential([tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert len(model.fit(dataset, epochs=3, verbose=0).history["loss"]) == 3


def test_memory_stays_flat(path):
    said = run_python(
        RESIDENT_KIB
        + """
import sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
stderr = os.dup(2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what TensorFlow says while it starts
import tensorflow as tf, xtts_precompute as xp

@tf.function
def step(batch):
    return tf.reduce_sum(batch["mel"])

loader = xp.tensorflow.Loader(sys.argv[1], batch_size=4)
dataset = xp.tensorflow.dataset(sys.argv[1], batch_size=4)

def epochs(count):
    for _ in range(count):
        for batch in loader:
            step(batch)
        for batch in dataset:
            step(batch)

epochs(60)
before = resident_kib()
epochs(100)
print(resident_kib() - before)
os.dup2(stderr, 2)
""",
        path,
        timeout_s=300,
    )
    # One lost batch in each epoch would add up to 8 MiB.
    assert int(said) < 5000, f"{said} KiB more"


def test_a_program_may_end_while_batches_are_prefetched(path):
    for _ in range(4):
        run_python(
            """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
import tensorflow as tf, xtts_precompute as xp
iterator = iter(xp.tensorflow.dataset(sys.argv[1], batch_size=4, repeat=True, buffer=8))
batch = next(iterator)
batches = iter(xp.tensorflow.Loader(sys.argv[1], batch_size=4))
other = next(batches)
""",
            path,
        )


# ---- ranks


def test_pipelines_of_a_strategy_are_ranks(cache):
    context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    dataset = xp.tensorflow.dataset(
        cache,
        batch_size=context.get_per_replica_batch_size(16),
        fields=("ids",),
        structure=tuple,
        input_context=context,
    )
    expected = cache.reader(batch_size=4, rank=1, world_size=2)
    assert [list(ids.numpy().astype(str)) for (ids,) in dataset] == [batch.ids for batch in expected]


def test_workers_of_tf_config_are_ranks(monkeypatch):
    def with_task(kind, index, **cluster):
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}}))
        return xp.tensorflow.share()

    assert with_task("worker", 1, worker=["a", "b", "c"]) == (1, 3)
    assert with_task("worker", 1, chief=["z"], worker=["a", "b"]) == (2, 3) and with_task(
        "chief", 0, chief=["z"], worker=["a", "b"]
    ) == (0, 3)
    assert with_task("evaluator", 0, worker=["a", "b"]) == (0, 1) and with_task("worker", 0, worker=["a"]) == (0, 1)
    monkeypatch.delenv("TF_CONFIG")
    assert xp.tensorflow.share() == (0, 1)


# Begins a program of its own, because logical devices are chosen before the first use.
TWO_REPLICAS = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
stderr = os.dup(2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
import tensorflow as tf, xtts_precompute as xp

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/CPU:0", "/CPU:1"])
"""


def test_a_mirrored_strategy_trains(path):
    said = run_python(
        TWO_REPLICAS
        + """
batches = strategy.distribute_datasets_from_function(lambda context: xp.tensorflow.dataset(
    sys.argv[1], batch_size=context.get_per_replica_batch_size(8), input_context=context,
    fields=("mel", "ids"), structure=tuple))
traces, seen = [], []

@tf.function
def step(mel, ids):
    traces.append(1)
    return strategy.run(lambda mel, ids: (tf.reduce_sum(mel), ids), (mel, ids))

for mel, ids in batches:
    sums, names = step(mel, ids)
    for one in strategy.experimental_local_results(names):
        seen += one.numpy().astype(str).tolist()
assert len(traces) == 1, traces
print(len(seen), len(set(seen)))
os.dup2(stderr, 2)
""",
        path,
        timeout_s=120,
    )
    # There are 9 batches of 4 clips, two in a step: the last batch has no partner.
    assert said.split() == ["32", "32"]


def test_one_data_set_feeds_all_replicas(path):
    said = run_python(
        TWO_REPLICAS
        + """
whole = xp.tensorflow.dataset(sys.argv[1], batch_size=8, fields=("mel", "ids"), structure=tuple)
seen = []
for mel, ids in strategy.experimental_distribute_dataset(whole):
    parts = strategy.experimental_local_results(mel)
    assert [part.shape[0] for part in parts] == [4, 4], parts
    for one in strategy.experimental_local_results(ids):
        seen += one.numpy().astype(str).tolist()
expected = [name for batch in xp.open(sys.argv[1]).reader(batch_size=8) for name in batch.ids]
assert seen == expected
print(len(seen))
os.dup2(stderr, 2)
""",
        path,
        timeout_s=120,
    )
    assert said.split() == ["32"]
