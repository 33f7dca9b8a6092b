"""Of tf.data, and of steps that are not compiled."""

CASES = {
    "python_in_pipeline: a function that is handed to map": """\
        import tensorflow as tf

        def load(path):
            return tf.numpy_function(read, [path], tf.float32)  #! python_in_pipeline

        dataset = tf.data.Dataset.list_files("*.wav").map(load, num_parallel_calls=4).prefetch(1)
        """,
    "python_in_pipeline: a lambda, and a function behind another": """\
        import tensorflow as tf

        def inner(path):
            return tf.compat.v1.py_func(read, [path], tf.float32)  #! python_in_pipeline

        def outer(path):
            return inner(path), path

        a = tf.data.Dataset.range(3).map(outer, num_parallel_calls=2)
        b = tf.data.Dataset.range(3).map(lambda x: tf.py_function(read, [x], tf.int64), 2)  #! python_in_pipeline
        c = a.prefetch(1)
        """,
    "python_in_pipeline: not in validation, nor of another library": """\
        import other
        import tensorflow as tf

        def make_eval_data():
            data = tf.data.Dataset.from_generator(read, tf.int32).map(lambda x: tf.py_function(read, [x], tf.int64))
            return data.batch(8)

        def load(x):
            return other.py_function(read, x)

        def make_data():
            return tf.data.Dataset.range(8).map(load, num_parallel_calls=2).prefetch(1)
        """,
    "python_in_pipeline: not in a metric outside of a pipeline": """\
        import tensorflow as tf

        def error_rate(truth, guess):
            return tf.py_function(edit_distance, [truth, guess], tf.float32)

        model.compile(metrics=[error_rate])
        """,
    "from_generator": """\
        from mypackage import tf
        data = tf.data.Dataset.from_generator(read, output_types=tf.int32).prefetch(1)  #! from_generator
        other = Reader.from_generator(read)
        """,
    "from_generator: not in a data set that only other files use": {
        "data.py": """\
        import tensorflow as tf

        class Texts:
            def create(self):
                return tf.data.Dataset.from_generator(read, tf.int32).prefetch(1)

        class Clips:
            def create(self):
                return tf.data.Dataset.from_generator(read, tf.int32).prefetch(1)  #! from_generator
        """,
        "__init__.py": "from data import Clips, Texts\n",
        "decode_texts.py": "from data import Clips, Texts\n",
        "train.py": "from data import Clips\n",
    },
    "from_generator: not in a benchmark": {
        "benchmark_loader.py": """\
        import tensorflow as tf
        data = tf.data.Dataset.from_generator(read, output_types=tf.int32)
        """
    },
    "map_in_sequence": """\
        import tensorflow as tf
        data = tf.data.Dataset.list_files("*")
        data = data.map(load)  #! map_in_sequence
        data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(load, 4).map(load, **options)
        data = data.map(lambda a, b: (a, b["mel"]))
        data = data.map(lambda a: parse(a))  #! map_in_sequence
        lines = pool.map(load)
        names = frame.map(load)
        data = data.prefetch(1)
        """,
    "no_prefetch": """\
        import tensorflow.compat.v2 as tf

        def make_train_data(files):
            data = tf.data.Dataset.from_tensor_slices(files)
            return data.batch(8)  #! no_prefetch
        """,
    "no_prefetch: buckets": """\
        import tensorflow as tf
        data = tf.data.Dataset.list_files("*")
        data = data.apply(tf.data.experimental.bucket_by_sequence_length(length, edges, sizes))  #! no_prefetch
        data = data.apply(tf.data.experimental.ignore_errors())
        """,
    "no_prefetch: a caller prefetches, or the batch is none of tf.data": {
        "data.py": """\
        import tensorflow as tf

        def make(files):
            return tf.data.Dataset.from_tensor_slices(files).batch(8)

        def other(rows):
            return rows.batch(8)
        """,
        "train.py": """\
        from data import make
        data = make(files).prefetch(2)
        """,
    },
    "eager_mode": """\
        import tensorflow as tf
        tf.config.run_functions_eagerly(True)  #! eager_mode
        tf.config.run_functions_eagerly(False)
        tf.config.run_functions_eagerly(arguments.slow)
        tf.config.experimental_run_functions_eagerly(run_eagerly=True)  #! eager_mode
        """,
    "step_not_compiled: a function, a method, and a step behind another": """\
        import tensorflow as tf

        def update(batch):  #! step_not_compiled
            with tf.GradientTape() as tape:
                loss = model(batch)
            optimizer.apply_gradients(zip(tape.gradient(loss, v), v))

        class Trainer:
            def _step(self, batch):  #! step_not_compiled
                with tf.GradientTape() as tape:
                    loss = model(batch)
                self.optimizer.minimize(loss, v, tape=tape)

            def step(self, batch):
                return self._step(batch)

            def fit(self, data):
                for batch in data:
                    self.step(batch)

        for batch in data:
            update(batch)
        """,
    "step_not_compiled: wrapped in each way that there is": """\
        import functools
        import tensorflow as tf

        def gradient(batch):
            with tf.GradientTape() as tape:
                loss = model(batch)
            return tape.gradient(loss, v)

        @tf.function
        def a(batch):
            return gradient(batch)

        def b(batch):
            with tf.GradientTape() as tape:
                return tape.gradient(model(batch), v)

        compiled = tf.function(b, input_signature=signature)
        jitted = tf.function(jit_compile=True)

        @functools.partial(tf.function, jit_compile=True)
        def c(batch):
            with tf.GradientTape() as tape:
                return tape.gradient(model(batch), v)

        @tf.function(jit_compile=True)
        def d(batch):
            return strategy.run(e, args=(batch,))

        def e(batch):
            with tf.GradientTape() as tape:
                return tape.gradient(model(batch), v)

        class Model(tf.keras.Model):
            def train_step(self, batch):
                with tf.GradientTape() as tape:
                    return tape.gradient(self(batch), v)

        @tf.function
        def g():
            def inner(batch):
                with tf.GradientTape() as tape:
                    return tape.gradient(model(batch), v)
            return inner(batch)

        for batch in data:
            a(batch), compiled(batch), c(batch), d(batch), model.train_step(batch), g()
        """,
    "step_not_compiled: not what runs once, or looks for a size": """\
        import tensorflow as tf

        def saliency(clip):
            with tf.GradientTape() as tape:
                return tape.gradient(model(clip), clip)

        def find_batch_size():
            for size in range(8):
                with tf.GradientTape() as tape:
                    tape.gradient(model(size), v)

        saliency(clip)
        """,
    "step_not_compiled: a script that trains outside of every function": """\
        import tensorflow as tf

        for batch in batches:
            with tf.GradientTape() as tape:  #! step_not_compiled
                loss = model(batch)
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        """,
    "varying_shapes: padded_batch and a step without a signature": """\
        import tensorflow as tf

        @tf.function
        def train_step(batch):
            return model(batch)

        data = tf.data.Dataset.list_files("*")
        a = data.padded_batch(8)  #! varying_shapes
        b = data.padded_batch(8, padded_shapes=([None], [None, 80]))  #! varying_shapes
        c = data.padded_batch(8, padded_shapes=([200], [800, 80])).prefetch(1)
        d = data.padded_batch(8, ([200], [800, 80]))
        """,
    "varying_shapes: not with a signature": """\
        import tensorflow as tf

        @tf.function(input_signature=signature)
        def train_step(batch):
            return model(batch)

        data = tf.data.Dataset.list_files("*").padded_batch(8).prefetch(1)
        """,
}
