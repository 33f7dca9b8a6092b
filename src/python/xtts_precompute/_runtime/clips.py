"""Clips without a cache, computed when they are asked for.

The compiled builder plans DATA and computes. So the numbers are, bit for bit, those of a cache that
`build()` makes anew with the same arguments.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import _core
from .._base.choices import whole
from .._base.errors import InvalidArgumentError, MismatchError, NotFoundError, Reject
from .._base.warn import warn
from .._build.arguments import Path, builder_options
from .._cache.ids import is_unicode, position_in
from .._cache.readable import Column, Readable
from .._cache.reader import Reader
from .clip import RuntimeClip

if TYPE_CHECKING:
    from .. import _builder

_LINE_EVERY_S = 10.0


class RuntimeProgress(NamedTuple):
    """How far `runtime()` is with its plan."""

    elapsed_s: float
    clips: int | None
    """The number of clips; None until all are found."""


def runtime(
    data: Path,
    recipe: Path | None = None,
    *,
    config: Path | None = None,
    settings: Mapping[str, Any] | Iterable[str] | None = None,
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
    no_text: bool = False,
    workers: int | None = None,
    progress: bool | Callable[[RuntimeProgress], object] = True,
) -> RuntimeClips:
    """Returns the clips of DATA, each computed when it is asked for. No cache is made or needed.

        clips = xp.runtime("./data", workers=4)
        clips["LJ001-0001"].mel
        for batch in clips.reader(batch_size=32, split="train", seed=7):
            step(batch.mel, batch.mel_len)

    Arguments that are not listed are as in `build()`. `store` and `layout` are checked, but have no
    effect, because nothing is stored.

    A cache that was brought up to date keeps its splits and its numbers of speakers. A new cache,
    and `runtime()`, give them anew.

    Args:
        data: A corpus in a known layout, any folder of audio, or a corpora.yaml.
        recipe: The name of a shipped recipe, or a YAML file. Rules that need all clips at once are
            refused (`corpus.duplicates=drop`).
        max_rejects: As in `build()`: a reader raises TooManyRejectsError when more clips turn out
            to be faulty.
        no_text: True: only the sound. Then a list that no layout can read is no error.
        workers: Threads that compute at once; None: all processors. Each has a share of `memory`,
            and a process that decodes for it, so that a codec's crash costs one clip.
        progress: True: while DATA is listed, writes a line to stderr every ten seconds. A function:
            it gets a RuntimeProgress. False: nothing.
    """
    options = builder_options(
        data=data, recipe=recipe, settings=settings, config=config, layout_of_data=layout_of_data,
        audio_roots=audio_roots, language=language, speakers=speakers, store=store, layout=layout, dtype=dtype,
        device=device, isa=isa, memory=memory, max_rejects=max_rejects, no_text=no_text,
        threads=len(os.sched_getaffinity(0)) if workers is None else whole("workers", workers, 1, 1024),
    )  # fmt: skip
    return RuntimeClips(options, None, _listener(progress))


class RuntimeReader(Reader):
    """A Reader whose batches are computed by the threads that fill them; made by `clips.reader()`.

    A clip that turns out to be rejected is left out of its batch, which then has fewer valid rows.
    Epochs that begin later go without the clip, in full batches. One warning says so, and `rejects`
    names all such clips. TooManyRejectsError is raised when more are faulty than
    `runtime(max_rejects=)` allows.
    """

    def __init__(self, clips: RuntimeClips, options: Mapping[str, Any]) -> None:
        self._has_warned = False
        super().__init__(clips, clips._checked(options))
        self._warn_of_left_out()

    @property
    def rejects(self) -> tuple[Reject, ...]:
        """The clips that were left out so far because a build would not store them.

        Any thread may ask.
        """
        found = (self._cache._core.reject(position) for position in self._core.left_out())
        return tuple(Reject(*parts) for parts in found if parts is not None)

    def _tell_of_normalizing(self, columns: list[Any]) -> None:
        """Does nothing: no record is normalized already."""

    def _warn_of_left_out(self, so_far: str = "") -> None:
        if self._has_warned or not (rejects := self.rejects):
            return
        self._has_warned = True
        warn(
            f"{rejects[0].error()}. It is left out of its batch and of the epochs to come, as others "
            "will be; reader.rejects names them"
        )


class RuntimeClips(Readable):
    """The clips of a corpus, computed when they are asked for; made by `xtts_precompute.runtime()`.

    They stand in canonical order: data set, split, id. `clips["LJ001-0001"]` and `clips[0]` compute
    a clip, which has the attributes of a cache's clip. If a build would reject it,
    RejectedClipError is raised. `info()` tells what is known without computing. `reader()` gives
    batches.

    Positions are those of the cache that `build()` would make anew, as long as it rejects no clip
    for its sound. Clips that lists and texts rule out have no position. Any number of threads may
    use the clips.

    `reader()` takes the arguments of `cache.reader()`, and its batches have the same order and
    bits. They are read-only leases: each one that you keep holds one of the reader's `prefetch`
    slots (at least 3), so `list(reader)` of more batches raises BusyError. Copy what you want to
    keep. `threads` is as many as `runtime()` was told, and at most 256. Options for what lies in a
    cache are refused (`verify`, `on_damage`, `max_damage`, `reading`), and so are shuffle="window"
    and "corpus" statistics. `buckets`, and a `where` that asks for what only the sound tells
    (`seconds > 2`), compute all clips that may be chosen once, when the reader is opened. Ctrl-C
    ends that after the clips in hand.

    A forked child, and a process that unpickles the clips, plans anew at its first use. If the plan
    differs, MismatchError is raised there.
    """

    _keeps_epochs_length = False  # later epochs go without rejected clips

    def __init__(
        self, options: Mapping[str, Any], digest: str | None, hear: Callable[[RuntimeProgress], object] | None = None
    ) -> None:
        self._options = dict(options)
        self._forks = _core.fork_count()
        self._handle = _open(self._options, hear)
        self._digest = self._handle.digest if digest is None else digest
        self._check_digest()
        # Children and pickles use absolute paths: the process may have changed its folder by then.
        for name in ("data", "config", "speakers_file", "recipe"):
            path = self._options.get(name)
            if path and (name != "recipe" or os.path.isfile(path)):
                self._options[name] = os.path.abspath(path)
        self._options["audio_roots"] = [os.path.abspath(root) for root in self._options.get("audio_roots", ())]
        self._columns = {
            name: Column(name, dtype, tuple(shape), "frames" if rows else "tokens", rows)
            for name, dtype, shape, rows, _ in self._handle.columns
        }
        self._fills = {name: padding for name, _, _, _, padding in self._handle.columns}

    @property
    def _core(self) -> _builder.Runtime:
        """The C++ handle of this process."""
        if self._forks != _core.fork_count():
            self._handle = _open(self._options, None)
            self._forks = _core.fork_count()
            self._check_digest()
        return self._handle

    def _check_digest(self) -> None:
        if self._handle.digest != self._digest:
            raise MismatchError(
                f"{self._shown} holds other clips, texts or files than when it was planned: plan it "
                "again with xtts_precompute.runtime()"
            )

    # ---- what it is

    @property
    def _shown(self) -> str:
        return repr(os.fsdecode(self._options["data"]))

    @property
    def layout_of_data(self) -> str:
        """What DATA was found to be: "ljspeech", "folder", ..."""
        return self._core.layout_of_data

    @property
    def columns(self) -> dict[str, Column]:
        """The columns of every clip, by name, with the shapes of padded records, as batches have them."""
        return dict(self._columns)

    @property
    def fill_values(self) -> dict[str, float]:
        """The number that fills rows without a clip, by column.

        Behind a clip's own rows stands `clip.padding(column)`.
        """
        return dict(self._fills)

    @property
    def rejects(self) -> list[Reject]:
        """The clips that lists and texts alone rule out; they have no position."""
        return [Reject(*parts) for parts in self._core.planned_rejects()]

    @property
    def fault_count(self) -> int:
        """Clips that have turned out to be faulty so far.

        A clip that a rule of the recipe drops is not faulty.
        """
        return self._core.fault_count

    def __repr__(self) -> str:
        shown = ", ".join(f"{c.name} {list(c.shape)} {c.dtype}" for c in self._columns.values())
        return f"<RuntimeClips of {self._shown}: {len(self)} clips, {shown}, recipe {self.recipe}>"

    # ---- its clips

    def __getitem__(self, key: str | int) -> RuntimeClip:
        position = self._place(key)
        reject, parts, duration_s = self._core.record(position)
        if reject is not None:
            raise Reject(*reject).error()
        return RuntimeClip(self, position, parts, duration_s)

    def __iter__(self) -> Iterator[RuntimeClip]:
        """Computes the clips one after the other. A rejected one ends the loop with its error."""
        return (self[position] for position in range(len(self)))

    def info(self, key: str | int) -> _builder.RuntimeClip:
        """Returns what is known of a clip without computing it.

        It has id, dataset, split, speaker, language, text, text_normalized, source, and the numbers
        of speaker and language. What is unknown is empty.
        """
        return self._core.clip(self._place(key))

    def _place(self, key: str | int) -> int:
        return self._find(key) if isinstance(key, str) else position_in(key, len(self))

    def _find(self, clip_id: str) -> int:
        position = self._core.find(clip_id) if is_unicode(clip_id) else None
        if position is not None:
            return position
        for reject in self.rejects:
            if reject.id == clip_id:
                raise reject.error()
        raise NotFoundError(f"DATA has no clip {str(clip_id)!r}")

    def _id(self, position: int) -> str:
        return self._core.ids([position])[0]

    # ---- batches

    def _open_reader(self, options: Mapping[str, Any]) -> RuntimeReader:
        return RuntimeReader(self, options)

    def _reader_source(self) -> Any:
        return self._core.source()

    def _checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a reader's options, checked for clips that lists and texts have ruled out.

        Such a clip in `ids` raises its error; in `exclude` it is left away.
        """
        found = dict(options)
        for one in found["ids"] or () if not isinstance(found["ids"], (str, bytes)) else ():
            if isinstance(one, str):
                self._find(one)
        if found["exclude"] is not None and not isinstance(found["exclude"], (str, bytes)):
            ruled_out = {reject.id for reject in self.rejects}
            # If a list names an id twice, its second line is ruled out; the clip exists all the
            # same.
            found["exclude"] = [one for one in found["exclude"] if one in self or one not in ruled_out]
        return found

    # ---- other processes

    def __reduce__(self) -> Any:
        return RuntimeClips, (self._options, self._digest)


def _open(options: dict[str, Any], hear: Callable[[RuntimeProgress], object] | None) -> _builder.Runtime:
    from .._build import tools  # loads what only builds need

    begin = time.monotonic()
    on_wait = None if hear is None else lambda elapsed_s: hear(RuntimeProgress(elapsed_s, None))
    handle: _builder.Runtime = tools.core().open_runtime(options, on_notice=warn, on_wait=on_wait)
    if hear is not None:
        hear(RuntimeProgress(time.monotonic() - begin, len(handle)))
    return handle


def _listener(progress: Any) -> Callable[[RuntimeProgress], object] | None:
    if progress is False:
        return None
    if progress is True:
        return _Lines()
    if callable(progress):
        return progress  # type: ignore[no-any-return]
    raise InvalidArgumentError(f"progress must be True, False or a function, not {progress!r}")


class _Lines:
    def __init__(self) -> None:
        self._next = _LINE_EVERY_S

    def __call__(self, progress: RuntimeProgress) -> None:
        if progress.elapsed_s < self._next:
            return
        self._next += _LINE_EVERY_S
        done = "listing the clips" if progress.clips is None else f"{progress.clips:,} clips"
        print(f"runtime: {done}, {progress.elapsed_s:.0f} s", file=sys.stderr)
