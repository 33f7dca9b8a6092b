"""A small text-to-speech network for TensorFlow, to time training steps with.

`xtts-precompute profile` and samples/train_tensorflow.py train it. reference_torch.py describes the
network. Keras keeps the weights; the arithmetic is TensorFlow's own, so that a `@tf.function` is
traced once.

A compiled step cannot be cut inside. To time phases, compile the network, `mel_loss` and the
optimizer's update as functions of their own and call them one after the other; else compile all as
one function.
"""

from __future__ import annotations

from typing import Any

from ._base.frameworks import framework

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")

GROUP = 8  # frames that are predicted at once; Tacotron's r
WIDTH = 192
SYMBOLS = 512  # larger tokens are folded in


class SmallTts(tf.Module):  # type: ignore[misc]
    """Predicts mel [B, frames, mels] from the mel before, and from tokens [B, n] and text_len [B].

    `has_text=False` leaves the text out.
    """

    def __init__(self, mel_count: int = 80, has_text: bool = True) -> None:
        super().__init__()
        layers = tf.keras.layers
        self.has_text = has_text
        if has_text:
            self.embedding = layers.Embedding(SYMBOLS, WIDTH)
            self.encoder = [layers.Conv1D(WIDTH, 5, padding="same", activation="relu") for _ in range(2)]
            self.query = layers.Dense(WIDTH)
        self.prenet = [layers.Dense(WIDTH, activation="relu"), layers.Dense(WIDTH)]
        self.decoder = [layers.Conv1D(WIDTH, 3, padding="causal", activation="relu") for _ in range(3)]
        self.norms = [layers.LayerNormalization(epsilon=1e-5) for _ in range(3)]
        self.projection = layers.Dense(GROUP * mel_count)
        self(tf.zeros([1, GROUP, mel_count]), tf.zeros([1, 1], tf.int32), tf.ones([1], tf.int32))  # makes the weights

    @property
    def weights(self) -> list[Any]:
        """All weights that are trained."""
        own = [*self.prenet, *self.decoder, *self.norms, self.projection] + (
            [self.embedding, *self.encoder, self.query] if self.has_text else []
        )
        return [weight.value for layer in own for weight in layer.trainable_weights]

    def __call__(self, mel: Any, tokens: Any = None, text_len: Any = None) -> Any:
        batch, frames, mels = mel.shape
        # Shifted by one group: each group is predicted from those before it.
        known = tf.pad(mel, [[0, 0], [GROUP, -frames % GROUP], [0, 0]])[:, :-GROUP]
        state = tf.reshape(known, [batch, -1, GROUP * mels])
        for layer in self.prenet:
            state = layer(state)
        if self.has_text:
            state += self._attend(state, tokens, text_len)
        for convolution, norm in zip(self.decoder, self.norms):
            state += convolution(norm(state))
        return tf.reshape(self.projection(state), [batch, -1, mels])[:, :frames]

    def _attend(self, state: Any, tokens: Any, text_len: Any) -> Any:
        text = self.embedding(tokens % SYMBOLS)
        for convolution in self.encoder:
            text += convolution(text)
        scores = tf.matmul(self.query(state), text, transpose_b=True) / WIDTH**0.5
        is_true = tf.sequence_mask(tf.maximum(text_len, 1), tokens.shape[1])[:, None]
        return tf.matmul(tf.nn.softmax(tf.where(is_true, scores, -1e9)), text)


def mel_loss(predicted: Any, mel: Any, mel_len: Any) -> Any:
    """Returns the mean absolute error over true frames."""
    is_true = tf.sequence_mask(mel_len, mel.shape[1], mel.dtype)[..., None]
    return tf.reduce_sum(tf.abs(predicted - mel) * is_true) / (
        tf.cast(tf.maximum(tf.reduce_sum(mel_len), 1), mel.dtype) * mel.shape[2]
    )
