"""One training: what install() was asked for, and what the trainer's classes have met on the way."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._base.errors import MismatchError
from . import checkpoints
from .config import NATIVE_RECIPE, PARITY
from .features import Asked, ask, differences, has_native_in, missing_features, sound_of
from .plan import Wish
from .source import recipe_in
from .watch import ReaderStats, Watch, batch_ms

_FOR_THE_GPU = {"prefetch_to_gpu": False, "enhanced_gpu_prefetch": False, "data_gpu": None, "model_gpu": None}


class Training:
    """What all of the trainer's data sets and its XTTSTrainer share."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.reader_stats = ReaderStats()
        self.watch = Watch(self.reader_stats, say)
        self.has_native = True
        self.resumes_by_itself = True
        """The trainer's program resumes the newest checkpoint, and has --reset-training."""
        self._recipe: dict[str, Any] | None = None
        self._of = ""
        self._compared: tuple[Callable[[], Any], Callable[[], Any]] | None = None
        self._told: set[str] = set()

    # ---- features

    def takes_features(self, paths: Sequence[str], asked: Asked) -> None:
        """Notes what the model trains on. Caches with different features are an error."""
        for path in paths:
            recipe = recipe_in(path)
            differ = [] if self._recipe is None else differences(recipe["features"], self._recipe["features"])
            if differ:
                lines = "\n".join(f"    {one}" for one in differ).replace("asked for", f"in {self._of}")
                raise MismatchError(f"the caches {self._of} and {path} have different features:\n{lines}")
            if self._recipe is None:
                self._recipe, self._of = recipe, path
        if asked.takes and self._recipe is not None:
            self._say_others(asked, self._recipe)

    def _say_others(self, asked: Asked, recipe: dict[str, Any]) -> None:
        own = NATIVE_RECIPE if asked.native else "myxtts"
        is_inference = not differences(recipe["features"], asked.features)
        if recipe["name"] == own if asked.native else is_inference:
            return
        also, others = "", "the trainer's own loader and its inference compute others (myxtts)"
        if asked.native:
            others = f"the trainer's own loader computes others ({own})"
            also = ", as the trainer's inference does" if is_inference else ""
            others += "" if is_inference else ", and its inference those of myxtts"
        self.say_once(
            f"mode precompute: the model trains on the features of {self._of} (recipe {recipe['name']}{also}); {others}"
        )

    def recipe_for(self, config: Any) -> dict[str, Any] | None:
        """Returns the recipe that the model trains on; None if nobody knows."""
        if self._recipe is not None:
            return self._recipe
        takes = self.wish.mode_of(config) == "precompute"
        try:
            asked = ask(config, sound_of(config), "train", self.has_native, "precompute" if takes else PARITY, None)
        except MismatchError:
            return None
        there = [path for path in self.wish.caches if takes and os.path.isfile(os.path.join(path, "manifest.json"))]
        fitting = [recipe for recipe in map(recipe_in, there) if not missing_features(asked, recipe)]
        return fitting[0] if fitting else {"name": asked.recipe, "features": asked.features}

    # ---- checkpoints

    def resumes(self, base: str, config: Any) -> None:
        """Raises MismatchError if the trainer resumes a checkpoint of other features, or of unknown ones."""
        recipe, mode = self.recipe_for(config), self.wish.mode_of(config)
        if recipe is None:
            return
        new = (
            "with --reset-training and another --checkpoint-dir" if self.resumes_by_itself else "without --resume-from"
        )
        ways = (
            f"Two ways out: start anew, {new}; or go on with the mode that made it. --accept-checkpoint goes on all "
            "the same."
        )
        if not self.wish.by_launcher:
            ways = "Start anew, go on with the mode that made it, or say install(accept_checkpoint=True)."
        try:
            told = checkpoints.check(base, recipe, mode, ways)
        except MismatchError as problem:
            if not self.wish.accepts_checkpoint:
                raise
            told = f"--accept-checkpoint: {str(problem).splitlines()[0]}"
        if told is not None:
            self.say_once(told)

    @contextmanager
    def notes_checkpoints(self, folder: str, config: Any) -> Iterator[None]:
        """Notes the features of the checkpoints that are written within the block."""
        before = checkpoints.written(folder)
        yield
        recipe = self.recipe_for(config)
        if recipe is None:
            return
        mode = self.wish.mode_of(config)
        try:
            checkpoints.note(folder, before, recipe, "precompute" if mode == "precompute" else PARITY)
        except OSError as error:
            say(f"warning: {os.path.join(folder, checkpoints.NOTE)} cannot be written: {error}")

    # ---- what was gained

    def compares(self, theirs: Any, own: Callable[[], Any], cached: Callable[[], Any]) -> None:
        """Keeps two ways to make the training data set, for the comparison at the end."""

        def on_the_host(make: Callable[[], Any]) -> Any:
            whole = theirs.config
            theirs.config = copy.copy(whole)
            try:
                for name, value in _FOR_THE_GPU.items():
                    setattr(theirs.config, name, value)
                return make()
            finally:
                theirs.config = whole

        self._compared = (lambda: on_the_host(own), lambda: on_the_host(cached))

    def report(self, measures: bool = True, compares: bool = True) -> str:
        """Returns what was gained, in lines.

        `measures`: batches from the cache are timed. `compares`: so are those of the trainer's own loader.
        """
        cache_ms = own_ms = None
        why_not = ""
        if self._compared is not None and measures and self.watch.steps:
            own, cached = self._compared
            try:
                cache_ms = batch_ms(cached)
                if compares:
                    say("measuring at most 20 batches of the trainer's own loader (--no-compare leaves this out)")
                    own_ms = batch_ms(own)
            except Exception as error:  # the trainer's loader may fail in ways of its own
                first = (str(error).splitlines() or [""])[0]
                why_not = f"could not be measured: {type(error).__name__}: {first}"
        return self.watch.report(cache_ms, own_ms, why_not)

    def say_once(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            say(words)


def watched(theirs: type, training: Training) -> type:
    """Returns a subclass of the trainer's XTTSTrainer, whose steps and checkpoints are watched."""
    package = os.path.dirname(os.path.dirname(str(sys.modules[theirs.__module__].__file__)))
    training.has_native = has_native_in(package)

    class XTTSTrainer(theirs):  # type: ignore[misc]
        _xtts_base = theirs

        def _load_checkpoint(self, checkpoint_path: str) -> Any:
            training.resumes(_newest_in(checkpoint_path), self.config.data)
            return super()._load_checkpoint(checkpoint_path)

        def _save_checkpoint(self, *given: Any, **named: Any) -> Any:
            with training.notes_checkpoints(self.config.training.checkpoint_dir, self.config.data):
                return super()._save_checkpoint(*given, **named)

        def save_checkpoint(self, checkpoint_path: str) -> Any:
            with training.notes_checkpoints(os.path.dirname(checkpoint_path) or ".", self.config.data):
                return super().save_checkpoint(checkpoint_path)

        def _train_epoch(self, train_dataset: Any, *given: Any, **named: Any) -> Any:
            if getattr(self, "device", None) == "GPU":
                training.watch.watches(1 if getattr(self, "model_device", None) == "/GPU:1" else 0)
            train = super()._train_epoch
            return training.watch.epoch(train_dataset, lambda timed: train(timed, *given, **named))

    XTTSTrainer.__module__ = theirs.__module__
    return XTTSTrainer


def _newest_in(path: str) -> str:
    """Returns the checkpoint that the trainer takes for a path: itself, or the newest in a folder."""
    if not os.path.isdir(path):
        return path
    found = getattr(sys.modules.get("myxtts.utils.commons"), "find_latest_checkpoint", lambda _: None)(path)
    return found or path


def say(words: str) -> None:
    """Prints a line about this package's work, beside what the trainer prints."""
    print(f"xtts-precompute: {words}", file=sys.stderr, flush=True)
