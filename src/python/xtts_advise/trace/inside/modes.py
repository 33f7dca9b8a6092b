"""What the process has set: searches of errors, which make each operation dearer, and whether it uses a GPU."""

import os
import sys

ANOMALIES = "torch.autograd.set_detect_anomaly(True)"
BLOCKING = "CUDA_LAUNCH_BLOCKING=1"
EAGERLY = "tf.config.run_functions_eagerly(True)"
DATA_EAGERLY = "tf.data.experimental.enable_debug_mode()"
GPU = "a GPU"


def modes():
    """Names of those that are on now. Some are on for a part of a step."""
    found = [BLOCKING] if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1" else []
    torch = sys.modules.get("torch")
    if _calls(torch, "is_anomaly_enabled"):
        found.append(ANOMALIES)
    if _calls(sys.modules.get("torch.cuda"), "is_initialized"):
        found.append(GPU)
    functions = sys.modules.get("tensorflow.python.eager.polymorphic_function.eager_function_run")
    if getattr(functions, "RUN_FUNCTIONS_EAGERLY", False):
        found.append(EAGERLY)
    if getattr(sys.modules.get("tensorflow.python.data.ops.debug_mode"), "DEBUG_MODE", False):
        found.append(DATA_EAGERLY)
    if _has_gpu(sys.modules.get("tensorflow.python.eager.context")):
        found.append(GPU)
    return found


def _calls(module, name):
    function = getattr(module, name, None)
    return function is not None and function()


def _has_gpu(module):
    """Of TensorFlow, which must not be made to begin before the trainer has set it up."""
    context = getattr(module, "context_safe", lambda: None)()
    return getattr(context, "_initialized", False) and context.num_gpus() > 0
