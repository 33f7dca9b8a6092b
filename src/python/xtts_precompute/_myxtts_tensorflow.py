"""create_tf_dataset(): the trainer's tuples as a tf.data.Dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _tensorflow_dataset as tensors
from ._frameworks import framework
from ._myxtts_batches import Loader
from ._myxtts_config import warn

tf: Any = framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")


def of_cache(
    cache: Any, options: dict[str, Any], *, fields: tuple[str, ...], limits: tuple[int, int], pads: bool, ranks: dict[str, Any], **rest: Any
) -> Any:
    """Batches of a cache: xp.tensorflow.dataset(), and what makes them shorter where that is wanted."""
    buffer, device, repeat = rest["buffer"], rest["device"], rest["repeat"]
    made = tensors.dataset(
        cache,
        fields=fields,
        structure=tuple,
        repeat=repeat,
        buffer=0,
        **ranks,
        **{**options, "prefetch": min(options["prefetch"] + buffer, 1024)},
    )
    width = made.element_spec[0].shape[1]
    if width != limits[0] or not pads or not options["drop_last"]:
        made = made.map(lambda *batch: _cut(batch, limits, pads, options["drop_last"]))
    return ahead(made, buffer, device)


def of_loader(loader: Loader, *, limits: tuple[int, int], mels: int, pads: bool, batch_size: int | None, **rest: Any) -> Any:
    """Batches that are computed at runtime, which TensorFlow gets as copies."""
    shapes = [(batch_size, limits[0] if pads else None), (batch_size, limits[1] if pads else None, mels), (batch_size,), (batch_size,)]
    types = (tf.int32, tf.float32, tf.int32, tf.int32)
    made = tf.data.Dataset.from_generator(
        tensors._Generator(_Copies(loader), tuple, rest["repeat"]),
        output_signature=tuple(tf.TensorSpec(shape, kind) for shape, kind in zip(shapes, types, strict=True)),
    )
    made = made.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY if rest["repeat"] else len(loader)))
    settings = tf.data.Options()
    settings.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return ahead(made.with_options(settings), rest["buffer"], rest["device"])


class _Copies:
    """A loader's batches as dicts of arrays that nobody fills anew."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._loader:
            yield {str(place): np.array(part) for place, part in enumerate(batch)}


def _cut(batch: tuple[Any, ...], limits: tuple[int, int], pads: bool, drop_last: bool) -> tuple[Any, ...]:
    """Rows that hold clips, as long as the limits, or as the longest of them."""
    tokens, mel, text_len, mel_len = batch
    if not drop_last:
        rows = tf.math.count_nonzero(mel_len, dtype=tf.int32)
        tokens, mel, text_len, mel_len = tokens[:rows], mel[:rows], text_len[:rows], mel_len[:rows]
    if not pads:
        return tokens[:, : tf.reduce_max(text_len)], mel[:, : tf.reduce_max(mel_len)], text_len, mel_len
    lacks = limits[0] - tokens.shape[1]
    tokens = tf.pad(tokens, [[0, 0], [0, lacks]]) if lacks > 0 else tokens[:, : limits[0]]
    return tokens, mel, text_len, mel_len


def ahead(made: Any, buffer: int, device: str | None) -> Any:
    """The last step: batches that are ready, on the CPU or on a device."""
    if device is not None:
        return made.apply(tf.data.experimental.prefetch_to_device(device, max(buffer, 1)))
    return made.prefetch(buffer) if buffer else made


def gpu(number: int) -> str | None:
    """TensorFlow's name of a GPU; None, and a warning, where it has none of this number."""
    found = len(tf.config.list_logical_devices("GPU"))
    if number < found:
        return f"/GPU:{number}"
    warn(f"prefetch_to_gpu: TensorFlow finds {found} GPUs, so there is no GPU {number}: batches stay in the CPU's memory")
    return None
