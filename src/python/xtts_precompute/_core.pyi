"""The compiled part of xtts_precompute. Use xtts_precompute itself."""

from collections.abc import Sequence
from typing import Any, overload


def fork_count() -> int:
    """How many forks lie between the importing process and this one."""

def stay_inside() -> None:
    """From now on no thread releases the GIL."""

def count_outside() -> int:
    """The number of threads that have released the GIL."""

class Memory:
    """Read-only memory of a batch or record, by the buffer protocol."""

    @property
    def device(self) -> tuple[int, int]:
        """(kind in DLPack's numbers, number of the device)."""

    @property
    def address(self) -> int:
        """Where the memory begins, on its device."""

def dlpack_of_memory(is_versioned: bool, memory: Memory, address: int, shape: Sequence[int], strides: Sequence[int], kind: int, bits: int) -> object:
    """
    A capsule of a part of `memory`, marked read-only where DLPack can (1.0); strides count elements.
    """

def dlpack_of_copy(is_versioned: bool, address: int, size_bytes: int, shape: Sequence[int], strides: Sequence[int], kind: int, bits: int) -> object:
    """A capsule of a copy of memory without gaps."""

class ClipInfo:
    """What is known of a clip. Unknown values are empty."""

    @property
    def id(self) -> str: ...

    @property
    def dataset(self) -> str: ...

    @property
    def split(self) -> str: ...

    @property
    def speaker(self) -> str: ...

    @property
    def language(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def text_normalized(self) -> str: ...

    @property
    def duration_s(self) -> float: ...

    @property
    def frame_count(self) -> int: ...

    @property
    def token_count(self) -> int: ...

class Cache:
    """Caches that were opened, one generation of each."""

    @property
    def digest(self) -> str: ...

    @property
    def speakers(self) -> list[str]: ...

    @property
    def languages(self) -> list[str]: ...

    @property
    def datasets(self) -> list[str]: ...

    @property
    def recipe(self) -> str: ...

    @property
    def features_fingerprint(self) -> str: ...

    @property
    def text_fingerprint(self) -> str: ...

    @property
    def generation(self) -> int: ...

    @property
    def columns(self) -> list[tuple[str, str, list[int], str, int, str | None, int]]: ...

    def statistics(self, column: str) -> tuple[list[float], list[float], int, bool]:
        """
        (means, deviations, frames, whether they are baked in) of a column's channels.
        """

    def normalization(self) -> tuple[str, str, float, bool, float, str, bool, list[float], list[float]] | None:
        """
        (text, log, floor, whether it is added, range, method, whether baked in, offsets, scales) of the mels, or None.
        """

    def __len__(self) -> int: ...

    def id(self, position: int) -> str: ...

    def ids(self, positions: Sequence[int]) -> list[str]: ...

    def find(self, id: str) -> int | None: ...

    def clip(self, position: int) -> ClipInfo: ...

    def view(self, column: str, position: int) -> tuple[Memory, str, list[int], float]:
        """(memory, dtype, shape, padding) of one record."""

def open(paths: Sequence[bytes]) -> Cache: ...

class Batch:
    """A lease on one of a reader's slots."""

    def __len__(self) -> int: ...

    @property
    def valid_count(self) -> int: ...

    @property
    def bucket(self) -> int: ...

    @property
    def column_names(self) -> list[str]: ...

    def column(self, name: str) -> tuple[Memory, str, list[int]] | None:
        """(memory, dtype, shape), or None."""

    def lengths(self, name: str) -> Memory | None:
        """The true lengths (int32), or None."""

    def is_view(self, name: str) -> bool: ...

    def speakers(self) -> Memory: ...

    def languages(self) -> Memory: ...

    def lengths_on_device(self, name: str) -> Memory | None:
        """lengths() where the columns lie."""

    def speakers_on_device(self) -> Memory: ...

    def languages_on_device(self) -> Memory: ...

    def wait(self) -> None:
        """Waits until the columns may be read."""

    def let_wait(self, stream: int) -> None:
        """Makes a stream of the device wait until the columns may be read."""

    def positions(self) -> Memory: ...

class ClipSource:
    """Clips that are computed while they are read."""

class Reader:
    """Batches of caches or of a ClipSource. One thread at a time."""

    @overload
    def __init__(self, cache: Cache, options: dict[str, Any]) -> None: ...

    @overload
    def __init__(self, clips: ClipSource, options: dict[str, Any]) -> None: ...

    def next(self) -> Batch | None:
        """The next batch, or None at the epoch's end."""

    def set_epoch(self, epoch: int) -> None: ...

    def epoch(self) -> int: ...

    def sample_count(self) -> int: ...

    def samples_per_epoch(self) -> int: ...

    def batches_per_epoch(self) -> int: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: dict[str, Any]) -> None: ...

    def stats(self) -> dict[str, Any]:
        """The reader's figures so far. Any thread may ask."""

    def left_out(self) -> list[int]:
        """Positions of the clips left out so far. Any thread may ask."""

    def close(self, limit_s: float | None = None) -> None:
        """Ends the threads. Batches, arrays and figures stay valid."""

    @property
    def is_closed(self) -> bool: ...

    @property
    def is_busy(self) -> bool: ...

def count_batches(*, sample_count: int, batch_size: int, rank: int, world_size: int, drop_last: bool, first_place: int = 0) -> int:
    """How many batches a rank gets in an epoch, from a place on."""

def find_cycle(times: Sequence[float]) -> tuple[float, float] | None:
    """
    The period with which times repeat themselves, and how much of them does; or None.
    """

def cuda_pci_bus_id(number: int) -> str:
    """The place of the GPU that CUDA calls cuda:N in this process."""

class GpuSampler:
    """Samples what a GPU does between start and stop."""

    def __init__(self, pci_bus_id: str, interval_ms: int = 100) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None:
        """Takes a last sample."""

    def use(self) -> tuple[dict[str, Any] | None, str]:
        """
        The values, as tests/cli/schemas/gpu.json has them, and why others are missing.
        """
