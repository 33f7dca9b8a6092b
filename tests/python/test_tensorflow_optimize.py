"""xp.tensorflow.optimize(): each switch keeps a user's elements and order, and does what it says."""

import os
import threading
import time

import numpy as np
import pytest
import xtts_precompute as xp
from support import framework

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = framework("tensorflow")

ALL_OFF = {"static_shapes": False, "options": False}


def rows(count):
    """Returns elements of each structure, as (name, data set of single rows)."""
    numbers = tf.data.Dataset.range(count)
    mel = numbers.map(lambda n: tf.random.stateless_normal([5, 3], [n, 7]))
    return {
        "tensor": mel,
        "tuple": tf.data.Dataset.zip((numbers, mel)),
        "dict": tf.data.Dataset.zip({"n": numbers, "mel": mel, "id": numbers.map(tf.strings.as_string)}),
        "nested": tf.data.Dataset.zip(({"mel": mel, "pair": (numbers, mel)}, numbers)),
    }


STRUCTURES = tuple(rows(1))


def listed(dataset, count=100):
    return [tf.nest.map_structure(lambda tensor: tensor.numpy(), element) for element in dataset.take(count)]


def same(ours, theirs, count=100):
    ours, theirs = listed(ours, count), listed(theirs, count)
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs):
        tf.nest.assert_same_structure(one, other)
        for mine, yours in zip(tf.nest.flatten(one), tf.nest.flatten(other)):
            np.testing.assert_array_equal(mine, yours, strict=True)
    return True


def twice(*row):
    """Doubles floats of a row, in any structure."""
    row = row[0] if len(row) == 1 else row
    return tf.nest.map_structure(lambda tensor: tensor * 2 if tensor.dtype.is_floating else tensor, row)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("end", ["short", "whole", "infinite"])
class TestElementsStayTheSame:
    def dataset(self, structure, end):
        made = rows({"short": 10, "whole": 12, "infinite": 10}[end])[structure]
        return (made.repeat() if end == "infinite" else made).batch(4)

    def test_by_default(self, structure, end):
        plain = self.dataset(structure, end)
        ours = xp.tensorflow.optimize(plain)
        assert same(ours, plain) and int(ours.cardinality()) == int(plain.cardinality())
        known = [spec.shape[0] for spec in tf.nest.flatten(ours.element_spec)]
        assert set(known) == {None if end == "short" else 4}

    def test_all_off(self, structure, end):
        plain = self.dataset(structure, end)
        assert xp.tensorflow.optimize(plain, **ALL_OFF) is plain

    def test_with_all_switches(self, structure, end):
        plain = self.dataset(structure, end)
        ours = xp.tensorflow.optimize(
            plain, vectorized_map=twice, prefetch_to_device=True, cache=None if end == "infinite" else True
        )
        assert same(ours, plain.unbatch().map(twice).batch(4))
        if end != "infinite":
            assert same(ours, plain.unbatch().map(twice).batch(4))  # the second pass comes from the cache


class TestInterleave:
    def read(self, number):
        return tf.data.Dataset.range(3).map(lambda place: number * 10 + place)

    def test_keeps_the_order_of_flat_map(self):
        numbers = tf.data.Dataset.range(20)
        assert same(xp.tensorflow.optimize(numbers, interleave=self.read), numbers.flat_map(self.read))
        endless = numbers.repeat()
        assert same(xp.tensorflow.optimize(endless, interleave=self.read), endless.flat_map(self.read))

    def test_of_tuples(self):
        pairs = tf.data.Dataset.from_tensor_slices((np.arange(4), np.arange(4) * 2))
        assert same(
            xp.tensorflow.optimize(pairs, interleave=lambda a, b: tf.data.Dataset.from_tensors({"sum": a + b})),
            pairs.map(lambda a, b: {"sum": a + b}),
        )

    def test_reads_ahead(self):
        running, most, lock = [0], [0], threading.Lock()

        def slow(number):
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.05)
            with lock:
                running[0] -= 1
            return number

        def read(number):
            return tf.data.Dataset.from_tensors(number).map(lambda n: tf.numpy_function(slow, [n], tf.int64))

        got = listed(xp.tensorflow.optimize(tf.data.Dataset.range(12), interleave=read))
        assert [int(number) for number in got] == list(range(12))
        assert most[0] > 1

    def test_a_cycle_takes_turns(self):
        ours = xp.tensorflow.optimize(
            tf.data.Dataset.range(2), interleave={"map_func": self.read, "cycle_length": 2, "block_length": 1}
        )
        assert [int(number) for number in listed(ours)] == [0, 10, 1, 11, 2, 12]

    @pytest.mark.parametrize("wrong", [3, "read", {}, {"map_func": 3}, {"map_func": print, "cycle": 3}])
    def test_wrong(self, wrong):
        with pytest.raises(xp.InvalidArgumentError, match="interleave"):
            xp.tensorflow.optimize(tf.data.Dataset.range(2), interleave=wrong)


