"""What `xtts-precompute-profile` times: the reference network on a cache, in PyTorch or TensorFlow."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._base.errors import InvalidArgumentError, MismatchError, MissingPackageError, UnsupportedError
from .._cache.cache import Cache
from .profiler import StepProfiler

INSTALLATIONS = {"torch": "torch", "tensorflow": "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)"}
FIELDS = ("mel", "mel_len")
TEXT_FIELDS = ("tokens", "text_len")


@dataclass(frozen=True)
class Run:
    """Batches, and the step that is timed with them. `step` uses the profiler that it was made with."""

    loader: Any
    step: Callable[[Any], object]
    framework: str
    device: str
    has_text: bool
    parameter_count: int


def framework_of(wanted: str) -> str:
    """Returns the framework that is meant; for "auto" the first one that is installed."""
    if wanted != "auto":
        return wanted
    for name in INSTALLATIONS:
        if importlib.util.find_spec(name) is not None:
            return name
    ways = " or ".join(f"pip install {package}" for package in INSTALLATIONS.values())
    raise MissingPackageError(f"the reference model needs PyTorch or TensorFlow, and neither is installed: {ways}")


def prepare(
    cache: Cache, profiler: StepProfiler, *, framework: str, device: str, batch_size: int, split: str | None
) -> Run:
    """Returns a Run for one of the frameworks.

    If the cache has no tokens, the network is trained on mels alone.
    """
    mel = cache.columns.get("mel")
    if mel is None or len(mel.shape) != 2:
        there = ", ".join(f"{column.name} {list(column.shape)}" for column in cache.columns.values())
        raise MismatchError(
            "the reference model is trained on a column 'mel' of [frames, mels], and this cache has "
            f"{there}: time your own step with xp.StepProfiler"
        )
    has_text = "tokens" in cache.columns
    options = {"batch_size": batch_size, "split": split, "fields": FIELDS + (TEXT_FIELDS if has_text else ())}
    make = {"torch": _torch, "tensorflow": _tensorflow}[framework_of(framework)]
    run = make(cache, profiler, int(mel.shape[1]), has_text, device, options)
    if len(run.loader) == 0:
        clips = "this cache has" if split is None else f"the split '{split}' has"
        raise InvalidArgumentError(f"{clips} too few clips for a batch of {batch_size}: ask for a smaller --batch-size")
    return run


def _torch(
    cache: Cache, profiler: StepProfiler, mel_count: int, has_text: bool, device: str, options: dict[str, Any]
) -> Run:
    from ..reference_torch import SmallTts, mel_loss
    from ..torch import Loader, torch

    device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    loader = Loader(cache, device=device, **options)
    torch.manual_seed(0)
    model = SmallTts(mel_count, has_text).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(batch: Any) -> None:
        mel = batch["mel"].float()
        with profiler.phase("forward"):
            predicted = model(mel, batch.get("tokens"), batch.get("text_len"))
        with profiler.phase("loss"):
            loss = mel_loss(predicted, mel, batch["mel_len"])
        with profiler.phase("backward"):
            optimizer.zero_grad()
            loss.backward()
        with profiler.phase("optimizer"):
            optimizer.step()

    return Run(
        loader, step, f"PyTorch {torch.__version__}", device, has_text, sum(one.numel() for one in model.parameters())
    )


def _tensorflow(
    cache: Cache, profiler: StepProfiler, mel_count: int, has_text: bool, device: str, options: dict[str, Any]
) -> Run:
    from ..reference_tensorflow import SmallTts, mel_loss
    from ..tensorflow import Loader, tf

    gpus = tf.config.list_physical_devices("GPU")
    if device == "auto":
        device = "cuda" if gpus else "cpu"
    number = int(device[5:] or 0) if device.startswith("cuda") else None
    if number is not None and number >= len(gpus):
        raise UnsupportedError(
            f"device '{device}': TensorFlow sees {len(gpus)} GPUs; use --device cpu, or pip install "
            "tensorflow[and-cuda]"
        )
    place = "/CPU:0" if number is None else f"/GPU:{number}"
    loader = Loader(cache, device=None if number is None else place, **options)
    tf.random.set_seed(0)
    with tf.device(place):
        model = SmallTts(mel_count, has_text)
        optimizer = tf.keras.optimizers.Adam(1e-3)
        optimizer.build(model.weights)
    # Compiled one by one, because a step that is one function cannot be cut inside.
    forward, loss_of = tf.function(model), tf.function(mel_loss)
    update = tf.function(lambda gradients: optimizer.apply_gradients(zip(gradients, model.weights)))

    def step(batch: Any) -> None:
        with tf.device(place):
            mel = tf.cast(batch["mel"], tf.float32)
            with tf.GradientTape() as tape:
                with profiler.phase("forward"):
                    predicted = forward(mel, batch.get("tokens"), batch.get("text_len"))
                with profiler.phase("loss"):
                    loss = loss_of(predicted, mel, batch["mel_len"])
            with profiler.phase("backward"):
                gradients = tape.gradient(loss, model.weights)
            with profiler.phase("optimizer"):
                update(gradients)

    count = sum(int(weight.shape.num_elements()) for weight in model.weights)
    return Run(loader, step, f"TensorFlow {tf.__version__}", device, has_text, count)
