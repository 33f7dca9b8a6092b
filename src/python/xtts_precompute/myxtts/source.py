"""Where batches come from: the cache that a configuration asks for, or the data itself.

A cache is the right one if its features are made as the configuration says, and if its corpus is
chosen and divided as it says. Where batches have the recipe's tokens, these must be made as it
says, too. The cache must be complete, that is, published and not a part.

The check ignores what a cache does not say of its corpus, how long its records are if nothing was
lost by it, and how numbers are stored.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import json
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from .._base.errors import BusyError, CorruptError, Error, MismatchError, NotFoundError, ResourceError, UnsupportedError
from .._base.warn import warn
from .._base.words import counted
from .._build.arguments import settings_texts
from .._build.build import build, verify
from .._cache.cache import Cache, open
from .._runtime.clips import RuntimeClips, runtime
from .config import NATIVE_RECIPE, PARITY, Config
from .lists import lists_in, named_list, named_sound
from .tokens import LOOK_AGAIN_S

_SHOWN = 3  # clips that a warning names
_SPLITS = ("train_split", "validation_split")
_LISTS = ("metadata_train_file", "metadata_eval_file", "wavs_train_folder", "wavs_eval_folder")
_CLIP_CHOICE = (*_SPLITS, "train_subset_fraction", "subset_seed", "max_clip_seconds")
# Settings for the lengths of records; batches have lengths of their own.
_LENGTHS = {"features": ("max_frames", "too_long"), "text": ("max_tokens", "too_long")}


@dataclasses.dataclass(frozen=True)
class Place:
    """Where data and cache are, and how the cache is made."""

    config: Config
    data: str | None
    cache: Cache | tuple[str, ...]
    """An open cache, or paths."""
    uses_tokens: bool = False
    """Batches have the recipe's tokens."""
    divides: bool = True
    """The cache's own splits are used."""

    @property
    def paths(self) -> tuple[str, ...]:
        # An open cache may have been opened in another working directory.
        return self.cache._absolute if isinstance(self.cache, Cache) else self.cache

    def command(self, path: str, overwrite: bool = False, kept: Iterable[str] = ()) -> str:
        """Returns the command that makes the cache, for a shell.

        `kept` are settings of an existing cache that it shall keep.
        """
        words = ["xtts-precompute", self.data or "DATA", path]
        recipe = self.config.recipe
        settings: list[str] | None
        if self.config.takes_features:  # the plain cache, of these clips
            clips = [one for one in self.config.as_settings() or [] if one.startswith("corpus.")]
            fits = settings_that_fit(self.config.plain_features(), self.config.sections["features"])
            settings = [*fits, *self.with_lists(clips), *settings_texts(self.config.settings)]
            if overwrite and recipe is None:
                recipe = "myxtts"  # not the one of the cache that it replaces
        elif self.config.path is None:
            settings = self.config.as_settings()
            if settings is None:
                return "xtts-precompute DATA CACHE --config FILE, with your configuration saved as FILE"
            settings = self.with_lists(settings)
            recipe = self.config.base
        else:
            words += ["--config", self.config.path]
            settings = settings_texts(self.config.settings)
        words += [word for one in with_kept(settings, kept) for word in ("--set", one)]
        if recipe is not None:
            words += ["--recipe", os.fspath(recipe)]
        return shlex.join(words + ["--overwrite"] * overwrite)

    def with_lists(self, settings: list[str]) -> list[str]:
        """Returns the settings for a folder that has one of the trainer's two lists.

        The program does the same with a configuration's file (--config).
        """
        found = lists_in(self.config, self.data)
        if len(found) != 1 or None in (named_list(self.config, "train"), named_list(self.config, "validation")):
            return settings
        others = [one for one in settings if not one.startswith(("corpus.metadata_", "corpus.wavs_"))]
        folder = named_sound(self.config, found[0])
        others.append(f"corpus.metadata_train_file={named_list(self.config, found[0])}")
        return [*others, *([f"corpus.wavs_train_folder={folder}"] if folder else [])]

    @contextlib.contextmanager
    def arguments(self) -> Iterator[dict[str, Any]]:
        """Gives arguments for xp.build() and xp.runtime(), while the block lasts."""
        with self.config.arguments() as arguments:
            if "config" not in arguments:
                arguments["settings"] = self.with_lists(settings_texts(arguments["settings"]))
            yield arguments