class TestStaticShapes:
    numbers = tf.data.Dataset.range(12)

    @pytest.mark.parametrize(
        "make",
        [
            lambda numbers: numbers.batch(4),
            lambda numbers: numbers.batch(4, num_parallel_calls=2),
            lambda numbers: numbers.padded_batch(4),
            lambda numbers: numbers.shuffle(12, seed=1, reshuffle_each_iteration=False).repeat().batch(4).prefetch(2),
            lambda numbers: numbers.batch(4).cache().filter(lambda batch: batch[0] > 0).repeat(2).skip(1).take(2),
        ],
    )
    def test_known(self, make):
        plain = make(self.numbers)
        ours = xp.tensorflow.optimize(plain)
        assert plain.element_spec.shape.as_list() == [None] and ours.element_spec.shape.as_list() == [4]
        assert same(ours, plain)

    @pytest.mark.parametrize(
        "make",
        [
            lambda numbers: numbers.batch(5),
            lambda numbers: numbers.filter(lambda number: number > 2).batch(4),
            lambda numbers: numbers.batch(4).map(lambda batch: batch[:2]),
            lambda numbers: numbers.batch(4).concatenate(numbers.batch(5)),
            lambda numbers: numbers.batch(4).unbatch(),
            lambda numbers: numbers.ragged_batch(4).map(lambda batch: batch),
            lambda numbers: numbers.window(4),
        ],
    )
    def test_not_known(self, make):
        plain = make(self.numbers)
        assert xp.tensorflow.optimize(plain, options=False) is plain

    def test_names_may_be_left_out(self):
        plain = rows(8)["dict"].batch(4).map(lambda batch: batch)
        ours = xp.tensorflow.optimize(plain, static_shapes={"mel": (4, None, 3), "id": [4]})
        shapes = {name: spec.shape.as_list() for name, spec in ours.element_spec.items()}
        assert shapes == {"mel": [4, 5, 3], "id": [4], "n": [None]} and same(ours, plain)

    def test_of_tuples_and_tensors(self):
        plain = rows(8)["nested"].batch(4)
        ours = xp.tensorflow.optimize(plain, static_shapes=({"pair": (None, [4, 5, 3])}, (4,)))
        assert ours.element_spec[0]["pair"][0].shape.as_list() == [None]
        assert ours.element_spec[0]["pair"][1].shape.as_list() == [4, 5, 3]
        assert ours.element_spec[1].shape.as_list() == [4] and same(ours, plain)
        assert xp.tensorflow.optimize(self.numbers.batch(4), static_shapes=[4]).element_spec.shape.as_list() == [4]

    def test_an_element_of_another_shape_is_an_error(self):
        ours = xp.tensorflow.optimize(tf.data.Dataset.range(10).batch(4), static_shapes=(4,))
        with pytest.raises(tf.errors.InvalidArgumentError):
            listed(ours)

    @pytest.mark.parametrize(
        "wrong", [{"mle": (4,)}, (4,), {"mel": (4, 5, 9)}, {"mel": (4, 5)}, {"mel": "x"}, {"mel": 3}]
    )
    def test_wrong(self, wrong):
        with pytest.raises(xp.InvalidArgumentError):
            xp.tensorflow.optimize(rows(8)["dict"].batch(4), static_shapes=wrong)

    def test_ragged_tensors_have_none(self):
        plain = tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))
        with pytest.raises(xp.InvalidArgumentError, match="Ragged"):
            xp.tensorflow.optimize(plain, static_shapes=(2, 2))
        assert len(list(xp.tensorflow.optimize(plain))) == 1

    def test_a_step_is_traced_once(self):
        traces = []

        @tf.function
        def step(batch):
            traces.append(batch.shape)
            return tf.reduce_sum(batch)

        for batch in xp.tensorflow.optimize(tf.data.Dataset.range(10).repeat().batch(4)).take(9):
            step(batch)
        assert traces == [[4]]


