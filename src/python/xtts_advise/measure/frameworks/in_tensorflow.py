"""TensorFlow in a child: devices, and eager steps against tf.function, XLA and half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .inside import Measurement, Teller, attempt, imported, measure
from .timing import Steps, compared, first_ms, interleaved

# Small matrices: what a step costs is mostly the calls, as in the trainers that this probe is for.
LAYERS, WIDTH, ROWS = 12, 64, 256
# Large ones, for a GPU's half precision: there arithmetic counts.
WIDE_LAYERS, WIDE_WIDTH, WIDE_ROWS = 4, 2048, 4096
NEW_SHAPES = 4


def run(teller: Teller) -> None:
    tf = imported(teller)
    if tf is None:
        return
    gpus = attempt(teller, "devices", "gpus", lambda: _gpus(tf))
    device = "gpu" if gpus else "cpu"
    teller.tell("device", device)
    with tf.device("/GPU:0" if gpus else "/CPU:0"):
        _measure_all(teller, tf, device)


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


def _repeated(function: Callable[[Any], Any], values: Any) -> Steps:
    def steps(count: int) -> None:
        for _ in range(count):
            loss = function(values)
        loss.numpy()  # waits for a GPU

    return steps


def _measure_all(teller: Teller, tf: Any, device: str) -> None:
    network: Any = None
    graph: Any = None

    def measure_graph(measurement: Measurement) -> None:
        nonlocal network, graph
        network = _Network(tf, LAYERS, WIDTH, ROWS)
        eager = _repeated(network.step, network.input)
        eager(1)
        function = tf.function(network.step)
        graph = _repeated(function, network.input)
        traces = _first_steps(measurement, network, graph)
        times = interleaved({"eager": eager, "graph": graph}, min(3.0, teller.left() / 4))
        measurement.add(**compared(times, "eager", "graph"))
        _new_shapes(teller, measurement, network, function, traces)

    def measure_xla(measurement: Measurement) -> None:
        function = tf.function(network.step, jit_compile=True)
        xla = _repeated(function, network.input)
        traces = _first_steps(measurement, network, xla)
        times = interleaved({"graph": graph, "xla": xla}, min(3.0, teller.left() / 3))
        measurement.add(**compared(times, "graph", "xla"))
        _new_shapes(teller, measurement, network, function, traces)

    def measure_half(measurement: Measurement) -> None:
        if device == "cpu":
            measurement.add(reason="half precision pays on a GPU, and TensorFlow sees none")
            return
        networks = {kind: _Network(tf, WIDE_LAYERS, WIDE_WIDTH, WIDE_ROWS, kind) for kind in ("float32", "float16")}
        steps = {kind: _repeated(tf.function(one.step), one.input) for kind, one in networks.items()}
        times = interleaved({"graph": steps["float32"], "half": steps["float16"]}, min(3.0, teller.left() / 2))
        measurement.add(**compared(times, "graph", "half"))

    measure(teller, "graph", measure_graph)
    if graph is not None:
        measure(teller, "xla", measure_xla)
    measure(teller, "mixed_precision", measure_half)


def _first_steps(measurement: Measurement, network: _Network, steps: Steps) -> int:
    """Makes the first steps; returns how often the function was traced."""
    network.trace_count = 0
    first = first_ms(steps)
    steps(3)
    measurement.add(first_ms=round(first, 1), traces={"same_shape": network.trace_count})
    return network.trace_count


def _new_shapes(
    teller: Teller, measurement: Measurement, network: _Network, function: Callable[[Any], Any], same_shape: int
) -> None:
    """Batches of lengths of their own: each traces again."""
    network.trace_count = 0
    times: list[float] = []
    while len(times) < NEW_SHAPES and teller.left() > 4 + 3 * max(times, default=1e3) / 1e3:
        times.append(first_ms(_repeated(function, network.input[: ROWS - 1 - len(times)])))
        measurement.add(traces={
            "same_shape": same_shape, "new_shapes": len(times), "new_shape_traces": network.trace_count,
            "new_shape_ms": round(max(times), 1),
        })  # fmt: skip