def choose_cache(config: Config, cache: Any, data: Any) -> Place:
    """Returns the Place of the cache.

    It is the cache that is given, else `data.cache_path`, else DATA.cache beside the data.
    """
    where = os.fsdecode(data) if data is not None else config.words("dataset_path")
    if isinstance(cache, Cache):
        return Place(config, where, cache)
    if cache is None:
        cache = config.words("cache_path")
    if cache is None:
        if where is None:
            raise NotFoundError(
                "no cache is named: give cache=, or data= (the cache is then beside it), or set "
                f"data.cache_path or data.dataset_path in {config.name}"
            )
        beside = where.rstrip("/")
        if os.path.basename(beside) in ("", ".", ".."):  # "..cache" would lie within the data
            beside = os.path.abspath(where)
        cache = beside + ".cache"
    given = [cache] if isinstance(cache, (str, bytes, os.PathLike)) else list(cache)
    return Place(config, where, tuple(map(os.fsdecode, given)))


def open_source(place: Place, progress: Any) -> tuple[Literal["precompute", "runtime"], Any]:
    """Returns what the configuration's mode comes to.

    It is ("precompute", a Cache), or ("runtime", RuntimeClips).
    """
    if place.config.mode == "runtime":
        return "runtime", compute_at_runtime(place, progress)
    if place.config.mode == PARITY:
        return "precompute", find_cache(place)
    if place.config.mode == "precompute":
        try:
            return "precompute", find_cache(place)
        except Error as problem:
            problem.args = (f"preprocessing_mode is precompute, but {problem}", *problem.args[1:])
            raise
    try:
        return "precompute", find_cache(place)
    except (NotFoundError, MismatchError, CorruptError) as problem:
        made = _make(place, problem, progress)
        if isinstance(made, Cache):
            return "precompute", made
        warn(f"preprocessing_mode is auto: features are computed on the fly, because {problem}\n{made}")
        return "runtime", compute_at_runtime(place, progress)


# ---- the cache


def find_cache(place: Place) -> Cache:
    """Returns the cache if it is there, complete, and the right one.

    Otherwise the error says how to make it.
    """
    try:
        cache = place.cache if isinstance(place.cache, Cache) else open(place.cache)
    except NotFoundError:
        missing = [
            path for path in place.paths if not os.path.isfile(os.path.join(path, "manifest.json"))
        ] or place.paths[:1]
        state = "begun, but not finished" if os.path.isdir(os.path.join(missing[0], ".build")) else "not there"
        raise NotFoundError(
            f"the cache {missing[0]} is {state}. {_how('This makes it', place.command(missing[0]))}"
        ) from None
    except CorruptError as error:
        raise _damaged(place.paths, str(error)) from None
    published = [_check(place, path) for path in place.paths]
    if not isinstance(place.cache, Cache) and len(published) == 1 and published != [cache.digest]:
        return find_cache(place)  # another generation has been published since
    for path in place.paths:
        lost = verify(path, level="quick", progress=False).findings  # checks files and their sizes
        if lost:
            raise _damaged([path], f"{lost[0].file}: {lost[0].what} ({lost[0].found}, and not {lost[0].expected})")
    if not len(cache):
        raise MismatchError(
            f"the cache {cache.path} has no clips: {os.path.join(cache.path, 'rejects.jsonl')} says why"
        )
    if "mel" not in cache.columns:
        raise MismatchError(f"the cache {cache.path} has no mels; it has: {', '.join(cache.columns)}")
    _check_texts(place, cache)
    _check_lengths(place, cache)
    return cache


def _check_texts(place: Place, cache: Cache) -> None:
    if "tokens" in cache.columns:
        return
    if place.uses_tokens:
        raise MismatchError(
            f"the cache {cache.path} has no tokens, since its recipe makes none or its corpus has no "
            f"texts; it has: {', '.join(cache.columns)}"
        )
    if not any(clip.text or clip.text_normalized for clip in cache):
        raise MismatchError(f"the cache {cache.path} has no texts, which a trainer's batches have: its corpus has none")


