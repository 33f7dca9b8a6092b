"""
The compiled part of xtts_precompute that builds. Use xtts_precompute itself.
"""

from collections.abc import Callable, Sequence


def stop_all() -> None:
    """From now on all work stops."""

def stay_inside() -> None:
    """From now on no thread lets go of the GIL."""

def running_count() -> int:
    """Calls that have not ended."""

def build(*, data: bytes, cache: bytes, recipe: bytes, settings: Sequence[str], config: bytes, layout_of_data: str, language: str, speakers_file: bytes, store: str, layout: str, dtype: str, device: str, isa: str, memory: str, max_rejects: str, partition: str, threads: int, retry_rejects: bool, overwrite: bool, allow_mixed: bool, dry_run: bool, program: bytes, on_notice: Callable[[str], object], on_progress: Callable[[int, int, int, float, float, float, float | None], object] | None) -> str:
    """Builds; the JSON document of `build --json`. Empty: not given."""

def verify(*, cache: bytes, level: str, data: bytes, sample: str, seed: str, isa: str, threads: int, repair: bool, program: bytes, on_notice: Callable[[str], object], on_progress: Callable[[str, int, int, float, float | None], object] | None) -> str:
    """Verifies; the JSON document of `verify --json`. Empty: not given."""
