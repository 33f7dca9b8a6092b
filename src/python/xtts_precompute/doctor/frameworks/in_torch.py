"""PyTorch in a child: devices, eager steps against torch.compile, memory layout, half precision."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import time
from typing import Any, Callable

from .inside import Teller, attempt, measure
from .timing import compared, first_ms, interleaved

# Small matrices: what a step costs is mostly the calls, as in the trainers that this probe is for.
LAYERS, WIDTH, ROWS = 12, 64, 256
WIDE_LAYERS, WIDE_WIDTH, WIDE_ROWS = 4, 2048, 4096
NEW_SHAPES = 3


def run(teller: Teller) -> None:
    torch: Any = None

    def load() -> float:
        nonlocal torch
        begin = time.perf_counter()
        torch = importlib.import_module("torch")
        return round(time.perf_counter() - begin, 2)

    if attempt(teller, "import", "import_seconds", load) is None:
        return
    attempt(teller, "version", "version", lambda: str(torch.__version__))
    attempt(teller, "build info", "build", lambda: {"cuda_version": str(torch.version.cuda or "")})
    gpus = attempt(teller, "devices", "gpus", lambda: _gpus(torch))
    device = "cuda" if gpus else "cpu"
    teller.tell("device", "gpu" if gpus else "cpu")
    measure(teller, "channels_last", "eager", "channels_last against contiguous, in 2-D convolutions",
            lambda: _channels_last(teller, torch, device))  # fmt: skip
    measure(teller, "mixed_precision", "eager", "autocast against float32", lambda: _half(teller, torch, device))
    # Last, because a compiler may take the time of all others.
    measure(teller, "compile", "eager", "torch.compile against eager", lambda: _compile(teller, torch, device))


def _gpus(torch: Any) -> list[dict[str, Any]]:
    if not torch.cuda.is_available():
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


def _steps(torch: Any, network: Any, loss_of: Callable[[Any], Any], values: Any) -> Callable[[int], None]:
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            loss = loss_of(values)
            loss.backward()
            optimizer.step()
        loss.item()  # waits for a GPU

    return steps


def _compile(teller: Teller, torch: Any, device: str) -> dict[str, Any]:
    if not hasattr(torch, "compile"):
        return {"reason": f"PyTorch {torch.__version__} has no torch.compile; PyTorch 2.0 and later have"}
    if device == "cpu":
        compiler = os.environ.get("CXX") or next((one for one in ("g++", "clang++", "c++") if shutil.which(one)), "")
        if not compiler or not shutil.which(compiler.split()[0]):
            return {"reason": "torch.compile needs a C++ compiler here, and there is none on PATH: install g++"}
    elif importlib.util.find_spec("triton") is None:
        return {"reason": "torch.compile needs triton on a GPU, and it is not installed: pip install triton"}
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
    found: dict[str, Any] = {"first_ms": round(first, 1), "traces": {"same_shape": counted}}
    times = interleaved({"eager": eager, "compile": function}, min(3.0, teller.left() / 2))
    found.update(compared(times, "eager", "compile"))
    teller.tell("measurement:compile", {
        "name": "compile", "base": "eager", "what": "torch.compile against eager", "status": "measured", **found,
    })  # fmt: skip
    # The second length compiles once more, for any length; later ones should not.
    if counted is not None and teller.left() > 2 + 2 * first / 1e3:
        teller.stage("torch.compile with batches of other lengths")
        slowest = max(first_ms(_steps(torch, network, compiled, values[: ROWS - 1 - n])) for n in range(NEW_SHAPES))
        found["traces"].update(
            new_shapes=NEW_SHAPES, new_shape_traces=_graph_count(torch) - counted, new_shape_ms=round(slowest, 1)
        )
    return found


def _graph_count(torch: Any) -> Any:
    try:
        return int(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    except (AttributeError, KeyError, TypeError):
        return None


def _channels_last(teller: Teller, torch: Any, device: str) -> dict[str, Any]:
    torch.manual_seed(7)
    layers = [torch.nn.Conv2d(16, 16, 3, padding=1) for _ in range(4)]
    steps = {}
    for name, layout in (("eager", torch.contiguous_format), ("channels_last", torch.channels_last)):
        network = torch.nn.Sequential(*layers).to(device).to(memory_format=layout)
        values = torch.randn(4, 16, 80, 100, device=device).to(memory_format=layout)
        network = _copy(network)
        steps[name] = _steps(torch, network, lambda x, network=network: (network(x) ** 2).mean(), values)  # type: ignore[misc]
    return compared(interleaved(steps, min(2.0, teller.left() / 6)), "eager", "channels_last")


def _copy(network: Any) -> Any:
    import copy

    return copy.deepcopy(network)


def _half(teller: Teller, torch: Any, device: str) -> dict[str, Any]:
    if device == "cpu":
        return {"reason": "half precision pays on a GPU, and PyTorch sees none"}
    torch.manual_seed(7)
    network = _network(torch, WIDE_LAYERS, WIDE_WIDTH, device)
    values = torch.randn(WIDE_ROWS, WIDE_WIDTH, device=device)
    kind = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16

    def half(inputs: Any) -> Any:
        with torch.autocast("cuda", dtype=kind):
            return network(inputs)

    steps = {"eager": _steps(torch, network, network, values), "half": _steps(torch, network, half, values)}
    return compared(interleaved(steps, min(2.0, teller.left() / 4)), "eager", "half")
