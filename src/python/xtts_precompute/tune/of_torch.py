"""PyTorch's settings."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from typing import Any

from .._base.frameworks import framework
from .settings import Plan, Setting, Unknown, Unset, with_flag

_NOTES = "https://pytorch.org/docs/stable/notes"
_TUNING = "https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
_THREADS = f"{_NOTES}/cpu_threading_torchscript_inference.html"
_NO_GPU = "PyTorch finds no CUDA device here."

# True where apply() has just imported PyTorch itself, so that nobody can have used it.
is_new = False


def load() -> Any:
    """Imports PyTorch."""
    return framework("torch", "torch")


def settings(plan: Plan) -> list[Setting]:
    """Returns the settings, without an import of PyTorch."""
    made = [
        Setting(
            "torch.inter_op_threads", plan.inter_op,
            "Operations that do not depend on each other get one thread for each usable core.", _THREADS,
            call=lambda: _set_pool(plan.inter_op), find=lambda: load().get_num_interop_threads(),
        ),
        Setting(
            "torch.intra_op_threads", plan.intra_op,
            "An operation gets half of the usable cores; data and trainer have the others.", _THREADS,
            variable="OMP_NUM_THREADS", value=str(plan.intra_op),
            call=lambda: load().set_num_threads(plan.intra_op), find=lambda: load().get_num_threads(),
        ),
        Setting(
            "torch.thread_waits", "passive",
            "Threads that wait spinning take cores from data and from one another.",
            "src/python/README.md, StepProfiler: measured", variable="OMP_WAIT_POLICY", value="passive",
        ),
        Setting(
            "torch.cudnn_benchmark", True,
            "cuDNN times its algorithms once for each shape. Batches of few shapes gain; many shapes lose.",
            _TUNING, call=_set_benchmark, find=lambda: bool(load().backends.cudnn.benchmark),
        ),
    ]  # fmt: skip
    allocator = "expandable_segments:True"
    if _version() >= (2, 1):  # earlier ones end with an error at this option
        made.append(
            Setting(
                "torch.gpu_memory_growth", allocator,
                "Blocks of the GPU's memory grow in place, so shapes that change leave fewer gaps.",
                f"{_NOTES}/cuda.html", variable="PYTORCH_CUDA_ALLOC_CONF",
                value=with_flag("PYTORCH_CUDA_ALLOC_CONF", allocator, ","),
            )
        )  # fmt: skip
    if plan.memory_limit is not None:
        limit = plan.memory_limit
        made.append(
            Setting(
                "torch.gpu_memory_limit", f"{limit} MB", "Other processes have the rest of the GPU's memory.",
                "https://pytorch.org/docs/stable/generated/torch.cuda.set_per_process_memory_fraction.html",
                call=lambda: _set_limit(limit), find=lambda: _find_limit(limit),
            )
        )  # fmt: skip
    if plan.mixed_precision:
        made += [
            Setting(
                "torch.float32_matmul_precision", "high",
                "Products of float32 matrices use TensorFloat-32 on GPUs that have it.",
                "https://pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html",
                call=lambda: load().set_float32_matmul_precision("high"),
                find=lambda: load().get_float32_matmul_precision(),
            ),
            Setting(
                "torch.mixed_precision", True,
                "16-bit products are faster and take half of the memory.", f"{_NOTES}/amp_examples.html",
                call=_say_autocast, find=_find_autocast,
            ),
        ]  # fmt: skip
    return made


def _set_pool(count: int) -> None:
    # If the pool has begun, this call ends the process in PyTorch 1.13 (an error of C++ that nobody
    # catches), and nothing tells whether it has begun. PyTorch 2.7 raises RuntimeError. Before that
    # version, the call is made only if no code of the user's can have used PyTorch.
    global is_new
    torch = load()
    if torch.get_num_interop_threads() == count:
        return
    if not is_new and _version() < (2, 7):
        raise Unset(
            "too_late",
            "PyTorch allows this once, before its first parallel work, and does not say whether there was any: "
            "call apply() before the first import of torch.",
        )
    is_new = False
    torch.set_num_interop_threads(count)


def _set_benchmark() -> None:
    torch = load()
    if torch.are_deterministic_algorithms_enabled():
        raise Unset("not_here", "torch.use_deterministic_algorithms() is on, and timing would choose at random.")
    torch.backends.cudnn.benchmark = True


def _set_limit(limit: int) -> None:
    torch = load()
    if not torch.cuda.is_available():
        raise Unset("not_here", _NO_GPU)
    for device in range(torch.cuda.device_count()):
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, limit * 2**20 / total), device)


def _find_limit(limit: int) -> str:
    torch = load()
    if not torch.cuda.is_available():
        raise Unknown(_NO_GPU)
    if not hasattr(torch.cuda, "get_per_process_memory_fraction"):
        raise Unknown(f"PyTorch {torch.__version__} does not tell its limit.")
    found = {
        round(
            torch.cuda.get_per_process_memory_fraction(device)
            * torch.cuda.get_device_properties(device).total_memory
            / 2**20
        )
        for device in range(torch.cuda.device_count())
    }
    return f"{limit} MB" if found == {limit} else f"{sorted(found)} MB"


def _say_autocast() -> None:
    if not load().cuda.is_available():
        raise Unset("not_here", _NO_GPU)
    raise Unset(
        "yours",
        'Put the forward pass and the loss into `with torch.autocast("cuda", dtype=torch.bfloat16):`. GPUs before '
        "compute capability 8.0 need float16 and a GradScaler.",
    )


def _find_autocast() -> bool:
    torch = load()
    if torch.is_autocast_enabled():
        return True
    raise Unknown(
        _NO_GPU if not torch.cuda.is_available() else "Only within the step can be seen whether it runs under autocast."
    )


def _version() -> tuple[int, int]:
    """Returns the version of the PyTorch that is installed, as in (2, 4); (0, 0) if it is not known."""
    try:
        version = sys.modules["torch"].__version__ if "torch" in sys.modules else importlib.metadata.version("torch")
    except (AttributeError, importlib.metadata.PackageNotFoundError):
        return 0, 0
    numbers = re.match(r"(\d+)\.(\d+)", str(version))
    return (int(numbers[1]), int(numbers[2])) if numbers is not None else (0, 0)
