"""create_tf_dataset(): the trainer's tuple in TensorFlow, with static shapes, traced once."""

import inspect
import os
import sys

import myxtts_support
import numpy as np
import pytest
import xtts_precompute as xp
from support import MAX_FRAMES, MAX_TOKENS, PADDING, RESIDENT_KIB, framework, make_corpus, ran, run_python

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = framework("tensorflow")

TYPES = (tf.int32, tf.float32, tf.int32, tf.int32)
WAITS_FOR_SLOTS = True  # TensorFlow lets go of batches, not the test


def opened(path, keys=None, **options):
    return myxtts_support.opened(path, {"batch_size": 5, **(keys or {})}, **options)


def shapes(rows, tokens=MAX_TOKENS, frames=MAX_FRAMES):
    return [(rows, tokens), (rows, frames, 80), (rows,), (rows,)]


def trained(truth):
    return sorted(clip_id for clip_id in truth.order if truth.clips[clip_id]["split"] == "train")


def known(truth):
    """Returns the clips by their first true frame, which differs for all."""
    named = {truth.mels[clip_id][0].astype(np.float32).tobytes(): clip_id for clip_id in truth.order}
    assert len(named) == len(truth.order)
    return named


def check(batch, truth, named):
    """Compares every number; returns the clips' ids."""
    ids = []
    for tokens, mel, text_len, mel_len in zip(*(part.numpy() for part in batch), strict=True):
        clip_id = named[mel[0].tobytes()]
        np.testing.assert_array_equal(mel, truth.padded_mel(clip_id, frames=len(mel)))
        np.testing.assert_array_equal(tokens, truth.padded_tokens(clip_id)[: len(tokens)])
        assert (text_len, mel_len) == (len(truth.tokens[clip_id]), len(truth.mels[clip_id]))
        ids.append(clip_id)
    return ids


def test_the_arguments_are_those_of_the_trainer():
    assert str(inspect.signature(xp.myxtts.Dataset.create_tf_dataset)).startswith(
        "(self, batch_size: 'int | None' = None, shuffle: 'bool' = True, repeat: 'bool' = True, "
        "prefetch: 'bool' = True, memory_cache: 'bool' = False, "
        "num_parallel_calls: 'int | None' = None, buffer_size_multiplier: 'int' = 10, drop_remainder: "
        "'bool | None' = None)"
    )


@pytest.mark.parametrize("form", ["lmdb-padded-float32", "hdf5-packed-float32", "lmdb-packed-float16"])
def test_shapes_are_static_and_numbers_the_caches(caches, truths, form):
    truth = truths(form)
    dataset = opened(caches(form)).create_tf_dataset(drop_remainder=True, repeat=False)
    assert [(tuple(spec.shape), spec.dtype) for spec in dataset.element_spec] == list(zip(shapes(5), TYPES))
    assert int(dataset.cardinality()) == len(trained(truth)) // 5 > 1
    ids = [clip_id for batch in dataset for clip_id in check(batch, truth, known(truth))]
    assert len(ids) == len(set(ids)) == len(trained(truth)) // 5 * 5 and set(ids) <= set(trained(truth))


