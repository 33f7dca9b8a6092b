"""Precomputed speech features as batches of fixed shape, at the speed of memory.

    import xtts_precompute as xp

    cache = xp.open("./cache")
    cache["LJ001-0001"].mel                      # [frames, 80], read-only
    reader = cache.reader(batch_size=32, split="train", shuffle="global", seed=7)
    for _ in range(reader.epoch, 100):
        for batch in reader:
            step(batch.mel, batch.mel_len, batch.tokens, batch.text_len)
        torch.save(reader.state_dict(), "reader.pt")

Arrays are read-only. An array stays valid while you hold it, even when its batch, reader and cache
are gone. Each batch or array that you hold occupies one of the reader's slots (`prefetch=`). A
damaged record raises CorruptError, which names the clip.

`xp.torch`, `xp.tensorflow` and `xp.jax` give batches as tensors of these frameworks. `xp.myxtts`
reads the config.yaml of the MyXTTS trainer. `xp.tune` sets what makes PyTorch and TensorFlow
faster. `xp.buckets` writes caches to object stores. The six are imported at their first use.
"""

from typing import TYPE_CHECKING

from ._base.arrays import Array
from ._base.device_arrays import DeviceArray
from ._base.errors import (
    BusyError,
    CorruptError,
    Error,
    InternalError,
    InvalidArgumentError,
    MismatchError,
    MissingPackageError,
    NotFoundError,
    Reject,
    RejectedClipError,
    ResourceError,
    SourceIoError,
    TooManyRejectsError,
    UnsupportedError,
)
from ._build.build import (
    BuildPreview,
    BuildProgress,
    BuildReport,
    Finding,
    Repaired,
    VerifyProgress,
    VerifyReport,
    build,
    verify,
)
from ._build.progress import ColumnProgress
from ._cache.batch import Batch
from ._cache.cache import Cache, open
from ._cache.clips import Clip
from ._cache.normalization import Normalization
from ._cache.options import Statistics
from ._cache.readable import Column
from ._cache.reader import Reader, ReaderStats
from ._runtime.clip import RuntimeClip
from ._runtime.clips import RuntimeClips, RuntimeProgress, RuntimeReader, runtime
from .profile.profiler import StepProfiler
from .profile.report import ProfileReport

__version__: str

if TYPE_CHECKING:
    from . import buckets as buckets
    from . import jax as jax
    from . import myxtts as myxtts
    from . import tensorflow as tensorflow
    from . import torch as torch
    from . import tune as tune
else:  # a type checker that saw this function would accept any name
    # Imported at their first use. A framework takes seconds to load, and the version takes longer
    # than the rest of this package.
    _INTEGRATIONS = ("buckets", "jax", "myxtts", "tensorflow", "torch", "tune")

    def __getattr__(name):
        import importlib

        if name in _INTEGRATIONS:
            return importlib.import_module(f"{__name__}.{name}")
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib.metadata

        return importlib.metadata.version("xtts-precompute")


__all__ = [
    "Array",
    "Batch",
    "BuildPreview",
    "BuildProgress",
    "BuildReport",
    "BusyError",
    "Cache",
    "Clip",
    "Column",
    "ColumnProgress",
    "CorruptError",
    "DeviceArray",
    "Error",
    "Finding",
    "InternalError",
    "InvalidArgumentError",
    "MismatchError",
    "MissingPackageError",
    "Normalization",
    "NotFoundError",
    "ProfileReport",
    "Reader",
    "ReaderStats",
    "Reject",
    "RejectedClipError",
    "Repaired",
    "ResourceError",
    "RuntimeClip",
    "RuntimeClips",
    "RuntimeProgress",
    "RuntimeReader",
    "SourceIoError",
    "Statistics",
    "StepProfiler",
    "TooManyRejectsError",
    "UnsupportedError",
    "VerifyProgress",
    "VerifyReport",
    "build",
    "open",
    "runtime",
    "verify",
]
