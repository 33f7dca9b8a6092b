"""Which frameworks are installed, what they see of the GPU, and what compiled steps gain here.

`probe()` runs TensorFlow, PyTorch and JAX for real, each in a child process with a time limit. A
framework that hangs, crashes, prints or is half installed gives an answer like any other. Only the
standard library is imported here. Times are of a small network, in which calls from Python cost
more than arithmetic, so a speedup here is the upper end of what a trainer gains.

The answer, as JSON:

    {"format": 1, "python": "3.11.2", "driver_cuda": "12.4" | null, "seconds": 21.3,
     "load": 0.4 | null,                           # of the minute before, for each processor
     "frameworks": [FRAMEWORK, ...]}               # always tensorflow, torch, jax, in this order

    FRAMEWORK:
      "name":         "tensorflow" | "torch" | "jax"
      "installed":    "yes" | "no" | "broken" | "unclear"
                                                   # broken: it is there and cannot be imported
                                                   # unclear: its import had no end in time
      "reason":       text | null                  # why it is broken or unclear
      "version":      text | null
      "distribution": "tensorflow-cpu" | null      # the package that pip knows
      "cuda":         CUDA                         # read from its files, so also known if it crashes
      "gpus":         [{"index": 0, "name": text, "capability": "8.9" | null}, ...] | null
                                                   # null: it was not told; []: it sees none
      "gpus_reason":  text | null                  # the framework's words about a GPU that it lacks
      "import_seconds": number | null
      "device":       "cpu" | "gpu" | null         # where the steps below ran
      "measurements": [MEASUREMENT, ...]           # [] for jax and for what is not installed
      "output":       text | null                  # the last lines that a framework printed which is
                                                   # broken, or built for CUDA and sees no GPU

    CUDA:
      "built_for":    "12.4" | "12" | null         # null: a build for CPUs only, or unknown
      "is_cpu_build": true | false | null          # null: unknown
      "cudnn":        "9" | null
      "source":       text                         # "torch/version.py"
      "libraries":    {"nvidia-cudnn-cu12": "9.1.0.70", ...}   # installed packages of NVIDIA's
      "needs":        {"status": "pass" | "fail" | "cannot_tell", "text": text, "source": text}
                                                   # against driver_cuda

    MEASUREMENT:
      "name":     "graph" | "xla" | "compile" | "channels_last" | "mixed_precision"
      "base":     "eager" | "graph" | "compile"    # what it is compared with
      "what":     "tf.function against eager"
      "status":   "measured" | "failed" | "cannot_tell"     # failed: the framework cannot do it here
      "reason":   text | null                      # why it failed or could not be told
      "speedup":  {"median": 3.1, "low": 2.8, "high": 3.4, "rounds": 5} | null
                                                   # above 1: faster than the base
      "ms":       {"eager": [6.1, ...], "graph": [1.9, ...]} | null     # a step, in each round
      "first_ms": number | null                    # the first step, which traces and compiles
      "traces":   {"same_shape": 1, "new_shapes": 4, "new_shape_traces": 4, "new_shape_ms": 210.0}
                  | null                           # how often a function was traced, and what a new
                                                   # shape costs; "new_..." if there was time for it

Rounds are interleaved, so that a disturbance meets all variants. low and high are the smallest and
the largest speedup of a round.
"""

from .probing import probe

__all__ = ["probe"]
