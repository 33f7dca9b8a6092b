"""
The compiled part of xtts_precompute that builds. Use xtts_precompute itself.
"""

from collections.abc import Callable, Sequence

import xtts_precompute._core


def stop_all() -> None:
    """Tells all work to stop, for good."""

def stay_inside() -> None:
    """From now on no thread releases the GIL."""

def count_outside() -> int:
    """The number of threads that have released the GIL."""

def running_count() -> int:
    """The number of calls that have not ended."""

def build(options: dict[str, object], *, on_notice: Callable[[str], object], on_progress: Callable[[int, int, int, float, float, float, float | None], object] | None) -> str:
    """Builds. Returns the JSON of `build --json`."""

def verify(options: dict[str, object], *, on_notice: Callable[[str], object], on_progress: Callable[[str, int, int, float, float | None], object] | None) -> str:
    """Verifies. Returns the JSON of `verify --json`."""

class ColumnWriter:
    @property
    def clip_count(self) -> int: ...

    @property
    def done_count(self) -> int: ...

    def next(self, ahead: int) -> tuple[int, int]: ...

    def put(self, rows: bytes) -> None: ...

    def close(self) -> None: ...

    def finish(self) -> tuple[bool, int, int, int, int]: ...

def open_writer(*, cache: bytes, name: str, version: str, axis: str, dtype: str, row_shape: Sequence[int], rows_per_frame: int, allow_nonfinite: bool) -> ColumnWriter: ...

class SoundReader:
    @property
    def sample_rate_hz(self) -> int: ...

    def expect(self, positions: Sequence[int], clips_together: int, process_count: int) -> None: ...

    def source_of(self, position: int) -> bytes: ...

    def read(self, position: int) -> bytes: ...

    def close(self) -> None: ...

def open_sound(*, cache: bytes, data: bytes, program: bytes) -> SoundReader: ...

class RuntimeClip:
    """What is known of a clip before it is computed. Unknown is empty."""

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
    def source(self) -> str: ...

    @property
    def speaker_number(self) -> int: ...

    @property
    def language_number(self) -> int: ...

class Runtime:
    """Clips that are computed when they are asked for."""

    @property
    def recipe(self) -> str: ...

    @property
    def features_fingerprint(self) -> str: ...

    @property
    def text_fingerprint(self) -> str: ...

    @property
    def digest(self) -> str: ...

    @property
    def layout_of_data(self) -> str: ...

    @property
    def speakers(self) -> list[str]: ...

    @property
    def languages(self) -> list[str]: ...

    @property
    def columns(self) -> list[tuple[str, str, list[int], int, float]]: ...

    @property
    def fault_count(self) -> int: ...

    @property
    def faults_allowed(self) -> int: ...

    def planned_rejects(self) -> list[tuple[str, str, str, str, str, str, dict[str, float], str]]:
        """(kind, stage, id, place, reason, rule, its numbers, about) of each."""

    def source(self) -> xtts_precompute._core.ClipSource:
        """The source for a _core.Reader."""

    def reject(self, position: int) -> tuple[str, str, str, str, str, str, dict[str, float], str] | None:
        """Why a clip has no record, if that is known."""

    def __len__(self) -> int: ...

    def clip(self, position: int) -> RuntimeClip: ...

    def ids(self, positions: Sequence[int]) -> list[str]: ...

    def positions(self, split: str) -> list[int]:
        """The positions of a split, ascending. Empty means all splits."""

    def find(self, id: str) -> int | None: ...

    def record(self, position: int) -> tuple[tuple[str, str, str, str, str, str, dict[str, float], str] | None, list[tuple[xtts_precompute._core.Memory, int, float]], float]:
        """
        Computes a clip: (kind, stage, id, place, reason, rule, its numbers, about) where it is rejected; (true rows, their number, padding) of each column; seconds.
        """

def open_runtime(options: dict[str, object], *, on_notice: Callable[[str], object], on_wait: Callable[[float], object] | None) -> Runtime:
    """Plans DATA. The options are those of build()."""

def recipe(*, recipe: bytes, settings: Sequence[str], config: bytes) -> str:
    """
    What a build would make: RecipeReport's JSON document. Empty: not given.
    """
