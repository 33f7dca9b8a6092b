"""TensorFlow in a child: devices, and eager steps against tf.function, XLA and half precision."""

from __future__ import annotations

import importlib
import time
from typing import Any, Callable

from .inside import Teller, attempt, measure
from .timing import compared, first_ms, interleaved

# Small matrices: what a step costs is mostly the calls, as in the trainers that this probe is for.
LAYERS, WIDTH, ROWS = 12, 64, 256
# Large ones, for a GPU's half precision: there arithmetic counts.
WIDE_LAYERS, WIDE_WIDTH, WIDE_ROWS = 4, 2048, 4096
NEW_SHAPES = 4


def run(teller: Teller) -> None:
    tf: Any = None

    def load() -> float:
        nonlocal tf
        begin = time.perf_counter()
        tf = importlib.import_module("tensorflow")
        return round(time.perf_counter() - begin, 2)

    if attempt(teller, "import", "import_seconds", load) is None:
        return
    attempt(teller, "version", "version", lambda: str(tf.__version__))
    attempt(teller, "build info", "build", lambda: {key: str(value) for key, value in _build(tf).items()})
    gpus = attempt(teller, "devices", "gpus", lambda: _gpus(tf))
    device = "gpu" if gpus else "cpu"
    teller.tell("device", device)
    with tf.device("/GPU:0" if gpus else "/CPU:0"):
        _measure_all(teller, tf, device)


def _build(tf: Any) -> dict[str, Any]:
    return dict(tf.sysconfig.get_build_info())


def _gpus(tf: Any) -> list[dict[str, Any]]:
    found = []
    for index, device in enumerate(tf.config.list_physical_devices("GPU")):
        details = tf.config.experimental.get_device_details(device)
        capability = details.get("compute_capability")
        found.append({
            "index": index,
            "name": str(details.get("device_name", device.name)),
            "capability": ".".join(str(one) for one in capability) if capability else None,
        })  # fmt: skip
    return found


class _Network:
    """A residual network, its input, and the steps that train it."""

    def __init__(self, tf: Any, layers: int, width: int, rows: int, dtype: str = "float32") -> None:
        self._tf = tf
        self._dtype = getattr(tf, dtype)
        self._weights = [tf.Variable(tf.random.stateless_normal([width, width], [7, n]) * 0.05) for n in range(layers)]
        self.input = tf.random.stateless_normal([rows, width], [7, layers])
        self.trace_count = 0

    def step(self, values: Any) -> Any:
        tf = self._tf
        self.trace_count += 1  # eager: counts steps; in a graph: counts traces
        with tf.GradientTape() as tape:
            hidden = tf.cast(values, self._dtype)
            for weight in self._weights:
                hidden = hidden + tf.nn.gelu(tf.matmul(hidden, tf.cast(weight, self._dtype)))
                hidden = hidden - tf.reduce_mean(hidden, axis=-1, keepdims=True)
            loss = tf.reduce_mean(tf.square(tf.cast(hidden, tf.float32) - values))
        for weight, gradient in zip(self._weights, tape.gradient(loss, self._weights)):
            weight.assign_sub(1e-3 * gradient)
        return loss


def _repeated(function: Callable[[Any], Any], values: Any) -> Callable[[int], None]:
    def steps(count: int) -> None:
        for _ in range(count):
            loss = function(values)
        loss.numpy()  # waits for a GPU

    return steps


def _measure_all(teller: Teller, tf: Any, device: str) -> None:
    network: Any = None
    graph: Any = None

    def graph_work() -> dict[str, Any]:
        nonlocal network, graph
        network = _Network(tf, LAYERS, WIDTH, ROWS)
        eager_steps = _repeated(network.step, network.input)
        eager_steps(1)
        function, found = _compiled(teller, tf, network, False)
        graph = _repeated(function, network.input)
        times = interleaved({"eager": eager_steps, "graph": graph}, min(3.0, teller.left() / 4))
        return {**found, **compared(times, "eager", "graph")}

    def xla_work() -> dict[str, Any]:
        function, found = _compiled(teller, tf, network, True)
        xla = _repeated(function, network.input)
        times = interleaved({"graph": graph, "xla": xla}, min(3.0, teller.left() / 3))
        return {**found, **compared(times, "graph", "xla")}

    def half_work() -> dict[str, Any]:
        if device == "cpu":
            return {"reason": "half precision pays on a GPU, and TensorFlow sees none"}
        networks = {kind: _Network(tf, WIDE_LAYERS, WIDE_WIDTH, WIDE_ROWS, kind) for kind in ("float32", "float16")}
        steps = {kind: _repeated(tf.function(one.step), one.input) for kind, one in networks.items()}
        times = interleaved({"graph": steps["float32"], "half": steps["float16"]}, min(3.0, teller.left() / 2))
        return compared(times, "graph", "half")

    if measure(teller, "graph", "eager", "tf.function against eager", graph_work):
        measure(teller, "xla", "graph", "tf.function(jit_compile=True) against tf.function", xla_work)
    measure(teller, "mixed_precision", "graph", "float16 against float32, in tf.function", half_work)


def _compiled(teller: Teller, tf: Any, network: _Network, is_xla: bool) -> tuple[Any, dict[str, Any]]:
    """Returns the network's step as a tf.function, its first time, and its traces."""
    function = tf.function(network.step, jit_compile=True) if is_xla else tf.function(network.step)
    network.trace_count = 0
    first = first_ms(_repeated(function, network.input))
    _repeated(function, network.input)(3)
    traces: dict[str, Any] = {"same_shape": network.trace_count}
    if teller.left() > 4 + 5 * first / 1e3:
        # Batches of a length of their own trace again, each.
        network.trace_count = 0
        times = [first_ms(_repeated(function, network.input[: ROWS - 1 - n])) for n in range(NEW_SHAPES)]
        traces.update(
            new_shapes=NEW_SHAPES, new_shape_traces=network.trace_count, new_shape_ms=round(max(times), 1)
        )  # fmt: skip
    return function, {"first_ms": round(first, 1), "traces": traces}
