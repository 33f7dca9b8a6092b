"""The model, and the three ways to train it: eager, by a tf.function, by Keras."""

import time

import keras
import tensorflow as tf


def acoustic(width):
    layers = keras.layers
    mels = keras.Input((None, 80))
    hidden = layers.Dense(width)(mels)
    for _ in range(3):
        hidden = layers.Add()([hidden, layers.Conv1D(width, 5, padding="same", activation="relu")(hidden)])
    return keras.Model(mels, layers.Dense(80)(hidden))


def masked_l1(guess, mels, frames):
    mask = tf.sequence_mask(frames, tf.shape(mels)[1], dtype=tf.float32)[..., None]
    return tf.reduce_sum(tf.abs(guess - mels) * mask) / (tf.reduce_sum(mask) * 80)


class Marks(keras.callbacks.Callback):
    """Notes when each step ends, and gives the stand-in its work."""

    def __init__(self, launch):
        super().__init__()
        self.marks, self.launch = [], launch

    def on_train_batch_end(self, batch, logs=None):
        self.launch()
        self.marks.append(time.perf_counter())


class Trainer:
    way = "function"

    def __init__(self, args, queue=None):
        self.args = args
        self.queue = queue  # of the GPU's stand-in, or None
        self.model = acoustic(args.width)
        self.optimizer = keras.optimizers.SGD(1e-2, momentum=0.9)
        self.optimizer.build(self.model.trainable_variables)

    def loss(self, mels, frames):
        return masked_l1(self.model(mels, training=True), mels, frames)

    def eager_step(self, mels, frames):
        with tf.GradientTape() as tape:
            loss = self.loss(mels, frames)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        return loss

    @tf.function
    def compiled_step(self, mels, frames):
        return self.eager_step(mels, frames)

    def step(self, mels, frames):
        return self.compiled_step(mels, frames) if self.way == "function" else self.eager_step(mels, frames)

    def launch(self):
        if self.queue:
            self.queue.launch(self.args.stand_in / 1000)

    def after_step(self, step, loss):
        if step % self.args.log_every == 0:
            print(f"step {step} loss {loss.numpy():.4f}", flush=True)

    def batches(self, dataset):
        return iter(dataset)

    # Keras: the targets are the features, padded.
    def callbacks(self):
        return []

    def compile(self):
        self.model.compile(optimizer=self.optimizer, loss="mae", jit_compile=False)

    def fit(self, dataset, steps):
        """Trains by Keras and returns the times at which steps ended."""
        marks = Marks(self.launch)
        self.compile()
        pairs = dataset.map(lambda mels, frames: (mels, mels)) if isinstance(dataset, tf.data.Dataset) else dataset
        callbacks = [marks, *self.callbacks()]
        self.model.fit(pairs, epochs=1, steps_per_epoch=steps, verbose=2, callbacks=callbacks)
        return marks.marks
