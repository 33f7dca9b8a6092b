"""PyTorch in a child: devices, eager steps against torch.compile, memory layout, half precision."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from typing import Any

from .inside import Measurement, Teller, attempt, imported, measure, reason_of
from .timing import Steps, compared, first_ms, interleaved

# Small matrices: what a step costs is mostly the calls. Six layers compile in about 10 s on two cores.
LAYERS, WIDTH, ROWS = 6, 64, 256
WIDE_LAYERS, WIDE_WIDTH, WIDE_ROWS = 4, 2048, 4096
NEW_SHAPES = 3


def run(teller: Teller) -> None:
    torch = imported(teller)
    if torch is None:
        return
    gpus = attempt(teller, "devices", "gpus", lambda: _gpus(teller, torch))
    device = "cuda" if gpus else "cpu"
    teller.tell("device", "gpu" if gpus else "cpu")
    measure(teller, "channels_last", lambda one: _channels_last(teller, one, torch, device))
    measure(teller, "mixed_precision", lambda one: _half(teller, one, torch, device))
    measure(teller, "compile", lambda one: _compile(teller, one, torch, device))


def _gpus(teller: Teller, torch: Any) -> list[dict[str, Any]]:
    if not torch.cuda.is_available():
        if torch.version.cuda:
            try:
                torch.cuda.init()
            except Exception as error:  # it says why
                teller.tell("gpus_reason", reason_of(error))
        return []
    found = []
    for index in range(torch.cuda.device_count()):
        capability = torch.cuda.get_device_capability(index)
        found.append({
            "index": index,
            "name": str(torch.cuda.get_device_name(index)),
            "capability": ".".join(str(one) for one in capability),
        })  # fmt: skip
    return found


def _network(torch: Any, layers: int, width: int, device: str) -> Any:
    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(layers)])

        def forward(self, values: Any) -> Any:
            hidden = values
            for layer in self.layers:
                hidden = hidden + torch.nn.functional.gelu(layer(hidden))
                hidden = hidden - hidden.mean(dim=-1, keepdim=True)
            return ((hidden - values) ** 2).mean()

    return Network().to(device)


def _steps(torch: Any, network: Any, loss_of: Callable[[Any], Any], values: Any) -> Steps:
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            loss = loss_of(values)
            loss.backward()
            optimizer.step()
        loss.item()  # waits for a GPU

    return steps


def _compile(teller: Teller, measurement: Measurement, torch: Any, device: str) -> None:
    reason = _why_not_compile(torch, device)
    if reason is not None:
        measurement.failed(reason)
        return
    torch.manual_seed(7)
    network = _network(torch, LAYERS, WIDTH, device)
    values = torch.randn(ROWS, WIDTH, device=device)
    eager = _steps(torch, network, network, values)
    eager(1)
    compiled = torch.compile(network)
    function = _steps(torch, network, compiled, values)
    first = first_ms(function)
    function(3)
    counted = _graph_count(torch)
    measurement.add(first_ms=round(first, 1), traces={"same_shape": counted} if counted is not None else None)
    times = interleaved({"eager": eager, "compile": function}, min(3.0, teller.left() / 2))
    measurement.add(**compared(times, "eager", "compile"))
    # The second length compiles once more, for all lengths.
    if counted is not None and teller.left() > 2 + 2 * first / 1e3:
        slowest = max(first_ms(_steps(torch, network, compiled, values[: ROWS - 1 - n])) for n in range(NEW_SHAPES))
        measurement.add(traces={
            "same_shape": counted, "new_shapes": NEW_SHAPES, "new_shape_traces": _graph_count(torch) - counted,
            "new_shape_ms": round(slowest, 1),
        })  # fmt: skip


def _why_not_compile(torch: Any, device: str) -> str | None:
    if not hasattr(torch, "compile"):
        return f"PyTorch {torch.__version__} has no torch.compile; PyTorch 2.0 and later have"
    if device != "cpu":
        if importlib.util.find_spec("triton") is None:
            return "torch.compile needs triton on a GPU, and it is not installed: pip install triton"
        return None
    compiler = os.environ.get("CXX") or next((one for one in ("g++", "clang++") if shutil.which(one)), "")
    if not compiler or not shutil.which(compiler.split()[0]):
        return "torch.compile needs a C++ compiler here, and there is none on PATH: install g++"
    return None


def _graph_count(torch: Any) -> Any:
    try:
        return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    except (AttributeError, KeyError, TypeError):
        return None


def _channels_last(teller: Teller, measurement: Measurement, torch: Any, device: str) -> None:
    steps = {}
    for name, layout in (("eager", torch.contiguous_format), ("channels_last", torch.channels_last)):
        torch.manual_seed(7)
        network = torch.nn.Sequential(*(torch.nn.Conv2d(16, 16, 3, padding=1) for _ in range(4)))
        network = network.to(device).to(memory_format=layout)
        values = torch.randn(4, 16, 80, 100, device=device).to(memory_format=layout)
        steps[name] = _steps(torch, network, _squares_of(network), values)
    times = interleaved(steps, min(2.0, teller.left() / 6))
    measurement.add(**compared(times, "eager", "channels_last"))


def _squares_of(network: Any) -> Callable[[Any], Any]:
    return lambda values: (network(values) ** 2).mean()


def _half(teller: Teller, measurement: Measurement, torch: Any, device: str) -> None:
    if device == "cpu":
        measurement.add(reason="half precision pays on a GPU, and PyTorch sees none")
        return
    torch.manual_seed(7)
    network = _network(torch, WIDE_LAYERS, WIDE_WIDTH, device)
    values = torch.randn(WIDE_ROWS, WIDE_WIDTH, device=device)
    kind = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16

    def half(inputs: Any) -> Any:
        with torch.autocast("cuda", dtype=kind):
            return network(inputs)

    steps = {"eager": _steps(torch, network, network, values), "half": _steps(torch, network, half, values)}
    times = interleaved(steps, min(2.0, teller.left() / 4))
    measurement.add(**compared(times, "eager", "half"))
