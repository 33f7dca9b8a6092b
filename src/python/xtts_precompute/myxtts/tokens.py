"""The caller's tokenizer, whose results the cache keeps in a column of its own.

A version says which tokenizer made the column. The cache's column "tokens" stays what its recipe
makes; batches have the column `COLUMN` in its place.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.choices import text
from .._base.errors import BusyError, InvalidArgumentError, MismatchError, ResourceError
from .._base.warn import warn
from .._base.words import counted
from .._cache.cache import Cache, open
from .config import Config
from .identity import Identity, UnknownError
from .text import is_processor, processor_version

# A function from a text to whole numbers, or a TextProcessor of the trainer's.
Tokenizer = Callable[[str], Any]
COLUMN = "tokenizer_tokens"
_INT32 = np.iinfo(np.int32)
LOOK_AGAIN_S = 1.0  # how often to look whether another process is done
_SHOWN = 3  # clips that a warning names


class TokensOf:
    """Makes a clip's tokens, int32.

    There are none if the clip has no text. If there are too many, `text.too_long` of the recipe
    decides: they are cut, or there are none.
    """

    def __init__(self, tokenizer: Tokenizer, config: Config) -> None:
        self.tokenizer = function_of(tokenizer)
        self.limit = config.text_max
        self.width = config.text_width
        self.cuts = config.sections["text"]["too_long"] == "truncate"
        self.trainer_fails = config.pads_less_than_it_cuts
        """The trainer fails at a text with more tokens: it has not cut it, and its padding is shorter."""
        self._normalized = bool(config.sections["text"]["use_normalized"])

    def __call__(self, clip: Any) -> npt.NDArray[np.int32]:
        """Returns the tokens of a clip (of a cache, or what is known of one) from its text.

        It takes the normalized text where the recipe does and there is one.
        """
        return self.of(clip.id, (self._normalized and clip.text_normalized) or clip.text)

    def of(self, clip_id: str, words: str | None) -> npt.NDArray[np.int32]:
        """Returns the tokens of a text; messages name the clip."""
        if not words:
            return np.empty(0, np.int32)
        try:
            given = self.tokenizer(words)
        except Exception as error:
            raise InvalidArgumentError(
                f"clip {clip_id}: the tokenizer raised {type(error).__name__}: {error}; the text is {words!r}"
            ) from error
        try:
            made = np.asarray(given)
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"clip {clip_id}: the tokenizer's result is no array: {error}") from error
        if made.ndim != 1 or (made.size and made.dtype.kind not in "iu"):
            raise InvalidArgumentError(
                f"clip {clip_id}: the tokenizer must give whole numbers [tokens], not {made.dtype} "
                f"{list(made.shape)}{_hint(given, made)}"
            )
        if made.size and not _INT32.min <= int(made.min()) <= int(made.max()) <= _INT32.max:
            raise InvalidArgumentError(
                f"clip {clip_id}: the tokenizer's numbers must be int32; they are {made.min()} to {made.max()}"
            )
        if made.size > self.limit and not self.cuts:
            return np.empty(0, np.int32)
        return made[: self.limit].astype(np.int32)


def _hint(given: Any, made: npt.NDArray[Any]) -> str:
    """Returns how to get the numbers out of a result that tokenizers often give instead."""
    if hasattr(given, "input_ids") or (isinstance(given, Mapping) and "input_ids" in given):
        return ': tokenizer=lambda text: tokenizer(text)["input_ids"]'
    return ": take row 0 of it" if made.ndim == 2 and len(made) == 1 else ""


def with_tokens(
    cache: Cache, config: Config, tokenizer: Tokenizer, version: str | int | None, progress: Any
) -> tuple[Cache, list[str]]:
    """Returns the cache with the tokenizer's column, and the clips without tokens.

    The column is made if it is not there yet, or was made by another tokenizer.
    """
    tokens_of = TokensOf(tokenizer, config)
    # The results also depend on how long they may be.
    full = (
        f"{version_of(tokenizer, version)}, at most {tokens_of.limit} of "
        f"{tokens_of.width}{' (cut)' if tokens_of.cuts else ''}"
    )
    lacking = [path for path in cache._absolute if not _has_tokens(open(path), full)]
    for path in lacking:
        when_free(functools.partial(_add, path, tokens_of, full, progress))
    # The open cache may be older than the column, which another rank may have made.
    if lacking or not _has_tokens(cache, full):
        cache = open(cache._absolute)
    return cache, without_tokens(((clip.id, len(clip[COLUMN])) for clip in cache), tokens_of)


def _has_tokens(cache: Cache, version: str) -> bool:
    """Returns whether the column is complete, so that nothing needs to be written.

    Not every user who trains may write to the cache.
    """
    column = cache.columns.get(COLUMN)
    return column is not None and column.version == version and not column.missing


def _add(path: str, tokens_of: TokensOf, version: str, progress: Any) -> None:
    try:
        open(path).add_column(
            COLUMN, tokens_of, axis="own", max_length=tokens_of.width, version=version, progress=progress
        )
    except ResourceError as error:
        raise ResourceError(
            f"{error}. What the tokenizer makes is kept in the cache {path}: make it writable, or make "
            "room there, or have somebody who may write there "
            "open it once with this tokenizer. tokenizer='recipe' takes the tokens that the cache has"
        ) from error


def when_free(make: Callable[[], None]) -> None:
    """Calls `make` until no other process is at work.

    All ranks of a training want the same column at once. One makes it; the others find it then.
    """
    told = False
    while True:
        try:
            return make()
        except BusyError as error:
            if not told:
                warn(f"waiting for another process: {error}")
            told = True
            time.sleep(LOOK_AGAIN_S)


def without_tokens(lengths: Iterable[tuple[str, int]], tokens_of: TokensOf) -> list[str]:
    """Returns the clips without tokens, which are left out, and warns of them."""
    known = list(lengths)
    full = sum(length >= tokens_of.limit for _, length in known)
    if full and tokens_of.trainer_fails:
        warn(
            f"{full} texts are cut at {tokens_of.limit} tokens (max_text_length, to which "
            "pad_to_fixed_length pads), or just fill them. The trainer itself "
            f"fails at longer ones: data.max_text_tokens: {tokens_of.limit} cuts them there, too"
        )
    empty = [clip_id for clip_id, length in known if not length]
    if empty:
        named = ", ".join(empty[:_SHOWN]) + (", ..." if len(empty) > _SHOWN else "")
        warn(
            f"{counted(len(empty), 'clip is', 'clips are')} left out ({named}): no text, or the tokenizer makes no "
            "tokens of it"
            + ("" if tokens_of.cuts else f", or more than max_text_tokens, {tokens_of.limit}: a higher one keeps them")
        )
    return empty


def without_text(clips: Any, tokens_of: TokensOf | None) -> list[str]:
    """Returns the clips without text or tokens, for features at runtime. No sound is read for it."""
    if tokens_of is None and "tokens" not in clips.columns:
        raise MismatchError(
            f"{clips._shown} has no tokens, which a trainer's batches have: no clip has a text, or the "
            "recipe makes no tokens of them. It needs texts "
            "(metadata.csv, say), or tokenizer= where there are texts; xp.runtime() reads sound alone"
        )
    known = [(clip_id, clips.info(place)) for place, clip_id in enumerate(clips.ids)]
    if tokens_of is None:
        return [clip_id for clip_id, info in known if not (info.text or info.text_normalized)]
    return without_tokens(((clip_id, len(tokens_of(info))) for clip_id, info in known), tokens_of)


# ---- which tokenizer it is


def function_of(tokenizer: Any) -> Tokenizer:
    """Returns the function that makes tokens of a text."""
    made: Tokenizer = tokenizer.text_to_sequence if is_processor(tokenizer) else tokenizer
    return made


def version_of(tokenizer: Any, given: str | int | None) -> str:
    """Returns the version that the caller gave, or else one that is found by itself.

    For the trainer's TextProcessor it is a digest of what decides its tokens. For a plain Python
    function it is a digest of its code with constants and defaults, the values that it closes over,
    and the global names that it uses, functions among them. Objects with a `__call__`, methods and
    compiled functions may change without any of that: they raise InvalidArgumentError and need a
    version.
    """
    if given is not None:
        return text("tokenizer_version", str(given) if isinstance(given, int) else given)
    processor = getattr(tokenizer, "__self__", tokenizer)
    if is_processor(processor) and function_of(processor) == function_of(tokenizer):
        return processor_version(processor)
    if not callable(tokenizer):
        raise InvalidArgumentError(f"tokenizer must be a function from a text to whole numbers, not {tokenizer!r}")
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    try:
        Identity(digest).add(tokenizer)
    except UnknownError as unknown:
        raise InvalidArgumentError(
            f"what the tokenizer does depends on {unknown}, which may change unseen: give "
            "tokenizer_version=, and another one whenever it "
            "makes other tokens"
        ) from None
    return digest.hexdigest()[:32]
