"""Settings of PyTorch and TensorFlow that make training steps faster: set, exported, and checked.

    import xtts_precompute as xp

    print(xp.tune.apply(framework="torch"))   # before `import torch`: some settings are read there
    print(xp.tune.verify(framework="torch"))  # what is in force now

    eval "$(python -m xtts_precompute.tune)"  # the settings that are environment variables
    python -m xtts_precompute.tune --verify   # what a new process has after apply()

`apply()` says of each setting whether it was set, or why not: it may be too late, the machine may
lack the GPU, or the line belongs into the trainer's own code.

These settings are often named for "maximum GPU utilization" and are left out, because they do not
help:

- **As many threads as the machine has cores.** A container or a job may use fewer (`os.cpu_count()`
  does not say so), and threads beyond them wait for one another.
- **TF_GPU_THREAD_COUNT above 2.** TensorFlow's default is one thread that starts kernels and one
  that copies, and no third kind of work (`gpu_device.cc`).
- **TF_SYNC_ON_FINISH=0.** Only sessions of TensorFlow 1 and their workers read it
  (`direct_session.cc`, `graph_mgr.cc`); functions and eager steps do not.
- **TF_ENABLE_EAGER_CLIENT_STREAMING_ENQUEUE.** It is about calls to other machines of a cluster.
- **All of TensorFlow's graph optimizers.** `debug_stripper` takes assertions and prints out of the
  step, and `auto_mixed_precision` does again what the Keras policy does, without scaling the loss.
- **--tf_xla_cpu_global_jit.** It compiles for the CPU, where the step is not if there is a GPU.
- **Memory growth together with a memory limit.** TensorFlow refuses both for one GPU; a limit is
  enough.
- **Variables that a program sets after the framework's import.** Most are read during the import or
  when the first GPU is opened; `apply()` says which are too late.
- **Autocast for the whole process.** PyTorch keeps the 16-bit copies of weights until the outermost
  `autocast` ends. If it never ends, steps use old weights.

These are left out because nobody has tried them on a GPU with this package:
`TF_GPU_ALLOCATOR=cuda_malloc_async`, and other allocators for the CPU (jemalloc, tcmalloc).
"""

from .rows import Report, Row
from .tuning import apply, environment, verify

__all__ = ["Report", "Row", "apply", "environment", "verify"]
