"""Caches, as users have them: their clips, readers of them, and further columns."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._base.choices import listed
from .._base.errors import InvalidArgumentError, MissingPackageError
from .clips import Clip
from .ids import position_in
from .options import Readable
from .reader import Reader
from .stored import PathLike, Stored

if TYPE_CHECKING:
    from .._build.progress import ColumnProgress


def open(path: PathLike | Iterable[PathLike]) -> Cache:
    """Opens the newest published generation of a cache, or of several as one: `xp.open(["./english", "./farsi"])`.

    Several must hold features of the same definition; their clips follow one another, and a name of a speaker or language is
    the same one in all of them. A generation stays readable as long as the Cache, a reader of it or an array out of it lives, whatever is built meanwhile.
    Raises NotFoundError (no cache there), CorruptError, UnsupportedError (a newer format), ResourceError,
    MismatchError (caches that do not go together).
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else listed("paths of caches", path)
    try:
        names = [os.fsdecode(one) for one in paths]
    except TypeError as error:
        raise InvalidArgumentError(f"the path of a cache: {error}") from None
    return Cache(names)


class Cache(Stored, Readable):
    """A cache's clips, in canonical order: data set, split, id. Made by `xtts_precompute.open()`.

    `cache["LJ001-0001"]` and `cache[0]` are clips, `"LJ001-0001" in cache` asks for an id, `len(cache)` counts. Any number of threads may
    use it. In a forked child it opens the same generation anew at its first use there, or raises MismatchError where that has
    been built anew. It can be pickled, for processes that see the same path.
    """

    def __repr__(self) -> str:
        shown = ", ".join(f"{c.name} {list(c.shape)} {c.dtype}" for c in self.columns.values())
        return f"<Cache {self._shown}: {len(self)} clips, {shown}, recipe {self.recipe}, generation {self.generation}>"

    # ---- its clips

    def __getitem__(self, key: str | int) -> Clip:
        if isinstance(key, str):
            return Clip(self, self._find(key))
        return Clip(self, position_in(key, len(self)))

    def __iter__(self) -> Iterator[Clip]:
        return (Clip(self, position) for position in range(len(self)))

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each clip, by position: `id`, `dataset`, `split`, `speaker`, `language`, `duration_s`,
        `frames`, `tokens`, `text`, `text_normalized`. What is not known is None. Needs pandas.
        """
        try:
            pandas: Any = importlib.import_module("pandas")
        except ImportError:
            raise MissingPackageError("to_pandas() needs pandas: pip install pandas", name="pandas") from None
        facts = [self._core.clip(position) for position in range(len(self))]

        def words(name: str) -> Any:
            # Objects, so that what is not known is None in every column.
            return np.array([getattr(one, name) or None for one in facts], dtype=object)

        return pandas.DataFrame(
            {
                "id": np.array(self.ids[:], dtype=object),
                **{name: words(name) for name in ("dataset", "split", "speaker", "language")},
                "duration_s": np.array([one.duration_s for one in facts], dtype=np.float64),
                "frames": np.array([one.frame_count for one in facts], dtype=np.int64),
                "tokens": np.array([one.token_count for one in facts], dtype=np.int64),
                **{name: words(name) for name in ("text", "text_normalized")},
            }
        )

    # ---- batches

    def _open_reader(self, options: Mapping[str, Any]) -> Reader:
        return Reader(self, options)

    # ---- further columns

    def add_column(
        self,
        name: str,
        fn: Callable[..., Any] | None = None,
        *,
        axis: Literal["frames", "tokens", "own", "fixed"] = "frames",
        version: str = "",
        batch: int | None = None,
        workers: int = 0,
        max_length: int | None = None,
        allow_nonfinite: bool = False,
        from_npy: PathLike | None = None,
        data: PathLike | None = None,
        progress: bool | Callable[[ColumnProgress], object] = True,
    ) -> Cache:
        """Adds a column to the cache on disk: pitch, durations, embeddings, codes, tokens of your tokenizer. Returns the cache, opened anew.

            cache = cache.add_column("pitch", lambda clip: pitch_of(clip.pcm, clip.sample_rate, clip.frames), version="yin-1")

        What is there stays as it is, and readers go on with it. The same call goes on where an interrupted one ended, and
        later makes what an update of the cache has brought; nothing to do costs nothing.

        Args:
            name: Of the column; `batch.pitch`, `clip.pitch`, `columns=["mel", "pitch"]`. Not what batches and clips have already (`positions`, `mel_len`).
            fn: From a clip to its record, an array of the same dtype for all. A clip has `.pcm` (the conditioned samples), `.sample_rate`,
                `.frames`, the cache's columns (`.mel`), `.text`, `.text_len`, `.speaker`, `.language`, `.id`. float64 is stored as float32.
            axis: What the record's rows go along. "frames": one for each frame, or k of them. "tokens": one for each of `tokens`. "own": as
                many as the clip has, `max_length` at most, padded with 0 in batches. "fixed": the whole shape is the same for all clips.
            version: Of what the function does: the column is made anew under another one.
            batch: The function gets a list of so many clips, and gives as many records.
            allow_nonfinite: NaN and infinity mean something (a pitch where there is none) and are stored; else such a record is refused.
            workers: So many processes call the function, which they have to be able to import; 0: this one.
            from_npy: Instead of a function: a folder with ID.npy for each clip.
            data: Where the sources lie now, for `.pcm`; None: where the last build found them.
            progress: As in build(): True, False, or a function that gets a ColumnProgress.

        Raises:
            InvalidArgumentError (a record that does not fit names its clip), BusyError (somebody builds), MismatchError (an unfinished
            build), UnsupportedError (this installation only reads). What the function raises comes through.
        """
        from .add_column import add_column  # with what only who builds needs

        options = {
            "axis": axis,
            "version": version,
            "batch": batch,
            "workers": workers,
            "max_length": max_length,
            "allow_nonfinite": allow_nonfinite,
        }
        add_column(self, name, fn, **options, from_npy=from_npy, data=data, progress=progress)
        return Cache([self._paths[0]])
