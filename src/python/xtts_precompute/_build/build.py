"""Building and verifying caches: what `xtts-precompute build` and `verify` do, by the same code.

The compiled part is loaded by the first call. The work runs in threads of C++; the calling thread looks twenty times a
second for signals and calls back, so callbacks run in it, and Ctrl-C stops the work.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .arguments import (
    DTYPES,
    LAYOUTS,
    STORES,
    Path,
    is_digest,
    part,
    path_bytes,
    paths_bytes,
    percentage,
    reject_limit,
    settings_texts,
    thread_count,
    words,
    words_or_number,
    words_or_whole,
)
from .._base.choices import one_of, switch, text, whole

if TYPE_CHECKING:
    from types import ModuleType

LEVELS = ("quick", "full", "deep")

_T = TypeVar("_T")


@dataclass(frozen=True)
class BuildProgress:
    """How far a build is."""

    done: int
    """Clips, rejected ones and those of an interrupted build included."""
    total: int
    rejects: int
    clips_per_s: float
    realtime_factor: float
    """Seconds of sound a second."""
    bytes_per_s: float
    """Of sources."""
    seconds_left: float | None


@dataclass(frozen=True)
class BuildPreview:
    """What a build would do, of `dry_run=True`; the names of `build --dry-run --json`."""

    data: str
    cache: str
    recipe: str
    layout: str
    clips: int
    to_compute: int
    reused: int
    gone: int
    """In the cache, but not in DATA, or not chosen, any more."""
    renamed: int
    """Of to_compute: in the cache by another id, and copied."""
    drops: list[dict[str, Any]]
    """What rules of the recipe drop already: rule, count, and the values of its key that keep 99 % of the clips, or all."""
    passes_max_dropped: bool
    """So many that the build would raise TooManyRejectsError."""
    passes_max_gone: bool
    source_bytes: int
    splits: dict[str, int]
    has_text: bool
    notes: list[str]
    not_audio: dict[str, int]
    """Files in DATA that are no audio, by suffix."""
    unknown_characters: dict[str, int]
    storage: list[dict[str, Any]]
    """Each choice of storage: name, bytes, chosen."""
    free_bytes: int
    rejects: dict[str, Any]
    """Known already, as in BuildReport."""
    sound_seconds: float | None
    build_seconds: float | None
    build_seconds_range: list[float] | None
    """From and to: what the time will lie within."""
    expected_drops: dict[str, Any] | None
    """Of clips that are too long, as a sample tells; like one of `drops`."""
    expected_cuts: int
    sealed: int
    """Of to_compute: done by an interrupted build before."""


@dataclass(frozen=True)
class BuildReport:
    """What a build has done; the names of `build --json`."""

    data: str
    cache: str
    unchanged: bool
    """Nothing was published: the cache already says all of this."""
    generation: int
    clips: int
    """Planned."""
    records: int
    """In the cache now."""
    computed: int
    reused: int
    gone: int
    """Not in DATA any more."""
    renamed: int
    """In the cache by another id before: copied, not decoded."""
    accounting: dict[str, Any] | None
    """Every clip once: found = stored + dropped + rejected, stored = reused + changed + renamed + new, before = reused + changed + renamed +
    lost + gone. None where unchanged."""
    drops: list[dict[str, Any]]
    """By rule: count, and the values of its key that would keep 99 % of the clips, or all."""
    sound_seconds: float
    bytes: int
    splits: dict[str, int]
    speakers: int
    cut: int
    """Stored, but cut to max_frames."""
    cut_texts: int
    """Stored, but their tokens are cut to max_tokens."""
    warned: int
    warnings: list[dict[str, Any]]
    """By rule: count, and an example with its numbers."""
    elapsed_s: float
    times: dict[str, float]
    rejects: dict[str, Any]
    """count, by_class, and kinds with an example each; all of them are in CACHE/rejects.jsonl."""
    max_frames_needed: int | None
    """Would drop or cut nothing."""


@dataclass(frozen=True)
class VerifyProgress:
    """How far a verify is: "check" counts bytes, "recompute" clips, "repair" shards."""

    stage: str
    done: int
    total: int
    per_second: float
    seconds_left: float | None


@dataclass(frozen=True)
class Finding:
    """Damage, or a note, in a file of a cache. `check` says what was looked at ("block_header"), `outcome` how that ended (wrong,
    unreadable, not_mended), `part` what of it, `expected_kind` and `found_kind` what kind of value each is ("source_changed"),
    `cure` what helps."""

    file: str
    what: str
    clip: str | None
    column: str | None
    offset: int | None
    expected: str
    found: str
    check: str
    outcome: str
    part: str | None
    cure: str
    expected_kind: str
    found_kind: str


@dataclass(frozen=True)
class Repaired:
    """A file that was mended; `recomputed` records were computed again for it."""

    file: str
    what: str
    recomputed: int
    what_kind: str


@dataclass(frozen=True)
class VerifyReport:
    """What a verify has found; the names of `verify --json`."""

    ok: bool
    """No damage, or none that is left."""
    level: str
    findings: list[Finding]
    finding_count: int
    repaired: list[Repaired]
    remedy: str | None
    """The cheapest step that helps, as a command to paste; None where nothing is to be done."""
    remedy_note: str | None
    """What to know before it; may be empty."""
    recomputed: int | None
    sampled_of: int | None
    comparison: str | None
    shards: int
    clips: int
    """As the manifest has it; each has a record in most columns."""
    records: int
    bytes: int
    seconds: float


@overload
def build(
    data: Path,
    cache: Path,
    *,
    recipe: Path | None = ...,
    settings: Mapping[str, Any] | Iterable[str] | None = ...,
    config: Path | None = ...,
    layout_of_data: str | None = ...,
    audio_roots: Path | Iterable[Path] | None = ...,
    language: str | None = ...,
    speakers: Path | None = ...,
    store: Literal["lmdb", "hdf5"] | None = ...,
    layout: Literal["padded", "packed"] | None = ...,
    dtype: Literal["float32", "float16", "bfloat16"] | None = ...,
    device: str = ...,
    isa: Literal["best", "scalar", "avx2", "avx512"] = ...,
    memory: int | str | None = ...,
    max_rejects: int | float | str = ...,
    max_dropped: float | str = ...,
    max_gone: float | str = ...,
    no_text: bool = ...,
    partition: str | tuple[int, int] | None = ...,
    threads: int | None = ...,
    retry_rejects: bool = ...,
    overwrite: bool | str = ...,
    allow_mixed: bool = ...,
    dry_run: Literal[False] = ...,
    progress: bool | Callable[[BuildProgress], object] = ...,
) -> BuildReport: ...


@overload
def build(
    data: Path,
    cache: Path,
    *,
    recipe: Path | None = ...,
    settings: Mapping[str, Any] | Iterable[str] | None = ...,
    config: Path | None = ...,
    layout_of_data: str | None = ...,
    audio_roots: Path | Iterable[Path] | None = ...,
    language: str | None = ...,
    speakers: Path | None = ...,
    store: Literal["lmdb", "hdf5"] | None = ...,
    layout: Literal["padded", "packed"] | None = ...,
    dtype: Literal["float32", "float16", "bfloat16"] | None = ...,
    device: str = ...,
    isa: Literal["best", "scalar", "avx2", "avx512"] = ...,
    memory: int | str | None = ...,
    max_rejects: int | float | str = ...,
    max_dropped: float | str = ...,
    max_gone: float | str = ...,
    no_text: bool = ...,
    partition: str | tuple[int, int] | None = ...,
    threads: int | None = ...,
    retry_rejects: bool = ...,
    overwrite: bool | str = ...,
    allow_mixed: bool = ...,
    dry_run: Literal[True],
    progress: bool | Callable[[BuildProgress], object] = ...,
) -> BuildPreview: ...


def build(
    data: Path,
    cache: Path,
    *,
    recipe: Path | None = None,
    settings: Mapping[str, Any] | Iterable[str] | None = None,
    config: Path | None = None,
    layout_of_data: str | None = None,
    audio_roots: Path | Iterable[Path] | None = None,
    language: str | None = None,
    speakers: Path | None = None,
    store: Literal["lmdb", "hdf5"] | None = None,
    layout: Literal["padded", "packed"] | None = None,
    dtype: Literal["float32", "float16", "bfloat16"] | None = None,
    device: str = "auto",
    isa: Literal["best", "scalar", "avx2", "avx512"] = "best",
    memory: int | str | None = None,
    max_rejects: int | float | str = "5%",
    max_dropped: float | str = "10%",
    max_gone: float | str = "5%",
    no_text: bool = False,
    partition: str | tuple[int, int] | None = None,
    threads: int | None = None,
    retry_rejects: bool = False,
    overwrite: bool | str = False,
    allow_mixed: bool = False,
    dry_run: bool = False,
    progress: bool | Callable[[BuildProgress], object] = True,
) -> BuildReport | BuildPreview:
    """Makes a cache from DATA, continues an interrupted one, or brings one up to date.

    data        a corpus in a known layout, any folder of audio, or a corpora.yaml
    recipe      the name of a shipped recipe, or a YAML file; None: "myxtts", or with `config` the recipe that the
                trainer trains on
    settings    a dict, or "KEY=VALUE" texts: laid over the recipe, after the data keys of `config`
    config      the trainer's own config.yaml
    audio_roots folders outside of DATA that its lists and links may lead to; they are numbered in this order
    memory      at most this much, in bytes or as "2G"; None: a quarter of RAM, 2 GiB at most
    max_rejects so many faulty clips are tolerated: a number of them, or a share (0.05, "5%")
    max_dropped so much may be dropped by rules of the recipe: a share of the clips, or of the hours, whichever is worse (0.1, "10%")
    max_gone    so many clips of the cache may have vanished from DATA: a share (0.05, "5%")
    no_text     the sound alone: no texts, and lists that no layout can read are no error then
    partition   (i, n): only part i of n, counted from 1, for `xtts-precompute merge`
    overwrite   begins anew; what is published stays until the end. A cache's digest: only where that generation is still the
                published one; another, which somebody published since, is brought up to date
    dry_run     computes nothing, and returns a BuildPreview
    progress    True: a bar (tqdm or rich, where there are any, else lines); or a function that gets a BuildProgress

    All else is as on the command line. Warnings are Python's. Ctrl-C and exceptions of `progress` stop the build, which
    finishes the clips in hand; the same call goes on from there. TooManyRejectsError (a limit of
    loss is passed; nothing is published, what is done is kept), MismatchError (the cache is of another
    recipe), BusyError (somebody builds it), NotFoundError, InvalidArgumentError and ResourceError say what to do.
    """
    core = _core_that_builds()
    arguments = {
        "data": path_bytes("data", data),
        "cache": path_bytes("cache", cache),
        "recipe": path_bytes("recipe", recipe),
        "settings": settings_texts(settings),
        "config": path_bytes("config", config),
        "layout_of_data": words("layout_of_data", layout_of_data),
        "audio_roots": paths_bytes("audio_roots", audio_roots),
        "language": words("language", language),
        "speakers_file": path_bytes("speakers", speakers),
        "store": "" if store is None else one_of("store", store, STORES),
        "layout": "" if layout is None else one_of("layout", layout, LAYOUTS),
        "dtype": "" if dtype is None else one_of("dtype", dtype, DTYPES),
        "device": text("device", device),
        "isa": text("isa", isa),
        "memory": "" if memory is None else words_or_whole("memory", memory),
        "max_rejects": reject_limit(max_rejects),
        "max_dropped": percentage("max_dropped", max_dropped),
        "max_gone": percentage("max_gone", max_gone),
        "no_text": switch("no_text", no_text),
        "partition": part(partition),
        "threads": thread_count(threads),
        "retry_rejects": switch("retry_rejects", retry_rejects),
        "overwrite": is_digest(overwrite) or switch("overwrite", overwrite),
        "overwrite_only": overwrite if is_digest(overwrite) else "",
        "allow_mixed": switch("allow_mixed", allow_mixed),
        "dry_run": switch("dry_run", dry_run),
        "program": b"",
    }
    with _progress(progress, "build") as hear:
        on_progress = None if hear is None or dry_run else lambda *figures: hear(BuildProgress(*figures))
        document = json.loads(core.build(**arguments, on_notice=_warn, on_progress=on_progress))
    return _of(BuildPreview, document) if dry_run else _of(BuildReport, document)


def verify(
    cache: Path,
    level: Literal["quick", "full", "deep"] = "full",
    *,
    data: Path | None = None,
    audio_roots: Path | Iterable[Path] | None = None,
    sample: float | str | None = None,
    seed: int = 0,
    repair: bool = False,
    index: str | None = None,
    max_gone: float | str = 0.0,
    isa: Literal["best", "scalar", "avx2", "avx512"] = "best",
    threads: int | None = None,
    progress: bool | Callable[[VerifyProgress], object] = True,
) -> VerifyReport:
    """Checks that a cache is what was written, and mends it where asked to. Damage is no exception: see the report's `ok`.

    level   "quick": manifest, sizes and plan; "full": every byte; "deep": and records computed again from the sources
    data    deep, repair: where the sources are; None: where the last build found them
    audio_roots deep, repair: as in build(), in that order; None: those of the last build
    sample  deep: so many of the clips (0.01, "1%"), by a hash with `seed`
    repair  make again what is damaged, byte for byte, and nothing else
    index   repair: the name of the index that a lost manifest is made again from, where which is the newest cannot be proved
    max_gone repair: clips may be left out whose lost records no source makes again, up to this share of all (0.01, "1%")

    `progress`, warnings and Ctrl-C are as in build().
    """
    core = _core_that_builds()
    arguments = {
        "cache": path_bytes("cache", cache),
        "level": one_of("level", level, LEVELS),
        "data": path_bytes("data", data),
        "audio_roots": paths_bytes("audio_roots", audio_roots),
        "sample": "100%" if sample is None else words_or_number("sample", sample),
        "seed": str(whole("seed", seed, 0, 2**64 - 1)),
        "isa": text("isa", isa),
        "threads": thread_count(threads),
        "repair": switch("repair", repair),
        "index": words("index", index),
        "max_gone": percentage("max_gone", max_gone),
        "program": b"",
    }
    with _progress(progress, "verify") as hear:
        on_progress = None if hear is None else lambda *figures: hear(VerifyProgress(*figures))
        report = json.loads(core.verify(**arguments, on_notice=_warn, on_progress=on_progress))
    report["findings"] = [_of(Finding, finding) for finding in report["findings"]]
    report["repaired"] = [_of(Repaired, mended) for mended in report["repaired"]]
    return _of(VerifyReport, report)


def _core_that_builds() -> ModuleType:
    from . import tools  # with what only who builds needs

    return tools.core()


def _progress(progress: Any, title: str) -> Any:
    from . import progress as display

    return display.listener(progress, title)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)  # of who called build()


def _of(kind: type[_T], document: Mapping[str, Any]) -> _T:
    return kind(**{field.name: document[field.name] for field in fields(kind)})  # type: ignore[arg-type]