def test_an_epochs_end_is_a_short_batch_unless_it_is_dropped(path, truth):
    dataset = opened(path).create_tf_dataset(repeat=False)
    assert [(tuple(spec.shape), spec.dtype) for spec in dataset.element_spec] == list(zip(shapes(None), TYPES))
    batches = list(dataset)
    clips = trained(truth)
    assert clips and len(clips) % 5 == 2
    assert [len(batch[0]) for batch in batches] == [5] * (len(clips) // 5) + [2]
    assert sorted(clip_id for batch in batches for clip_id in check(batch, truth, known(truth))) == clips


@pytest.mark.parametrize("drop_remainder", [True, False])
def test_batches_are_as_long_as_their_longest_clip_where_they_are_not_padded(path, truth, drop_remainder):
    dataset = opened(path, {"pad_to_fixed_length": False}).create_tf_dataset(
        repeat=False, drop_remainder=drop_remainder
    )
    assert [tuple(spec.shape) for spec in dataset.element_spec] == shapes(5 if drop_remainder else None, None, None)
    seen = set()
    for tokens, mel, text_len, mel_len in dataset:
        check((tokens, mel, text_len, mel_len), truth, known(truth))
        assert mel.shape[1] == max(mel_len.numpy()) and tokens.shape[1] == max(text_len.numpy())
        seen.add(mel.shape[1])
    assert len(seen) > 1


def test_it_repeats_for_ever_in_another_order_each_time(path, truth):
    dataset = opened(path).create_tf_dataset(drop_remainder=False)
    assert int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY
    per_epoch = -(-len(trained(truth)) // 5)
    batches = [check(batch, truth, known(truth)) for batch in dataset.take(3 * per_epoch)]
    epochs = [
        [clip_id for ids in batches[start : start + per_epoch] for clip_id in ids]
        for start in range(0, 3 * per_epoch, per_epoch)
    ]
    assert all(sorted(epoch) == trained(truth) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_without_shuffle_it_is_the_caches_order(path, truth):
    dataset = opened(path).create_tf_dataset(
        shuffle=False, repeat=False, prefetch=False, memory_cache=True, num_parallel_calls=2
    )
    ids = [clip_id for batch in dataset for clip_id in check(batch, truth, known(truth))]
    assert ids == [clip_id for clip_id in truth.order if truth.clips[clip_id]["split"] == "train"]


def test_batches_are_those_of_the_reader(path):
    dataset = opened(path, seed=7)
    for batch, expected in zip(dataset.create_tf_dataset(repeat=False), dataset.reader(drop_last=False), strict=True):
        for tensor, array in zip(batch, expected, strict=True):
            assert tensor.numpy().tobytes() == np.ascontiguousarray(array).tobytes()


def test_the_batch_size_of_the_call_comes_first(path):
    assert opened(path).create_tf_dataset(3, drop_remainder=True).element_spec[1].shape == (3, MAX_FRAMES, 80)


@pytest.mark.parametrize(
    "wrong",
    [{"batch_size": 0}, {"num_parallel_calls": 0}, {"shuffle": "yes"}, {"repeat": 2}, {"buffer_size_multiplier": 0}],
)
def test_a_wrong_argument_is_named(path, wrong):
    with pytest.raises(xp.InvalidArgumentError, match=next(iter(wrong))):
        opened(path).create_tf_dataset(**wrong)


def traces_of(dataset, count):
    traces = 0

    @tf.function
    def step(tokens, mel, text_len, mel_len):
        nonlocal traces
        traces += 1
        mask = tf.cast(tf.sequence_mask(mel_len, tf.shape(mel)[1]), tf.float32)
        return tf.reduce_sum(mel * mask[..., tf.newaxis]) + tf.cast(
            tf.reduce_sum(tokens) + tf.reduce_sum(text_len), tf.float32
        )

    by_epoch = []
    for number, batch in enumerate(dataset.take(count)):
        assert np.isfinite(step(*batch).numpy())
        if (number + 1) % 7 == 0:
            by_epoch.append(traces)
    return by_epoch


def test_a_step_is_traced_once(path):
    assert traces_of(opened(path).create_tf_dataset(drop_remainder=True), 70) == [1] * 10


def test_a_step_is_traced_once_more_for_the_short_batch(path):
    assert traces_of(opened(path).create_tf_dataset(drop_remainder=False), 70) == [2] * 10


def test_fixed_shapes_have_no_short_batch_in_training(path):
    assert opened(path).create_tf_dataset().element_spec[1].shape == (5, MAX_FRAMES, 80)
    assert traces_of(opened(path).create_tf_dataset(), 70) == [1] * 10
    for made in (
        opened(path).create_tf_dataset(repeat=False),
        opened(path, {"pad_to_fixed_length": False}).create_tf_dataset(),
    ):
        assert made.element_spec[1].shape[0] is None


def test_a_loop_inside_of_a_function_is_traced_once(path):
    dataset = opened(path).create_tf_dataset(drop_remainder=True, repeat=False)
    traces = 0

    @tf.function
    def epoch(batches):
        nonlocal traces
        traces += 1
        total = tf.constant(0)
        for _, mel, _, mel_len in batches:
            assert mel.shape == (5, MAX_FRAMES, 80)
            total += tf.reduce_sum(mel_len)
        return total

    assert all(int(epoch(dataset)) > 0 for _ in range(5)) and traces == 1


def test_keras_takes_it_as_it_is(path):
    dataset = (
        opened(path).create_tf_dataset(drop_remainder=True).map(lambda tokens, mel, text_len, mel_len: (mel, mel_len))
    )
    model = tf.keras.Sequential([tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    history = model.fit(dataset, epochs=2, steps_per_epoch=6, verbose=0)
    assert len(history.history["loss"]) == 2


def test_prefetch_to_gpu_without_one_says_so(path):
    if tf.config.list_logical_devices("GPU"):
        pytest.skip("there is a GPU")
    with pytest.warns(
        UserWarning, match="TensorFlow finds 0 GPUs, so there is no GPU 1: batches stay in the CPU's memory"
    ):
        dataset = opened(path, {"prefetch_to_gpu": True, "data_gpu": 0, "model_gpu": 1}).create_tf_dataset()
    assert "CPU" in next(iter(dataset))[1].device


def test_a_gpu_that_the_configuration_names_and_is_not_there_is_told(path):
    if tf.config.list_logical_devices("GPU"):
        pytest.skip("there is a GPU")
    with pytest.warns(UserWarning, match="data_gpu: TensorFlow finds 0 GPUs, so there is no GPU 0"):
        opened(path, {"data_gpu": 0}).create_tf_dataset()


@pytest.mark.parametrize("keys", [{"data_gpu": 0, "model_gpu": 0}, {"data_gpu": 0}, {}])
def test_batches_go_to_the_models_gpu(path, keys):
    if not tf.config.list_logical_devices("GPU"):
        pytest.skip("no GPU here")
    batch = next(iter(opened(path, {**keys, "prefetch_to_gpu": True}).create_tf_dataset(drop_remainder=True)))
    assert "GPU:0" in batch[1].device


MEMORY = (
    RESIDENT_KIB
    + """
import ctypes, sys
# malloc's memory per thread grows with the order in which TensorFlow's threads run, by 5 MiB on a
# busy machine. With one arena for all threads it grows by 1.5 MiB.
ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX
stderr = os.dup(2)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what TensorFlow says while it starts
import xtts_precompute as xp
config = {
    "max_mel_frames": 64, "max_text_tokens": 48, "max_text_length": 48, "batch_size": 5,
    "prefetch_buffer_size": 4, "use_tf_native_loading": False,
    "pad_to_fixed_length": sys.argv[2] == "fixed",
}
clips = xp.myxtts.open(config, sys.argv[1], settings={"features.pad_value": -3.25}, tokenizer="recipe")
dataset = clips.create_tf_dataset(drop_remainder=sys.argv[2] == "fixed")
del clips
sizes = []
next(iter(dataset))
os.dup2(stderr, 2)
for number, (tokens, mel, text_len, mel_len) in enumerate(dataset.take(7 * 100)):
    assert mel.shape[0] <= 5
    del tokens, mel, text_len, mel_len
    if number % (7 * 20) == 7 * 20 - 1:
        sizes.append(resident_kib())
# A leak grows all the time, in at least three of four rounds. A busy machine has shown two single
# steps, of 1.5 and 3 MiB.
steps = sorted(after - before for before, after in zip(sizes, sizes[1:]))
print(sizes, 4 * steps[1])
"""
)


@pytest.mark.parametrize("kind", ["fixed", "longest"])
def test_memory_stays_the_same_over_a_hundred_epochs(path, kind):
    assert int(run_python(MEMORY, path, kind, timeout_s=300).split()[-1]) < 4096


@pytest.mark.parametrize(
    "arguments", [{}, {"drop_remainder": True}, {"shuffle": False}, {"memory_cache": True, "num_parallel_calls": 2}]
)
@pytest.mark.parametrize("pads", [True, False])
def test_batches_at_runtime_are_those_of_the_cache(corpus, path, arguments, pads):
    stored = opened(path, {"pad_to_fixed_length": pads}).create_tf_dataset(repeat=False, **arguments)
    keys = {"pad_to_fixed_length": pads, "preprocessing_mode": "runtime"}
    made = opened(path, keys, data=corpus).create_tf_dataset(repeat=False, **arguments)
    assert made.element_spec == stored.element_spec
    assert int(made.cardinality()) == tf.data.UNKNOWN_CARDINALITY  # unknown until each clip has been computed
    pairs = list(zip(stored, made, strict=True))
    assert len(pairs) > 1
    for one, other in pairs:
        for first, second in zip(one, other, strict=True):
            assert first.shape == second.shape and first.numpy().tobytes() == second.numpy().tobytes()


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_an_epoch_without_a_batch_is_an_error_and_no_loop_for_ever(corpus, path, mode):
    dataset = opened(path, {"preprocessing_mode": mode}, data=corpus)
    with pytest.raises(
        xp.InvalidArgumentError,
        match="there is no batch in an epoch: 32 clips are chosen, .* give a smaller batch_size",
    ):
        dataset.create_tf_dataset(1000, drop_remainder=True)
    with pytest.raises(
        xp.InvalidArgumentError, match="no clip of the split 'test' is chosen: .*--overwrite --set corpus.train_split"
    ):
        opened(path, {"preprocessing_mode": mode}, data=corpus, split="test").create_tf_dataset()


@pytest.fixture
def with_a_reject(tmp_path):
    """Makes data of 24 clips, one of which turns out to be no sound."""
    make_corpus(tmp_path / "data", 24)
    (tmp_path / "data/clip-005.wav").write_bytes(b"no sound at all, but words about one")
    return tmp_path / "data"


@pytest.mark.filterwarnings("ignore:clip 'clip-005' is rejected")
def test_epochs_are_shorter_when_a_clip_was_rejected(with_a_reject):
    made = opened(None, {"preprocessing_mode": "runtime"}, data=with_a_reject, split=None)
    dataset = made.create_tf_dataset(4, repeat=False, drop_remainder=True)
    assert [sum(1 for _ in dataset) for _ in range(3)] == [6, 5, 5]


@pytest.mark.filterwarnings("ignore:clip 'clip-005' is rejected", "ignore:an epoch has no batch")
def test_a_later_epoch_without_a_batch_is_an_error_and_no_loop_for_ever(with_a_reject):
    dataset = opened(None, {"preprocessing_mode": "runtime"}, data=with_a_reject, split=None).create_tf_dataset(
        24, drop_remainder=True
    )
    batches = iter(dataset)
    assert next(batches)[1].shape == (24, MAX_FRAMES, 80)
    with pytest.raises(tf.errors.OpError, match="there is no batch in this epoch"):
        next(batches)


DROPPED = """
import gc, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import xtts_precompute as xp
path, corpus, mode, frames, tokens, padding = sys.argv[1:]
keys = {
    "max_mel_frames": int(frames), "max_text_length": int(tokens), "pad_to_fixed_length": True,
    "use_tf_native_loading": False, "batch_size": 8,
    "preprocessing_mode": mode,
}
dataset = xp.myxtts.open(
    keys, path, corpus, settings={"features.pad_value": float(padding)}, tokenizer="recipe", progress=False)
counts = []
for number in range(8):
    made = dataset.create_tf_dataset(shuffle=number % 2 == 0).map(lambda *batch: batch)
    seen = [part.shape for batch in made.take(6) for part in batch]
    del made
    assert len(seen) == 24, seen
    del seen
    gc.collect()
    counts.append(len(os.listdir("/proc/self/task")))
print(counts[-1] - counts[1])
"""


@pytest.mark.parametrize("mode", ["precompute", "runtime"])
def test_a_data_set_that_nobody_has_any_more_leaves_no_threads(corpus, path, mode):
    done = ran(
        sys.executable, "-c", DROPPED, path, corpus, mode, str(MAX_FRAMES), str(MAX_TOKENS), str(PADDING), timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 1  # TensorFlow's own come and go; ours were one or two for each data set
