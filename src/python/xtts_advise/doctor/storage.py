"""Does the storage bring a batch in time?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import words
from ..findings import Check, Evidence, Finding

# The users' own limit: reads that take longer than this for a batch are slow.
_SLOW_BATCH_MS = 50.0
# A page of a rotating disk or of a far server takes this long. An SSD takes a tenth of it.
_SEEK_MS = 2.0
_NETWORK = "network"  # a kind of storage
_PAST = "read past the page cache"
_SHOWN: dict[str, Callable[[float], str]] = {
    "ms": lambda value: f"{words.short(value)} ms",
    "1/s": lambda value: f"{words.short(value)} a second",
    "bytes/s": lambda value: f"{words.size(value)}/s",
    "share": words.fine_percent,
}


def batch_ms(storage: dict[str, Any], batch_size: int) -> float | None:
    """Milliseconds in which a batch's clips are read, one at a time; None: not measured."""
    one: float | None = storage["extent_ms"]
    return None if one is None else one * batch_size


def batch_ms_deep(storage: dict[str, Any], batch_size: int) -> float | None:
    """The same with 32 reads at a time."""
    rate: float | None = storage["extents_per_s_deep"]
    return None if rate is None else 1e3 * batch_size / rate


def check(
    storage: dict[str, Any],
    *,
    folder: str,
    batch_size: int,
    whole_bytes: int,
    memory_available_bytes: int,
    is_cache: bool = False,
    padded_record_bytes: int = 0,
    packed_half_record_bytes: int = 0,
) -> Check:
    """folder: as the user wrote it. whole_bytes: of all that an epoch reads. *_record_bytes: of a clip in a cache;
    0: not known."""
    made = Check("storage_of_cache", "Storage of the cache") if is_cache else Check("storage", "Storage")
    made.evidence = _evidence(storage, batch_size, "a record" if is_cache else "a clip's file")
    sequential = storage["sequential_bytes_per_s"]
    if not is_cache and sequential is not None:
        forms = {"padded float32": padded_record_bytes, "packed float16": packed_half_record_bytes}
        for form, record_bytes in forms.items():
            if record_bytes:
                ms = 1e3 * record_bytes * batch_size / sequential
                what = f"a batch of a {form} cache, --shuffle window"
                source = "computed: bytes of a batch by the sequential rate"
                made.evidence.append(Evidence(what, f"{words.short(ms)} ms", source, ms, "ms"))
    one = batch_ms(storage, batch_size)
    if one is None:
        why = storage["missing"] or "no file was read"
        made.summary, made.is_judged = f"The storage of {folder} could not be measured: {why}.", False
        return made
    deep = batch_ms_deep(storage, batch_size)
    made.summary = (
        f"The storage of {folder}{_behaviour(storage)}: the clips of a batch of {batch_size} take "
        f"{words.short(one)} ms one at a time{_with_many_reads(one, deep)}."
    )
    if one < _SLOW_BATCH_MS:
        return made
    best = one if deep is None else min(one, deep)
    fits = whole_bytes < memory_available_bytes / 2
    if fits:
        made.summary += f" All of it ({words.size(whole_bytes)}) fits into memory, so this concerns the first epoch."
    is_slow = best >= _SLOW_BATCH_MS and not fits
    made.findings.append(Finding("fail" if is_slow else "warn", made.summary, _remedy(storage, is_cache)))
    return made


def _seeks(storage: dict[str, Any]) -> bool:
    return storage["random_4k_ms"] is not None and storage["random_4k_ms"] >= _SEEK_MS


def _behaviour(storage: dict[str, Any]) -> str:
    if storage["random_4k_ms"] is None:  # all files are smaller than a page
        return ""
    return " seeks like a rotating disk or a far server" if _seeks(storage) else " answers like an SSD"


def _with_many_reads(one: float, deep: float | None) -> str:
    if deep is None:
        return ""
    return f", and {words.short(deep) + ' ms' if deep < one else 'no less'} with many reads at once"


def _remedy(storage: dict[str, Any], is_cache: bool) -> str:
    seeks = _seeks(storage)
    if storage["kind"] == _NETWORK:
        what = "the cache" if is_cache else "a cache of it, packed and float16"
        return f"Put {what} on a local disk: each read of this one is handed to another machine."
    if is_cache:
        return (
            'Read it with shuffle="window", which reads in long runs, or convert it with --layout packed '
            "--dtype float16."
            if seeks
            else "Convert it with --layout packed --dtype float16, which halves the bytes."
        )
    return (
        'Build a cache, packed and float16, and read it with shuffle="window": it reads in long runs instead of '
        "seeking for each clip."
        if seeks
        else "Build a cache, packed and float16, or move the data to a faster disk."
    )


def _evidence(storage: dict[str, Any], batch_size: int, clip: str) -> list[Evidence]:
    one_at_a_time = f"{_PAST}, one at a time"
    sized = f"{clip} of {words.size(storage['extent_bytes'])}"
    rows = [
        ("sequential", storage["sequential_bytes_per_s"], "bytes/s", _PAST),
        ("a random 4 KiB", storage["random_4k_ms"], "ms", one_at_a_time),
        ("random 4 KiB, 32 at a time", storage["random_4k_per_s_deep"], "1/s", _PAST),
        (sized, storage["extent_ms"], "ms", f"{one_at_a_time}, in random order"),
        (f"{clip}, 32 at a time", storage["extents_per_s_deep"], "1/s", _PAST),
        ("a batch, one read at a time", batch_ms(storage, batch_size), "ms", f"{batch_size} times the above"),
        ("a batch, 32 reads at a time", batch_ms_deep(storage, batch_size), "ms", f"{batch_size} by the rate above"),
        ("a sync to the disk", storage["sync_ms"], "ms", "4 KiB, the median of five"),
        ("in the page cache already", storage["cached_share"], "share", "mincore"),
    ]
    kind = ", ".join(filter(None, (storage["kind"], storage["file_system"])))
    return [
        Evidence("kind", kind, "/sys and /proc"),
        *(
            Evidence(what, _SHOWN[unit](value), source, value, unit)
            for what, value, unit, source in rows
            if value is not None
        ),
    ]
