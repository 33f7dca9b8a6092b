"""TensorFlow's settings."""

from __future__ import annotations

from typing import Any

from .._base.frameworks import framework
from .settings import Plan, Setting, Unknown, Unset, in_force, with_flag

_API = "https://www.tensorflow.org/api_docs/python/tf"
_GPU_GUIDE = "https://www.tensorflow.org/guide/gpu_performance_analysis"
_NO_GPU = "TensorFlow finds no GPU here."


def load() -> Any:
    """Imports TensorFlow."""
    return framework("tensorflow", "tensorflow-cpu (or tensorflow[and-cuda] for a GPU)")


def settings(plan: Plan) -> list[Setting]:
    """Returns the settings, without an import of TensorFlow."""
    made = [
        Setting(
            "tensorflow.inter_op_threads", plan.inter_op,
            "Operations that do not depend on each other get one thread for each usable core.",
            f"{_API}/config/threading/set_inter_op_parallelism_threads",
            variable="TF_NUM_INTEROP_THREADS", value=str(plan.inter_op),
            call=lambda: load().config.threading.set_inter_op_parallelism_threads(plan.inter_op),
            find=lambda: _threads(load().config.threading.get_inter_op_parallelism_threads(), "TF_NUM_INTEROP_THREADS"),
        ),
        Setting(
            "tensorflow.intra_op_threads", plan.intra_op,
            "An operation gets half of the usable cores; data and trainer have the others.",
            f"{_API}/config/threading/set_intra_op_parallelism_threads",
            variable="TF_NUM_INTRAOP_THREADS", value=str(plan.intra_op),
            call=lambda: load().config.threading.set_intra_op_parallelism_threads(plan.intra_op),
            find=lambda: _threads(load().config.threading.get_intra_op_parallelism_threads(), "TF_NUM_INTRAOP_THREADS"),
        ),
        Setting(
            "tensorflow.gpu_threads", "gpu_private",
            "Each GPU has threads of its own that start its kernels, so work on the CPU does not delay them.",
            _GPU_GUIDE, variable="TF_GPU_THREAD_MODE", value="gpu_private",
        ),
        Setting(
            "tensorflow.cudnn_autotune", True,
            "cuDNN's algorithms are timed once for each shape. It is the default; 0 switches it off.",
            "tensorflow/core/util/use_cudnn.cc", variable="TF_CUDNN_USE_AUTOTUNE", value="1", by_default=True,
        ),
    ]  # fmt: skip
    limit = plan.memory_limit
    if limit is None:
        made.append(
            Setting(
                "tensorflow.gpu_memory_growth", True,
                "TensorFlow takes a GPU's memory as it needs it, instead of all at once.",
                "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",
                variable="TF_FORCE_GPU_ALLOW_GROWTH", value="true", call=_set_growth, find=_find_growth,
            )
        )  # fmt: skip
    else:
        made.append(
            Setting(
                "tensorflow.gpu_memory_limit", f"{limit} MB", "Other processes have the rest of the GPU's memory.",
                "https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth",
                call=lambda: _set_limit(limit), find=lambda: _find_limit(limit),
            )
        )  # fmt: skip
    if plan.xla:
        flag = "--tf_xla_auto_jit=2"
        made.append(
            Setting(
                "tensorflow.xla", "autoclustering",
                "Kernels that follow each other on a GPU become one. Each new shape is compiled anew.",
                "https://www.tensorflow.org/xla",
                variable="TF_XLA_FLAGS", value=with_flag("TF_XLA_FLAGS", flag, " "),
                call=lambda: load().config.optimizer.set_jit(True), find=lambda: _find_xla(flag),
            )
        )  # fmt: skip
    if plan.mixed_precision:
        made += [
            Setting(
                "tensorflow.tensor_float_32", True,
                "Products of float32 matrices use TensorFloat-32 on GPUs that have it. It is the default.",
                f"{_API}/config/experimental/enable_tensor_float_32_execution",
                call=lambda: load().config.experimental.enable_tensor_float_32_execution(True),
                find=lambda: bool(load().config.experimental.tensor_float_32_execution_enabled()),
            ),
            Setting(
                "tensorflow.mixed_precision", "mixed_bfloat16 or mixed_float16",
                "16-bit products are faster and take half of the memory. It holds for layers made afterwards; with "
                "float16, a loop of your own needs a LossScaleOptimizer.",
                "https://www.tensorflow.org/guide/mixed_precision", call=_set_policy, find=_find_policy,
            ),
        ]  # fmt: skip
    return made


def _gpus(otherwise: Exception) -> list[Any]:
    """Returns the GPUs, or raises where there is none. The question does not open them."""
    found = list(load().config.list_physical_devices("GPU"))
    if not found:
        raise otherwise
    return found


def _threads(found: int, variable: str) -> int | str:
    """Returns what was set by a call, else by the variable."""
    if found:
        return found
    given = in_force(variable) or ""
    return int(given) if given.isdigit() and int(given) else "TensorFlow's default"


def _set_growth() -> None:
    for gpu in _gpus(Unset("not_here", _NO_GPU)):
        load().config.experimental.set_memory_growth(gpu, True)


def _find_growth() -> bool:
    gpus = _gpus(Unknown(_NO_GPU))
    if (in_force("TF_FORCE_GPU_ALLOW_GROWTH") or "").lower() == "true":
        return True
    return all(bool(load().config.experimental.get_memory_growth(gpu)) for gpu in gpus)


def _set_limit(limit: int) -> None:
    config = load().config
    for gpu in _gpus(Unset("not_here", _NO_GPU)):
        config.set_logical_device_configuration(gpu, [config.LogicalDeviceConfiguration(memory_limit=limit)])


def _find_limit(limit: int) -> str:
    config = load().config
    gpus = _gpus(Unknown(_NO_GPU))
    parts = [part for gpu in gpus for part in config.get_logical_device_configuration(gpu) or [None]]
    found = {None if part is None or part.memory_limit is None else round(part.memory_limit) for part in parts}
    return f"{limit} MB" if found == {limit} else "no limit" if found == {None} else f"{found} MB"


def _find_xla(flag: str) -> str:
    by_variable = flag in (in_force("TF_XLA_FLAGS") or "").split()
    return load().config.optimizer.get_jit() or ("autoclustering" if by_variable else "off")


def _policy(gpus: list[Any]) -> str | None:
    """Returns the policy for the weakest GPU; None: its 16-bit products are not faster."""
    details = [load().config.experimental.get_device_details(gpu) for gpu in gpus]
    weakest = min((one.get("compute_capability") or (0, 0) for one in details), default=(0, 0))
    return "mixed_bfloat16" if weakest >= (8, 0) else "mixed_float16" if weakest >= (7, 0) else None


def _set_policy() -> None:
    policy = _policy(_gpus(Unset("not_here", _NO_GPU)))
    if policy is None:
        raise Unset("not_here", "A GPU here is below compute capability 7.0 or does not tell it.")
    load().keras.mixed_precision.set_global_policy(policy)


def _find_policy() -> str:
    _gpus(Unknown(_NO_GPU))
    found = str(load().keras.mixed_precision.global_policy().name)
    return "mixed_bfloat16 or mixed_float16" if found in ("mixed_bfloat16", "mixed_float16") else found