def _check_lengths(place: Place, cache: Cache) -> None:
    """Checks that the cache's records are not too short for what the trainer reads.

    Shorter records are right if they have cut nothing; longer ones are, because batches are cut. Batches
    are padded where records are shorter.
    """
    cuts = [cuts_long_clips(path) for path in place.paths]
    wanted = {"mel": place.config.frames_max, **({"tokens": place.config.text_max} if place.uses_tokens else {})}
    for column, most in wanted.items():
        has = cache.columns[column].shape[0]
        if most is not None and has >= most:
            continue
        limit = f"{most if most is not None else 'any number of'} {'frames' if column == 'mel' else 'tokens'}"
        facts = (cache._core.clip(position) for position in range(len(cache)))
        may_be_cut = any(of_mels if column == "mel" else of_texts for of_mels, of_texts in cuts)
        full = may_be_cut and sum((one.frame_count if column == "mel" else one.token_count) >= has for one in facts)
        if full:
            raise MismatchError(
                f"{counted(full, 'clip', 'clips')} of the cache {cache.path} "
                f"{'fills' if full == 1 else 'fill'} its records of {has}, "
                f"and the trainer reads up to {limit}: what is behind may be lost. "
                f"{_how('This makes them longer', place.command(place.paths[0], overwrite=True))}"
            )


def _damaged(paths: Iterable[str], what: str) -> CorruptError:
    commands = "\n".join(shlex.join(["xtts-precompute", "verify", path, "--repair"]) for path in paths)
    return CorruptError(f"the cache is damaged: {what}. {_how('This mends it', commands)}")


def _check(place: Place, path: str) -> str:
    """Returns the digest of the cache published there, if it is the one that is asked for."""
    manifest = manifest_in(path)
    digest = str(manifest["index"]["digest"])
    part = manifest.get("partition")
    if part is not None:
        raise MismatchError(
            f"the cache {path} is a part of one. {_how('This joins them', 'xtts-precompute merge CACHE PART...')}"
        )
    stored, asked = manifest["recipe"], place.config.sections
    # With other features it is another cache. With another text or corpus section, a build brings
    # it up to date.
    differ = feature_differences(stored["features"], asked["features"])
    if place.config.takes_features:
        if differ:
            warn(
                f"preprocessing_mode is precompute: features are those of the cache {path} (recipe {stored['name']}); "
                f"the trainer's own loader computes others ({place.config.recipe_name})"
            )
        differ = misfits(stored["features"], asked["features"])
    if differ:
        besides = _other_recipe(place, stored)
        shown = (
            [f"recipe: {json.dumps(stored['name'])} in the cache, {json.dumps(place.config.recipe_name)} asked for"]
            if besides
            else differ
        )
        raise _mismatch(place, path, shown, digest, besides)
    differ = list(_differences(stored["text"], asked["text"], "text", _LENGTHS["text"])) if place.uses_tokens else []
    chosen = _corpus_keys(place, stored["corpus"])
    differ += _differences(
        {n: stored["corpus"].get(n) for n in chosen}, {n: asked["corpus"].get(n) for n in chosen}, "corpus"
    )
    if differ:
        # A build leaves each clip in the split that it has, so other shares need a new cache.
        divided = any(one.startswith(tuple(f"corpus.{name}:" for name in _SPLITS)) for one in differ)
        raise _mismatch(
            place, path, differ, digest if divided else None, kept=_lengths_of(stored["features"], asked["features"])
        )
    _tell_of_drops(place, path)
    return digest


