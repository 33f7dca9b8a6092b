"""create_tf_dataset(): the trainer's tuples as a tf.data.Dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .._base.frameworks import framework
from ..tensorflow import tf_data as tensors
from .batches import Loader, Shape, has_gpu

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")


class Wish(NamedTuple):
    """What the data set is to be."""

    shape: Shape
    mels: int
    records: tuple[int, int]
    """The numbers of tokens and frames in a record of the source."""
    repeat: bool
    buffer: int
    """Batches that are ready ahead."""
    device: str | None


def of_cache(
    cache: Any, options: dict[str, Any], fields: tuple[str, ...], ranks: tuple[int | None, int | None], wish: Wish
) -> Any:
    """Returns batches of a cache: xp.tensorflow.dataset(), made shorter where that is wanted."""
    slots = min(options["prefetch"] + wish.buffer, 1024)
    made = tensors.on_the_host(
        cache,
        wish.device,
        fields=fields,
        structure=tuple,
        repeat=wish.repeat,
        buffer=0,
        rank=ranks[0],
        world_size=ranks[1],
        **{**options, "prefetch": slots},
    )
    shape = wish.shape
    are_right = shape.pads and not shape.says_frames and wish.records == (shape.width, shape.frames)
    if not are_right or not options["drop_last"]:
        made = made.map(lambda *batch: _cut(batch, shape, options["drop_last"]))
    return _ahead(made, wish)


def of_loader(loader: Loader, batch_size: int | None, wish: Wish) -> Any:
    """Returns batches that are computed at runtime; `batch_size` is given if all have the same."""
    if not len(loader):
        raise tensors.no_batch(loader)
    tokens, frames = (
        (wish.shape.width, wish.shape.frames)
        if wish.shape.pads
        else (None, wish.shape.frames if wish.shape.keeps_frames else None)
    )
    shapes = [(batch_size, tokens), (batch_size, frames, wish.mels), (batch_size,), (batch_size,)]
    kinds = (tf.int32, tf.float32, tf.int32, tf.int32)
    signature = tuple(tf.TensorSpec(shape, kind) for shape, kind in zip(shapes, kinds))
    made = tensors.from_source(_Dicts(loader), tuple, wish.repeat, signature)
    # Without repeat the number is unknown: epochs become shorter when clips are rejected.
    if wish.repeat:
        made = made.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
    settings = tf.data.Options()
    settings.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return _ahead(made.with_options(settings), wish)


class _Dicts:
    """A loader's batches as dicts, of arrays that are never filled anew."""

    def __init__(self, loader: Loader) -> None:
        self._loader: Loader | None = loader

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._loader or ():
            yield {str(place): part for place, part in enumerate(batch)}

    def close(self) -> None:
        # The reader's threads end by themselves when nothing refers to it. Its close() would wait
        # for them. Python's collector, which may call this, can run in one of these threads, so it
        # must not wait.
        self._loader = None


def _cut(batch: tuple[Any, ...], shape: Shape, drop_last: bool) -> tuple[Any, ...]:
    """Returns the rows that hold clips, as long as `shape` says."""
    tokens, mel, text_len, mel_len = batch
    if not drop_last:
        rows = tf.math.count_nonzero(mel_len, dtype=tf.int32)
        tokens, mel, text_len, mel_len = tokens[:rows], mel[:rows], text_len[:rows], mel_len[:rows]
    text_len = tf.minimum(text_len, shape.tokens)
    if shape.frames is not None:
        mel_len = tf.minimum(mel_len, 1) * shape.frames if shape.says_frames else tf.minimum(mel_len, shape.frames)
    tokens = _of_width(tokens, shape.width if shape.pads else None, tf.reduce_max(text_len), 0)
    fixed = shape.frames if shape.pads or shape.keeps_frames else None
    mel = _of_width(mel, fixed, tf.reduce_max(mel_len), shape.fill)
    return tokens, mel, text_len, mel_len


def _of_width(tensor: Any, fixed: int | None, longest: Any, fill: float) -> Any:
    """Returns [clips, fixed, ...], or as long as the longest clip."""
    has = tensor.shape[1]
    if fixed is None:
        return tensor[:, :longest]
    if has < fixed:
        return tf.pad(tensor, [[0, 0], [0, fixed - has]] + [[0, 0]] * (len(tensor.shape) - 2), constant_values=fill)
    return tensor[:, :fixed]


def _ahead(made: Any, wish: Wish) -> Any:
    if wish.device is not None:
        return made.apply(tf.data.experimental.prefetch_to_device(wish.device, max(wish.buffer, 1)))
    return made.prefetch(wish.buffer) if wish.buffer else made


def gpu(number: int, key: str | None) -> str | None:
    """Returns TensorFlow's name of a GPU, or None if there is none with this number."""
    found = len(tf.config.list_logical_devices("GPU"))
    return f"/GPU:{number}" if has_gpu(number, found, "TensorFlow", key) else None
