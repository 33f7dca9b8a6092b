"""Caches as users see them: their clips, readers of them, and new columns."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._base.choices import listed
from .._base.errors import InvalidArgumentError, MissingPackageError
from .._base.words import is_url
from .clips import Clip
from .ids import position_in
from .stored import PathLike, Stored

if TYPE_CHECKING:
    from .._build.progress import ColumnProgress


def open(path: PathLike | Iterable[PathLike], *, local: PathLike | None = None, size: int | str | None = None) -> Cache:
    """Opens the newest published generation of a cache, of a set, or of several caches as one.

        cache = xp.open("./cache")
        whole = xp.open("./corpus")                # a set, which xtts-precompute set has made
        both = xp.open(["./english", "./farsi"])

    A set reads as one cache, with statistics of its own. Several caches must hold features of the
    same definition. Their clips follow one another, and equal names of speakers and languages get
    one number.

    A generation stays readable while the Cache, a reader of it or an array from it lives, whatever
    is built meanwhile.

        far = xp.open("s3://bucket/cache", local="/nvme/xtts", size="200GB")

    A URL is a folder of an object store (docs/buckets.md). It is read from a copy in `local`, which
    one process of the machine makes and checks. Shards that are not there yet come when a reader
    needs them.

    Args:
        path: The folder of a cache or a set, a URL, or several of them.
        local: Where copies of what the URLs name are kept; one folder serves all of them.
        size: The bytes that `local` may hold, such as "200GB". None: what its disk has.

    Raises:
        NotFoundError: There is no cache at the path.
        CorruptError: The cache is damaged.
        UnsupportedError: The cache has a newer format.
        MismatchError: The caches do not go together.
        ResourceError: Memory or file descriptors ran out, or `local` may not hold what it needs.
        SourceIoError: The object store does not answer, or refuses the credentials.
        MissingPackageError: A URL needs obstore and xxhash: the extra `[buckets]`.
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else listed("paths of caches", path)
    try:
        names = [os.fsdecode(one) for one in paths]
    except TypeError as error:
        raise InvalidArgumentError(f"the path of a cache: {error}") from None
    if (local is not None or size is not None) and not any(map(is_url, names)):
        raise InvalidArgumentError("local= and size= are for URLs, and no path is one")
    return Cache([_fetched(name, local, size) if is_url(name) else name for name in names])


def _fetched(url: str, local: PathLike | None, size: int | str | None) -> str:
    if local is None:
        raise InvalidArgumentError(f"{url} is read by way of a folder: open({url!r}, local=DIR, size='200GB')")
    from ..buckets.fetch import filled

    return filled(url, os.fsdecode(local), size)


