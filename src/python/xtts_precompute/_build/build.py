"""build() and verify(): what `xtts-precompute build` and `verify` do, by the same code.

The compiled builder is loaded at the first call. C++ threads do the work. The calling thread looks
for signals twenty times a second and calls back, so callbacks run in it, and Ctrl-C stops the work.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .._base.choices import switch
from .._base.errors import InvalidArgumentError
from .arguments import Path, builder_options, is_digest, path_bytes

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TypedDict

    from typing_extensions import Unpack

    from .rows import Found

    class _Options(TypedDict, total=False):
        """The arguments that build() has, whatever it returns."""

        dataset: Any
        recipe: Path | None
        settings: Mapping[str, Any] | Iterable[str] | None
        config: Path | None
        layout_of_data: str | None
        audio_roots: Path | Iterable[Path] | None
        language: str | None
        speakers: Path | None
        store: Literal["lmdb", "hdf5"] | None
        layout: Literal["padded", "packed"] | None
        dtype: Literal["float32", "float16", "bfloat16"] | None
        device: str
        isa: Literal["best", "scalar", "avx2", "avx512"]
        memory: int | str | None
        max_rejects: int | float | str
        max_dropped: float | str
        max_gone: float | str
        no_text: bool
        partition: str | tuple[int, int] | None
        part: Path | None
        threads: int | None
        retry_rejects: bool
        overwrite: bool | str
        allow_mixed: bool
        discard_unfinished: bool
        progress: bool | Callable[[BuildProgress], object]


_T = TypeVar("_T")


@dataclass(frozen=True)
class BuildProgress:
    """How far a build is."""

    done: int
    """Clips that are done, including rejected ones and those of an interrupted build."""
    total: int
    rejects: int
    clips_per_s: float
    realtime_factor: float
    """Seconds of sound per second."""
    bytes_per_s: float
    """Bytes of sources per second."""
    seconds_left: float | None


@dataclass(frozen=True)
class BuildPreview:
    """What a build would do: the result of `build(..., dry_run=True)`.

    The names are those of `xtts-precompute build --dry-run --json`.
    """

    data: str
    cache: str
    recipe: str
    layout: str
    """What DATA is: "ljspeech", "folder", ..."""
    clips: int
    to_compute: int
    reused: int
    gone: int
    """Clips in the cache that are no longer in DATA, or no longer chosen."""
    renamed: int
    """Clips of `to_compute` that the cache has by another id; they are copied."""
    drops: list[dict[str, Any]]
    """What rules of the recipe drop already.

    Each entry has the rule, the count, and the values of its key that keep 99 % of the clips, or
    all.
    """
    passes_max_dropped: bool
    """The rules drop so much that the build would raise TooManyRejectsError."""
    passes_max_rejects: bool
    """So many clips are faulty already that the build would raise TooManyRejectsError."""
    passes_max_gone: bool
    """So many clips are gone that the build would raise TooManyRejectsError."""
    source_bytes: int
    splits: dict[str, int]
    has_text: bool
    lengths: dict[str, Any]
    """`max_frames` and `max_tokens` of the records: the `number`, and where this build chose it, what
    the corpus holds (`looked_at`): `clips`, those that are `longer`, the `longest`, `padding_share`.
    """
    notes: list[str]
    not_audio: dict[str, int]
    """Files in DATA that are no audio: their number by suffix."""
    unknown_characters: dict[str, int]
    storage: list[dict[str, Any]]
    """The choices of storage, each with name, bytes and whether it is chosen."""
    free_bytes: int
    rejects: dict[str, Any]
    """The rejects that are known already, as in BuildReport."""
    sound_seconds: float | None
    """The sound of the clips to compute, estimated from a sample; None if there is nothing to sample."""
    build_seconds: float | None
    """The time that the build will take, estimated likewise."""
    build_seconds_range: list[float] | None
    """The shortest and the longest time that is likely."""
    most_saved_share: float | None
    """With device="cuda": the share of the time that a GPU can save at most, measured on a few clips."""
    expected_drops: dict[str, Any] | None
    """Clips that will be too long, estimated from the sample; in the form of an entry of `drops`."""
    expected_cuts: int
    sealed: int
    """Clips of `to_compute` that an interrupted build has done already."""


@dataclass(frozen=True)
class BuildReport:
    """What a build has done. The names are those of `xtts-precompute build --json`."""

    data: str
    cache: str
    unchanged: bool
    """Nothing was published, because the cache is up to date."""
    generation: int
    clips: int
    """Clips that were planned."""
    records: int
    """Clips that the cache has now."""
    computed: int
    reused: int
    gone: int
    """Clips that are no longer in DATA."""
    renamed: int
    """Clips that the cache had by another id: copied, not decoded."""
    accounting: dict[str, Any] | None
    """Counts every clip once; None if unchanged.

    found = stored + dropped + rejected; stored = reused + changed + renamed + new; before = reused
    + changed + renamed + lost + gone.
    """
    drops: list[dict[str, Any]]
    """What rules of the recipe dropped.

    Each entry has the rule, the count, and the values of its key that would keep 99 % of the clips,
    or all.
    """
    lengths: dict[str, Any]
    """`max_frames` and `max_tokens` of the records, as in BuildPreview."""
    sound_seconds: float
    bytes: int
    splits: dict[str, int]
    speakers: int
    cut: int
    """Clips that are stored, but cut to max_frames."""
    cut_texts: int
    """Clips that are stored, but whose tokens are cut to max_tokens."""
    warned: int
    """Clips that are stored with a warning."""
    warnings: list[dict[str, Any]]
    """The warnings: rule, count, and an example with its numbers."""
    elapsed_s: float
    times: dict[str, float]
    rejects: dict[str, Any]
    """Rejects: `count`, `by_class`, and kinds with one example each. CACHE/rejects.jsonl has all."""
    max_frames_needed: int | None
    """The max_frames that would drop or cut nothing."""


@dataclass(frozen=True)
class VerifyProgress:
    """How far a verify is. The stage "check" counts bytes, "recompute" clips, "repair" shards."""

    stage: str
    done: int
    total: int
    per_second: float
    seconds_left: float | None


@dataclass(frozen=True)
class Finding:
    """Damage, or a note, in a file of a cache.

    For programs: `check` names what was looked at ("block_header"); `outcome` how that ended
    (wrong, unreadable, not_mended); `part` what of it; `expected_kind` and `found_kind` the kinds
    of the two values ("source_changed"); `cure` what helps.
    """

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
    """What a verify has found. The names are those of `xtts-precompute verify --json`."""

    ok: bool
    """No damage was found, or all of it was mended."""
    level: str
    findings: list[Finding]
    finding_count: int
    repaired: list[Repaired]
    remedy: str | None
    """The cheapest step that helps, as a command to paste; None if nothing is to be done."""
    remedy_note: str | None
    """What to know before that step; may be empty."""
    recomputed: int | None
    sampled_of: int | None
    comparison: str | None
    shards: int
    clips: int
    """Clips, as the manifest says; each has a record in most columns."""
    records: int
    bytes: int
    seconds: float


@overload
def build(
    data: Path | None = ..., cache: Path | None = ..., *, dry_run: Literal[False] = ..., **options: Unpack[_Options]
) -> BuildReport: ...


@overload
def build(
    data: Path | None = ..., cache: Path | None = ..., *, dry_run: Literal[True], **options: Unpack[_Options]
) -> BuildPreview: ...


def build(
    data: Path | None = None,
    cache: Path | None = None,
    *,
    dataset: Any = None,
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
    part: Path | None = None,
    threads: int | None = None,
    retry_rejects: bool = False,
    overwrite: bool | str = False,
    allow_mixed: bool = False,
    discard_unfinished: bool = False,
    dry_run: bool = False,
    progress: bool | Callable[[BuildProgress], object] = True,
) -> BuildReport | BuildPreview:
    """Makes a cache from DATA, continues an interrupted build, or brings a cache up to date.

        report = xp.build("./data", "./cache", settings={"max_frames": 1024})
        print(report.records, report.rejects["count"])

    Warnings are Python's. Ctrl-C, or an exception of `progress`, stops the build after the clips in
    hand; the same call goes on from there.

    Args:
        data: A corpus in a known layout, any folder of audio, or a corpora.yaml. None: `dataset` is
            given in its place.
        cache: The cache's folder.
        dataset: A Hugging Face data set: its folder, Parquet or Arrow files, a datasets.Dataset or
            DatasetDict, or rows (dicts with `audio`, a dict of bytes and path): a list, an
            IterableDataset, or anything that can be iterated again and again. It needs pyarrow.
        recipe: The name of a shipped recipe, or a YAML file. None: with `config` the recipe that
            the trainer trains on; else that of the cache, where one is there (with `overwrite`,
            too); else "myxtts".
        settings: A dict, or "KEY=VALUE" texts. They override the recipe and the keys of `config`.
        config: The trainer's config.yaml, whose `data:` keys are read.
        layout_of_data: What DATA is ("ljspeech", "folder", ...). None: detected.
        audio_roots: Folders outside of DATA that its lists and links may lead to. They are numbered
            in this order. None named: those of the last build.
        language: The language of clips whose list names none.
        speakers: A file of speakers' names in the order of their numbers, one per line.
        store: What shards are: "lmdb" or "hdf5" files. None: as the recipe says.
        layout: "padded" (ready tensors) or "packed" (records of their true lengths). None: as the
            recipe says.
        dtype: The stored mels' type: "float32", "float16" or "bfloat16". None: as the recipe says.
        device: where features are computed: "auto" (as the cache was made, else on the
            CPU), "cpu", "cuda", or a GPU by its number, "cuda:1".
        isa: The instruction set for features: "best" (of a cache that is there: its own),
            "scalar", "avx2" or "avx512".
        memory: The most memory to use, in bytes or as "2G". None: a quarter of RAM, at most 2 GiB.
        max_rejects: Faulty clips that are tolerated: a number, or a share (0.05, "5%").
        max_dropped: What rules of the recipe may drop: a share of the clips or of the hours,
            whichever is worse (0.1, "10%").
        max_gone: Clips of the cache that may have vanished from DATA: a share (0.05, "5%").
        no_text: True: only the sound. Then a list that no layout can read is no error.
        partition: (i, n): only part i of n, counted from 1. `xtts-precompute merge` joins the
            parts.
        part: A part of a plan, "plan/0007", which `xtts-precompute plan` made. The plan has the
            recipe and the clips; `data` then says where DATA is here. None: where it was planned.
        threads: Threads that compute. None: all processors.
        retry_rejects: True: tries clips again that were rejected before.
        overwrite: True: begins anew; the published cache stays until the end. A digest
            (`cache.digest`): begins anew only if that generation is still the published one. A
            generation that was published since is brought up to date instead.
        allow_mixed: True: may add to a cache that another CPU or library version made.
        discard_unfinished: True: gives up the unfinished build, or the unfinished column, that lies
            there. Else one of another recipe is a MismatchError.
        dry_run: True: computes nothing and returns a BuildPreview.
        progress: True: a bar by tqdm or rich, if one is installed, else lines. A function: it gets
            a BuildProgress. False: nothing.

    Returns:
        A BuildReport, or with `dry_run` a BuildPreview.

    Raises:
        TooManyRejectsError: A limit of loss is passed. Nothing is published, and finished work is
            kept.
        MismatchError: The cache has another recipe, or an unfinished build of another one.
        BusyError: Another process is building this cache.
        NotFoundError: DATA or another path does not exist.
        InvalidArgumentError: An argument is wrong.
        ResourceError: Memory or disk space ran out.
    """
    core = _core_that_builds()
    if cache is None:
        raise InvalidArgumentError("build() needs the cache's folder: cache=")
    if part is not None and dataset is not None:
        raise InvalidArgumentError("a part of a plan has its own DATA: leave out dataset=")
    if part is None and (data is None) == (dataset is None):
        raise InvalidArgumentError("build() takes either data or dataset=")
    options = builder_options(
        data=data, cache=cache, recipe=recipe, settings=settings, config=config, layout_of_data=layout_of_data,
        audio_roots=audio_roots, language=language, speakers=speakers, store=store, layout=layout, dtype=dtype,
        device=device, isa=isa, memory=memory, max_rejects=max_rejects, max_dropped=max_dropped, max_gone=max_gone,
        no_text=no_text, partition=partition, part=part, threads=threads, retry_rejects=retry_rejects,
        allow_mixed=allow_mixed, dry_run=dry_run, discard_unfinished=discard_unfinished,
    )  # fmt: skip
    if is_digest(overwrite):
        options |= {"overwrite": True, "overwrite_only": overwrite}
    else:
        options["overwrite"] = switch("overwrite", overwrite)
    with contextlib.ExitStack() as stack:
        if dataset is not None:
            from . import rows  # loads what only these builds need

            place = stack.enter_context(rows.found(dataset))
            _take(place, options)
            if place.warning:
                _warn(place.warning)
        hear = stack.enter_context(_progress(progress, "build"))
        on_progress = None if hear is None or dry_run else lambda *figures: hear(BuildProgress(*figures))
        document = json.loads(core.build(options, on_notice=_warn, on_progress=on_progress))
    return _of(BuildPreview, document) if dry_run else _of(BuildReport, document)


def _take(found: Found, options: dict[str, Any]) -> None:
    """Puts the place of a data set among the options."""
    if options.get("layout_of_data", "huggingface") != "huggingface":
        raise InvalidArgumentError("layout_of_data must be None or 'huggingface' for a dataset")
    options["data"] = path_bytes("dataset", found.folder)
    options["layout_of_data"] = "huggingface"
    options["settings"] = [*options.get("settings", ()), f"corpus.metadata_train_file={found.files or ''}"]


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
    """Checks that a cache holds what was written, and mends it if `repair` is set.

        report = xp.verify("./cache")
        if not report.ok:
            print(report.remedy)

    Damage is no exception: the report says what was found. Warnings and Ctrl-C are as in `build()`.

    Args:
        cache: The cache's folder.
        level: "quick": manifest, sizes and plan. "full": every byte. "deep": also computes records
            again from the sources and compares them.
        data: For deep and repair: where the sources are. None: where the last build found them.
        audio_roots: For deep and repair: as in `build()`, in the same order. None: those of the
            last build.
        sample: For deep: the share of clips to compute again (0.01, "1%"), chosen by a hash with
            `seed`. None: all.
        seed: For deep: another number gives another sample.
        repair: True: makes again what is damaged, byte for byte, and nothing else.
        index: For repair: the name of the index from which a lost manifest is made again. Needed if
            there are several and the newest cannot be proved.
        max_gone: For repair: the share of clips (0.01, "1%") that may be left out because their
            records are lost and no source can make them again.
        isa: For deep and repair: the instruction set, as in `build()`.
        threads: Threads that work. None: all processors.
        progress: As in `build()`; a function gets a VerifyProgress.

    Returns:
        A VerifyReport; its `ok` tells whether the cache is sound.
    """
    core = _core_that_builds()
    options = builder_options(
        cache=cache, level=level, data=data, audio_roots=audio_roots, sample=sample, seed=seed, isa=isa,
        threads=threads, repair=repair, index=index, max_gone=max_gone,
    )  # fmt: skip
    with _progress(progress, "verify") as hear:
        on_progress = None if hear is None else lambda *figures: hear(VerifyProgress(*figures))
        report = json.loads(core.verify(options, on_notice=_warn, on_progress=on_progress))
    report["findings"] = [_of(Finding, finding) for finding in report["findings"]]
    report["repaired"] = [_of(Repaired, mended) for mended in report["repaired"]]
    return _of(VerifyReport, report)


def _core_that_builds() -> ModuleType:
    from . import tools  # loads what only builds need

    return tools.core()


def _progress(progress: Any, title: str) -> Any:
    from . import progress as display

    return display.listener(progress, title)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)  # the line that called build() or verify()


def _of(kind: type[_T], document: Mapping[str, Any]) -> _T:
    return kind(**{field.name: document[field.name] for field in fields(kind)})  # type: ignore[arg-type]