class TestOptions:
    def test_what_is_set(self):
        options = xp.tensorflow.optimize(tf.data.Dataset.range(3)).options()
        assert options.threading.private_threadpool_size >= 1
        assert options.threading.max_intra_op_parallelism == 1
        assert options.experimental_optimization.filter_parallelization
        assert options.deterministic is None  # TensorFlow's default keeps the order

    def test_the_users_own_stay(self):
        mine = tf.data.Options()
        mine.threading.private_threadpool_size = 3
        mine.experimental_optimization.filter_fusion = False
        mine.deterministic = False
        options = xp.tensorflow.optimize(tf.data.Dataset.range(3).with_options(mine)).options()
        assert options.threading.private_threadpool_size == 3 and options.deterministic is False
        assert options.experimental_optimization.filter_fusion is False
        assert options.threading.max_intra_op_parallelism == 1

    def test_filters_keep_the_order(self):
        plain = tf.data.Dataset.range(500).filter(lambda n: n % 3 > 0).filter(lambda n: n % 5 > 0)
        assert same(xp.tensorflow.optimize(plain), plain, 500)

    def test_given(self):
        given = tf.data.Options()
        given.deterministic = False
        options = xp.tensorflow.optimize(tf.data.Dataset.range(3), options=given).options()
        assert options.deterministic is False and options.threading.private_threadpool_size is None

    def test_wrong(self):
        with pytest.raises(xp.InvalidArgumentError, match="options"):
            xp.tensorflow.optimize(tf.data.Dataset.range(3), options="fast")


class TestCache:
    def counting(self, calls):
        def count(number):
            calls.append(int(number))
            return number

        return tf.data.Dataset.range(5).map(lambda n: tf.numpy_function(count, [n], tf.int64))

    @pytest.mark.parametrize("in_file", [False, True])
    def test_the_second_pass_computes_nothing(self, in_file, tmp_path):
        calls = []
        ours = xp.tensorflow.optimize(self.counting(calls), cache=tmp_path / "cache" if in_file else True)
        assert listed(ours) == listed(ours) == list(range(5))
        assert sorted(calls) == list(range(5))
        assert any(tmp_path.iterdir()) == in_file

    def test_a_pass_that_is_broken_off_is_not_kept(self, tmp_path):
        calls = []
        ours = xp.tensorflow.optimize(self.counting(calls), cache=True)
        for _ in ours:
            break
        assert listed(ours) == list(range(5)) and listed(ours) == list(range(5))

    def test_random_functions_are_drawn_once_before_and_anew_after(self):
        noise = tf.data.Dataset.range(4).map(lambda n: tf.random.uniform([2])).batch(2)
        cached = xp.tensorflow.optimize(noise, cache=True)
        assert same(cached, cached)
        after = xp.tensorflow.optimize(noise, cache=True, vectorized_map=lambda row: row + tf.random.uniform([2]))
        assert not np.array_equal(listed(after), listed(after))

    def test_infinite(self):
        with pytest.raises(xp.InvalidArgumentError, match="infinite"):
            xp.tensorflow.optimize(tf.data.Dataset.range(3).repeat(), cache=True)

    def test_wrong(self):
        with pytest.raises(xp.InvalidArgumentError, match="cache"):
            xp.tensorflow.optimize(tf.data.Dataset.range(3), cache=3)