class Cache(Stored):
    """The clips of a cache, in canonical order: data set, split, id.

    `xtts_precompute.open()` makes it. `cache["LJ001-0001"]` and `cache[0]` are clips,
    `"LJ001-0001" in cache` tells whether an id exists, and `len(cache)` is the number of clips.

    Any number of threads may use a Cache. In a forked child it opens the same generation anew at
    its first use; it raises MismatchError there if the cache has been built anew since. It can be
    pickled, for processes that see the same path.
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
        """Returns a `pandas.DataFrame` with one row for each clip, by position.

        The columns are `id`, `dataset`, `split`, `speaker`, `language`, `duration_s`, `frames`,
        `tokens`, `text` and `text_normalized`. Unknown values are None. Raises MissingPackageError
        if pandas is not installed.
        """
        try:
            pandas: Any = importlib.import_module("pandas")
        except ImportError:
            raise MissingPackageError("to_pandas() needs pandas: pip install pandas", name="pandas") from None
        facts = [self._core.clip(position) for position in range(len(self))]

        def objects(values: Any) -> Any:
            # A Series keeps its dtype. Of an array, pandas 3 makes texts, whose None is NaN.
            return pandas.Series(values, dtype=object)

        def words(name: str) -> Any:
            return objects([getattr(one, name) or None for one in facts])

        return pandas.DataFrame(
            {
                "id": objects(self.ids[:]),
                **{name: words(name) for name in ("dataset", "split", "speaker", "language")},
                "duration_s": np.array([one.duration_s for one in facts], dtype=np.float64),
                "frames": np.array([one.frame_count for one in facts], dtype=np.int64),
                "tokens": np.array([one.token_count for one in facts], dtype=np.int64),
                **{name: words(name) for name in ("text", "text_normalized")},
            }
        )

    def to_datasets(self, columns: Iterable[str] = ("mel",), *, split: str | None = None) -> Any:
        """Returns a `datasets.Dataset` with one row for each clip, in the cache's order.

        A row has `id`, `split`, `text`, `text_normalized`, `speaker`, `language`, `duration_s`, and
        the true rows of each column of `columns`. It is a copy: `datasets` writes all rows to an
        Arrow file in its own cache, and later calls for the same generation of the cache find them
        there. Half-precision values become float32, which holds each of them exactly. Raises
        MissingPackageError if datasets is not installed.

        Args:
            columns: The columns of records to copy; none of them: () .
            split: Only clips of this split. None: all.
        """
        try:
            datasets: Any = importlib.import_module("datasets")
        except ImportError:
            raise MissingPackageError("to_datasets() needs datasets: pip install datasets", name="datasets") from None
        from . import to_datasets

        return to_datasets.copy(datasets, self, tuple(columns), split)

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
        """Adds a column, such as pitch or durations, to the cache on disk.

        Returns the cache, opened anew, with the column.

            def pitch(clip):
                return pitch_of(clip.pcm, clip.sample_rate, clip.frames)

            cache = cache.add_column("pitch", pitch, version="yin-1")

        The other columns stay as they are, and open readers go on with them. To continue an
        interrupted call, or to compute the clips of a later update, make the same call again. It
        costs nothing if there is nothing to do.

        Args:
            name: The column's name, as in `batch.pitch`, `clip.pitch` and
                `columns=["mel", "pitch"]`. Names that batches and clips have already (`positions`,
                `mel_len`) are refused.
            fn: A function from a clip to its record, an array of the same dtype for all clips. The
                clip has `.pcm` (the conditioned samples), `.sample_rate`, `.frames`, the cache's
                columns (`.mel`), `.text`, `.text_len`, `.speaker`, `.language` and `.id`. float64
                is stored as float32.
            axis: What the record's rows go along. "frames": one row for each frame, or k rows for
                each. "tokens": one row for each of `tokens`. "own": as many rows as the clip has,
                at most `max_length`; batches pad with 0. "fixed": all clips have the same shape.
            version: A text that names what the function does. With another version the column is
                computed anew.
            batch: The function gets a list of this many clips and returns as many records. None: it
                gets one clip.
            workers: This many processes call the function, so they must be able to import it. 0:
                this process calls it.
            max_length: The rows of the longest record, for axis="own" only.
            allow_nonfinite: True: NaN and infinity are stored (a pitch where there is none). False:
                a record with one is refused.
            from_npy: A folder with ID.npy for each clip, instead of a function.
            data: Where the sources are now, for `.pcm`. None: where the last build found them.
            progress: True (a bar), False, or a function that gets a ColumnProgress, as in
                `build()`.

        Raises:
            InvalidArgumentError: An argument is wrong, or a record does not fit; the message names
                its clip.
            BusyError: Another process is building into the cache.
            MismatchError: The cache has an unfinished build, or a source of `.pcm` has changed since
                the build.
            UnsupportedError: This installation can only read.

        Exceptions of the function come through unchanged.
        """
        from .add_column import add_column  # loads what only builds need

        options: dict[str, Any] = {
            "axis": axis,
            "version": version,
            "batch": batch,
            "workers": workers,
            "max_length": max_length,
            "allow_nonfinite": allow_nonfinite,
        }
        add_column(self, name, fn, **options, from_npy=from_npy, data=data, progress=progress)
        return Cache([self._paths[0]])
