"""What `xtts-precompute profile` times on a cache, in PyTorch or TensorFlow: the reference network, or
the user's own step.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._base.errors import InvalidArgumentError, MismatchError, MissingPackageError, UnsupportedError
from .._cache.cache import Cache
from .._cache.cache import open as open_cache
from .own_code import own_step
from .placement import Placement
from .profiler import StepProfiler

INSTALLATIONS = {"torch": "torch", "tensorflow": "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)"}
FIELDS = ("mel", "mel_len")
TEXT_FIELDS = ("tokens", "text_len")


@dataclass(frozen=True)
class Run:
    """Batches, and the step that is timed with them. `step` uses the profiler that it was made with.

    `note` says what cannot be measured on this machine.
    """

    loader: Any
    step: Callable[[Any], object]
    title: str
    framework: str
    device: str | None  # None: the user's own code decides
    has_text: bool | None
    parameter_count: int | None = None
    note: str = ""


# The loader, the step, the framework with its version, the device, and the network's parameters; None: the user's step.
_Made = tuple[Any, Callable[[Any], object], str, str, "int | None"]


def framework_of(wanted: str) -> str:
    """Returns the framework that is meant; for "auto" the first one that is installed."""
    if wanted != "auto":
        return wanted
    for name in INSTALLATIONS:
        if importlib.util.find_spec(name) is not None:
            return name
    ways = " or ".join(f"pip install {package}" for package in INSTALLATIONS.values())
    raise MissingPackageError(f"the reference model needs PyTorch or TensorFlow, and neither is installed: {ways}")


def gpu_count(framework: str) -> int:
    """Returns how many GPUs a framework finds."""
    if framework == "torch":
        from ..torch import torch

        return int(torch.cuda.device_count())
    from ..tensorflow import tf

    return len(tf.config.list_physical_devices("GPU"))


def usual_gpu(device: str) -> int | str | None:
    """Returns the GPU to watch for --device. A GPU by number may be another than the framework's current one."""
    number = {"auto": "auto", "cuda": "auto", "cpu": None}.get(device, device[5:])
    return number if number is None or number == "auto" else int(number)


def name_of() -> str:
    """Returns name and version of the framework that the user's own code has imported."""
    for name, words in (("torch", "PyTorch"), ("tensorflow", "TensorFlow")):
        if name in sys.modules:
            return f"{words} {sys.modules[name].__version__}"
    return "no framework that is known here"


def prepare(options: argparse.Namespace, profiler: StepProfiler, placement: Placement | None) -> Run:
    """Returns a Run on a cache, in one of the frameworks.

    If the cache has no tokens, the reference network is trained on mels alone.
    """
    cache = open_cache(options.cache)
    size = 32 if options.batch_size is None else options.batch_size
    loading: dict[str, Any] = {"batch_size": size, "split": options.split}
    if options.step is None:
        loading["fields"] = FIELDS + (TEXT_FIELDS if "tokens" in cache.columns else ())
        _check_mel(cache)
    make = {"torch": _torch, "tensorflow": _tensorflow}[framework_of(options.framework)]
    clips = "this cache" if options.split is None else f"the split '{options.split}'"
    too_few = InvalidArgumentError(
        f"{clips} has too few clips for a batch of {size}: ask for a smaller --batch-size"
        if size > 1
        else f"{clips} has no clips"
    )
    if len(cache) < size:  # before memory for such a batch is asked for
        raise too_few
    loader, step, framework, device, parameter_count = make(cache, profiler, options, placement, loading)
    if len(loader) == 0:
        raise too_few
    has_text = "tokens" in cache.columns
    text = "tokens and mel" if has_text else "mel alone, since the cache has no tokens"
    what = (
        f"--step {options.step}"
        if parameter_count is None
        else f"a network of {parameter_count / 1e6:.1f} million parameters on {text}"
    )
    title = f"{options.cache}: {what}, {framework} on {device}"
    note = "" if placement is None else placement.note
    return Run(loader, step, title, framework, device, has_text, parameter_count, note)


def _check_mel(cache: Cache) -> None:
    mel = cache.columns.get("mel")
    if mel is None or len(mel.shape) != 2:
        there = ", ".join(f"{column.name} {list(column.shape)}" for column in cache.columns.values())
        raise MismatchError(
            "the reference model is trained on a column 'mel' of [frames, mels], and this cache has "
            f"{there}: time your own step with --step"
        )


def _torch(
    cache: Cache,
    profiler: StepProfiler,
    options: argparse.Namespace,
    placement: Placement | None,
    loading: dict[str, Any],
) -> _Made:
    from ..torch import Loader, torch

    device = ("cuda" if torch.cuda.is_available() else "cpu") if options.device == "auto" else options.device
    if placement is not None:
        device = "cpu" if placement.model is None else f"cuda:{placement.model}"
        if placement.is_split:
            loading["data_device"] = f"cuda:{placement.data}"
    loader = Loader(cache, device=device, **loading)
    version = f"PyTorch {torch.__version__}"
    if options.step is not None:
        return loader, own_step(options.step, profiler), version, device, None
    from ..reference_torch import SmallTts, mel_loss

    torch.manual_seed(0)
    model = SmallTts(int(cache.columns["mel"].shape[1]), "tokens" in cache.columns).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if device.startswith("cuda:"):
        torch.cuda.set_device(device)  # the clock's marks are on its stream

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

    count = sum(one.numel() for one in model.parameters())
    return loader, step, version, device, count


def _tensorflow(
    cache: Cache,
    profiler: StepProfiler,
    options: argparse.Namespace,
    placement: Placement | None,
    loading: dict[str, Any],
) -> _Made:
    from ..tensorflow import Loader, tf

    gpus = tf.config.list_physical_devices("GPU")
    device = ("cuda" if gpus else "cpu") if options.device == "auto" else options.device
    number = int(device[5:] or 0) if device.startswith("cuda") else None
    data_number = number
    if placement is not None:
        number, data_number = placement.model, placement.data
        device = "cpu" if number is None else f"cuda:{number}"
    if number is not None and number >= len(gpus):
        raise UnsupportedError(
            f"device '{device}': TensorFlow sees {len(gpus)} GPUs; use --device cpu, or pip install "
            "tensorflow[and-cuda]"
        )
    place = "/CPU:0" if number is None else f"/GPU:{number}"
    loader = Loader(cache, device=None if data_number is None else f"/GPU:{data_number}", **loading)
    version = f"TensorFlow {tf.__version__}"
    if options.step is not None:
        return loader, own_step(options.step, profiler), version, device, None
    from ..reference_tensorflow import SmallTts, mel_loss

    tf.random.set_seed(0)
    with tf.device(place):
        model = SmallTts(int(cache.columns["mel"].shape[1]), "tokens" in cache.columns)
        optimizer = tf.keras.optimizers.Adam(1e-3)
        optimizer.build(model.weights)
    # Compiled one by one, because a step that is one function cannot be cut inside.
    forward, loss_of = tf.function(model), tf.function(mel_loss)
    update = tf.function(lambda gradients: optimizer.apply_gradients(zip(gradients, model.weights)))

    def step(batch: Any) -> None:
        with tf.device(place):
            if data_number != number:
                with profiler.phase("transfer"):
                    batch = {name: tf.identity(batch[name]) for name in loading["fields"]}
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
    return loader, step, version, device, count