class TestVectorizedMap:
    def test_a_function_without_a_vectorized_form(self):
        """Texts have none: TensorFlow takes them one by one, with the same result."""
        plain = rows(10)["dict"].batch(4)

        def change(row):
            return {"text": tf.strings.join(["<", row["id"], ">"]), "sum": tf.reduce_sum(row["mel"])}

        ours = listed(xp.tensorflow.optimize(plain, vectorized_map=change))
        for one, other in zip(ours, listed(plain.unbatch().map(change).batch(4))):
            np.testing.assert_array_equal(one["text"], other["text"])
            np.testing.assert_allclose(one["sum"], other["sum"], rtol=1e-5)

    def test_rows_of_tuples_come_as_arguments(self):
        pairs = tf.data.Dataset.from_tensor_slices((np.arange(6.0), np.arange(6))).batch(3)
        ours = xp.tensorflow.optimize(pairs, vectorized_map=lambda value, number: (value * 2, number))
        assert same(ours, pairs.unbatch().map(lambda value, number: (value * 2, number)).batch(3))

    def test_single_rows(self):
        with pytest.raises(xp.InvalidArgumentError, match="batch"):
            xp.tensorflow.optimize(tf.data.Dataset.range(3), vectorized_map=lambda row: row)
        with pytest.raises(xp.InvalidArgumentError, match="vectorized_map"):
            xp.tensorflow.optimize(tf.data.Dataset.range(3).batch(2), vectorized_map=3)


class TestPrefetchToDevice:
    def test_to_the_cpu(self):
        plain = rows(10)["dict"].batch(4)
        assert same(xp.tensorflow.optimize(plain, prefetch_to_device="/CPU:0"), plain)

    def test_to_the_gpu(self):
        gpus = tf.config.list_logical_devices("GPU")
        if not gpus:
            pytest.skip("TensorFlow finds no GPU here: nothing was copied to one")
        plain = rows(10)["tensor"].batch(4)
        for device in ("/GPU:0", True):
            ours = xp.tensorflow.optimize(plain, prefetch_to_device=device)
            assert same(ours, plain) and all("GPU:0" in batch.device for batch in ours)

    @pytest.mark.parametrize("wrong", ["/GPU:99", "GPU:99", "/job:none", "fast", "", 3])
    def test_wrong(self, wrong):
        with pytest.raises(xp.InvalidArgumentError, match="prefetch_to_device"):
            xp.tensorflow.optimize(tf.data.Dataset.range(3), prefetch_to_device=wrong)


def test_it_tells_what_it_did_and_why_it_did_nothing():
    lines = []
    numbers = tf.data.Dataset.range(64)
    made = xp.tensorflow.optimize(
        numbers.repeat().batch(8), vectorized_map=twice, prefetch_to_device=True, tell=lines.append
    )
    assert made.element_spec.shape == (8,)
    assert [line.partition(":")[0] for line in lines] == [
        "static_shapes", "vectorized_map", "options", "prefetch_to_device"
    ]  # fmt: skip
    assert "every element has 8 rows" in lines[0] and "private_threadpool_size=" in lines[2]
    lines.clear()
    options = tf.data.Options()
    options.threading.private_threadpool_size = 3
    xp.tensorflow.optimize(numbers, cache=True, options=options, tell=lines.append)
    assert lines == [
        "cache: the first pass is kept in memory",
        "static_shapes: nothing, because it is not known how many rows every element has",
        "options: private_threadpool_size=3",
    ]


def test_only_data_sets():
    with pytest.raises(xp.InvalidArgumentError, match=r"tf\.data\.Dataset"):
        xp.tensorflow.optimize([1, 2, 3])


def test_our_own_data_set_stays_as_it_is(path):
    plain = xp.tensorflow.dataset(path, batch_size=8, shuffle="none", fields=("mel", "mel_len"))
    spec = plain.element_spec
    ours = xp.tensorflow.optimize(plain)
    assert ours.element_spec == spec
    assert same(ours, xp.tensorflow.dataset(path, batch_size=8, shuffle="none", fields=("mel", "mel_len")))


def test_a_keras_model_trains_on_it():
    pairs = tf.data.Dataset.from_tensor_slices((np.ones((12, 4), np.float32), np.ones((12, 1), np.float32)))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    ours = xp.tensorflow.optimize(pairs.repeat().batch(4), prefetch_to_device=True)
    model.fit(ours, steps_per_epoch=3, epochs=1, verbose=0)