def _lengths_of(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Returns settings by which a cache keeps the lengths of its records."""
    names = [name for name in _LENGTHS["features"] if stored.get(name) != asked.get(name)]
    return [f"features.{name}={stored.get(name) if stored.get(name) is not None else 'auto'}" for name in names]


def with_kept(settings: Iterable[str], kept: Iterable[str]) -> list[str]:
    """Returns the settings, with those of `kept` in place of others with the same key."""
    replaced = {one.split("=", 1)[0] for one in kept}
    return [*(one for one in settings if one.split("=", 1)[0] not in replaced), *kept]


def manifest_in(path: str) -> dict[str, Any]:
    """Returns the manifest of the cache at a path."""
    with builtins.open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
        manifest: dict[str, Any] = json.load(file)
    return manifest


def recipe_in(path: str) -> dict[str, Any]:
    """Returns the recipe of the cache at a path, with its sections."""
    recipe: dict[str, Any] = manifest_in(path)["recipe"]
    return recipe


def rejects_in(path: str) -> list[dict[str, Any]]:
    """Returns what the cache's build left out; nothing where that cannot be read, since no reader needs it."""
    try:
        with builtins.open(os.path.join(path, "rejects.jsonl"), encoding="utf-8") as file:
            rejects = [json.loads(line) for line in file]
        return [one for one in rejects if {"id", "rule"} <= one.keys()]
    except (OSError, ValueError, AttributeError):
        return []


def fill_of(source: Any) -> float:
    """Returns what pads the mels of clips behind their records' end."""
    if not isinstance(source, Cache):
        return 0.0
    given = recipe_in(source._absolute[0])["features"].get("pad_value")
    return float(given) if isinstance(given, (int, float)) else 0.0


def cuts_long_clips(path: str) -> tuple[bool, bool]:
    """Returns whether a cache's recipe cuts too long mels, and texts; else it leaves the clips out."""
    recipe = recipe_in(path)
    return recipe["features"].get("too_long") == "truncate", recipe["text"].get("too_long") == "truncate"


def _other_recipe(place: Place, stored: Mapping[str, Any]) -> str:
    """Returns a hint if the cache has the features of the trainer's other way of loading."""
    asked = place.config.recipe_name
    if place.config.recipe is not None or {stored.get("name"), asked} != {"myxtts", NATIVE_RECIPE}:
        return ""
    why = "which use_tf_native_loading is for" if asked == NATIVE_RECIPE else "since use_tf_native_loading is off"
    return (
        f"The trainer trains on the features of {asked}, {why}. recipe={stored['name']!r} trains on "
        "those that the cache has, which a checkpoint of the "
        "others does not know.\n"
    )


def _tell_of_drops(place: Place, path: str) -> None:
    """Warns of clips that the cache left out because they are long, where the trainer cuts them."""
    dropped = [str(one["id"]) for one in rejects_in(path) if one["rule"] in ("too_long", "text_too_long")]
    if dropped:
        named = ", ".join(dropped[:_SHOWN]) + (", ..." if len(dropped) > _SHOWN else "")
        warn(
            f"{counted(len(dropped), 'clip is', 'clips are')} not in the cache {path}: too long for its recipe "
            f"({named}; rejects.jsonl has them all). "
            + (
                "Training leaves them out"
                if place.config.takes_features
                else "The trainer cuts them. "
                + _how("This makes a cache that does so, too", place.command(path, overwrite=True))
            )
        )


def _corpus_keys(place: Place, stored: Mapping[str, Any]) -> list[str]:
    """Returns the keys of the corpus section that must agree.

    They are those that decide which clips are trained on, and those that the configuration gives.
    Others, such as layout or language, may have come with the command that made the cache.
    """
    config = place.config
    given = [key.recipe_key for key in config.keys] + [
        one.split("=", 1)[0].strip() for one in settings_texts(config.settings)
    ]
    said = [name.removeprefix("corpus.") for name in given if name.startswith("corpus.")]
    # A key that the cache does not have is no mismatch.
    names = [*_CLIP_CHOICE, *(name for name in said if stored.get(name) not in (None, ""))]
    if stored.get("train_subset_fraction") == 1.0 == config.sections["corpus"]["train_subset_fraction"]:
        names = [name for name in names if name != "subset_seed"]  # a seed has no effect without a subset
    if not place.divides:
        names = [name for name in names if name not in (*_SPLITS, *_LISTS)]
    return [name for name in dict.fromkeys(names) if name in config.sections["corpus"]]


class RecipeMismatchError(MismatchError):
    """The cache holds features other than those asked for: it would have to be overwritten."""

    digest = ""


class CorpusMismatchError(MismatchError):
    """The cache holds other clips or tokens: a build brings it up to date."""

    kept: Iterable[str] = ()


def _mismatch(
    place: Place, path: str, differences: list[str], replaced: str | None, besides: str = "", kept: Iterable[str] = ()
) -> RecipeMismatchError | CorpusMismatchError:
    """Returns the error for a cache that is not the one asked for.

    `replaced` is the digest of a cache that has to be overwritten; None: a build can bring it up to
    date, and `kept` are settings that it shall keep.
    """
    what = "\n".join(f"    {one}" for one in differences)
    if replaced is not None:
        how = "This overwrites it; another folder in the command keeps it"
    else:
        how = (
            "This brings it up to date (clips that are not chosen any more leave it; choose another cache to keep both)"
        )
    command = place.command(path, overwrite=replaced is not None, kept=kept)
    text = f"the cache {path} is not the one that {place.config.name} asks for:\n{what}\n{besides}{_how(how, command)}"
    if replaced is None:
        error = CorpusMismatchError(text)
        error.kept = kept
        return error
    other = RecipeMismatchError(text)
    other.digest = replaced
    return other


# The keys in which a cache and the trainer agree where its features are taken as they are.
_FIT = (("sample_rate_hz",), ("stft", "hop_samples"), ("mel", "n_mels"))


def misfits(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Returns where rate, hop and mels differ between two sections of features, one line each."""
    return [
        f"features.{'.'.join(names)}: {first} in the cache, {second} asked for"
        for names, first, second in _misfits(stored, asked)
    ]


def settings_that_fit(plain: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Returns the settings that give the plain recipe the rate, hop and mels that are asked for."""
    return [f"features.{'.'.join(names)}={second}" for names, _, second in _misfits(plain, asked)]


def _misfits(stored: Any, asked: Any) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    for names in _FIT:
        first, second = stored, asked
        for name in names:
            first, second = (first or {}).get(name), (second or {}).get(name)
        if first != second:
            yield names, first, second


def feature_differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Returns what differs between two sections of features, one line each."""
    # The native loader pads before it computes, so its features depend on max_frames.
    free = _LENGTHS["features"][1:] if "samples" in (stored.get("pad"), asked.get("pad")) else _LENGTHS["features"]
    return list(_differences(stored, asked, "features", free))


def _differences(
    stored: Mapping[str, Any], asked: Mapping[str, Any], prefix: str, free: tuple[str, ...] = ()
) -> Iterator[str]:
    for name in sorted({*stored, *asked} - {*free}):
        first, second = stored.get(name), asked.get(name)
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            yield from _differences(first, second, f"{prefix}.{name}")
        elif first != second:
            yield f"{prefix}.{name}: {json.dumps(first)} in the cache, {json.dumps(second)} asked for"


def _how(what: str, command: str) -> str:
    return f"{what}:\n    " + command.replace("\n", "\n    ")


# ---- making it


def _make(place: Place, problem: Error, progress: Any) -> Cache | str:
    """Returns the cache, made or mended, or a text that says why not."""
    if not place.config.switch("auto_rebuild_mel_cache", False):
        return "data.auto_rebuild_mel_cache: true would make it here."
    if place.data is None:
        return "data.auto_rebuild_mel_cache needs to know where the data is: give data=, or set data.dataset_path."
    if len(place.paths) > 1:
        return "several caches are not made here."
    try:
        return _make_or_wait(dataclasses.replace(place, cache=place.paths), problem, progress)
    except (ResourceError, UnsupportedError) as error:
        return f"It could not be made: {error}"


def _make_or_wait(place: Place, problem: Error, progress: Any) -> Cache:
    """Makes the cache, or waits for the process that makes it.

    All ranks of a training find at once that the cache is missing. One makes it; the others find it
    then.
    """
    told = False
    while True:
        try:
            _build_or_mend(place, problem, progress)
        except BusyError as error:
            if not told:
                warn(f"waiting for another process: {error}")
            told = True
            time.sleep(LOOK_AGAIN_S)
        try:
            return find_cache(place)
        except (NotFoundError, MismatchError, CorruptError) as still:
            if not told:
                raise
            problem = still


def _build_or_mend(place: Place, problem: Error, progress: Any) -> None:
    path = place.paths[0]
    assert place.data is not None  # _make() has checked it
    if isinstance(problem, CorruptError) and verify(path, repair=True, data=place.data, progress=progress).ok:
        return
    # Another rank may have made the right cache since. That one is not overwritten.
    overwrite = problem.digest if isinstance(problem, RecipeMismatchError) else isinstance(problem, CorruptError)
    if overwrite:
        warn(f"data.auto_rebuild_mel_cache: {path} is made anew, because {problem}")
    elif isinstance(problem, MismatchError):
        warn(f"data.auto_rebuild_mel_cache: {path} is brought up to date, because {problem}")
    with place.arguments() as arguments:
        if isinstance(problem, CorpusMismatchError):
            arguments["settings"] = with_kept(settings_texts(arguments["settings"]), problem.kept)
        build(place.data, path, overwrite=overwrite, progress=progress, **arguments)


# ---- without it


def compute_at_runtime(place: Place, progress: Any) -> RuntimeClips:
    """Returns the clips of the data; a build's code computes their features when they are asked for."""
    if place.data is None:
        raise NotFoundError(f"no data is named: give data=, or set data.dataset_path in {place.config.name}")
    with place.arguments() as arguments:
        # A function for progress expects a build's figures.
        return runtime(place.data, progress=progress is True, **arguments)
