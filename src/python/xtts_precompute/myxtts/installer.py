"""Runs the unchanged trainer on a cache: replaces its classes where they are defined.

This depends on the trainer's interface at 7e78353: the names of the modules and classes below;
LJSpeechDataset's `create_tf_dataset()` with its arguments, `config`, `subset`, `items`, `metadata`
(id, transcription, normalized_transcription), `metadata_file`, `wavs_dir`, `splits_file`,
`audio_processor`, `text_processor`, `_detect_language()` and
`_apply_phone_level_normalization()`; XTTSTrainer's `_train_epoch()`,
`_load_checkpoint()`, `_save_checkpoint()` and `save_checkpoint()`.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from .._base.choices import one_of
from .._base.errors import InvalidArgumentError
from .config import ALL_MODES, MODES
from .features import MelLength
from .plan import Wish
from .trainer import cached
from .training import Training, watched

PACKAGE = "myxtts"
KEY = "preprocessing_mode"  # which the trainer's DataConfig at 7e78353 does not have


def install(
    cache: Any,
    mode: str | None = None,
    mel_len: MelLength | None = None,
    *,
    accept_checkpoint: bool = False,
    build: bool = False,
) -> None:
    """Makes the trainer's own LJSpeechDataset read its mels from a cache, from now on.

        import xtts_precompute as xp
        xp.myxtts.install("./cache")         # before the trainer's imports
        from myxtts.training.trainer import XTTSTrainer

    Of the data set only `create_tf_dataset()` changes. The trainer's splits, tokenizer, order under
    a seed, and `dataset[i]` stay as they are. Its configuration may have the key
    `preprocessing_mode`. A second call replaces the cache for data sets that are made after it.

    Args:
        cache: The path of a cache, or a list of paths: the trainer's two folders may have one each.
        mode: "precompute": the features of the cache are the features, if rate, hop, mels and clips
            fit. "parity": those of the trainer's own loader, and the cache must have them. Where
            the cache is not the right one, both raise an error that says how to make it. "auto":
            as parity; if the cache is not the right one, the trainer's own loading, with a warning.
            "runtime": the trainer's own loading. None: `preprocessing_mode` of the trainer's
            configuration if it has one, else "parity".
        mel_len: The lengths in batches where use_tf_native_loading is on. "true": each clip's own,
            the default of precompute. "trainer": max_mel_frames for every clip, as the trainer's
            loader says, the default of the other modes.
        accept_checkpoint: The trainer may resume a checkpoint of other features, or of unknown ones.
        build: A cache that is missing is made, by the command that the error would name.
    """
    paths = [cache] if isinstance(cache, (str, bytes, os.PathLike)) else list(cache)
    if not paths:
        raise InvalidArgumentError("install() needs the path of a cache")
    # The paths become absolute, because the trainer may change its folder before it reads.
    wish = Wish(
        tuple(os.path.abspath(os.fsdecode(path)) for path in paths),
        None if mode is None else one_of("mode", mode, ALL_MODES),
        None if mel_len is None else one_of("mel_len", mel_len, ("trainer", "true")),  # type: ignore[arg-type]
        accepts_checkpoint=accept_checkpoint,
        builds=build,
    )
    install_for(Training(wish))


def install_for(training: Training) -> None:
    """Replaces the trainer's classes for this training, now or once they are imported."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    sys.meta_path.insert(0, _Finder(training))
    for name in _CLASSES:
        if name in sys.modules:
            _replace(sys.modules[name], training)


def with_key(theirs: type) -> type:
    """Returns a subclass of the trainer's DataConfig that takes the key preprocessing_mode, too.

    The key is an attribute of the object, and no field: what the trainer saves does not have it.
    """
    if KEY in getattr(theirs, "__dataclass_fields__", ()):
        return theirs

    class DataConfig(theirs):  # type: ignore[misc]
        _xtts_base = theirs

        def __init__(self, *given: Any, **named: Any) -> None:
            mode = named.pop(KEY, None)
            super().__init__(*given, **named)
            if mode is not None:
                self.preprocessing_mode = one_of(KEY, mode, MODES)

    DataConfig.__module__ = theirs.__module__
    return DataConfig


# The classes that are replaced: that of each module, and the function that makes another one of it.
_CLASSES: dict[str, tuple[str, Callable[[type, Training], type]]] = {
    f"{PACKAGE}.data.ljspeech": ("LJSpeechDataset", cached),
    f"{PACKAGE}.training.trainer": ("XTTSTrainer", watched),
    f"{PACKAGE}.config.config": ("DataConfig", lambda theirs, _: with_key(theirs)),
}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the trainer's modules as other finders do, and replaces their classes once they are loaded."""

    def __init__(self, training: Training) -> None:
        self._training = training

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname not in _CLASSES:
            return None
        for finder in sys.meta_path:
            found = (
                finder.find_spec(fullname, path, target)
                if finder is not self and hasattr(finder, "find_spec")
                else None
            )
            if found is not None and found.loader is not None:
                found.loader = _Loader(found.loader, self._training)
                return found
        return None


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: Any, training: Training) -> None:
        self._inner = inner
        self._training = training

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        _replace(module, self._training)

    def __getattr__(self, name: str) -> Any:  # get_source() and other methods that tracebacks use
        return getattr(self._inner, name)


def _replace(module: ModuleType, training: Training) -> None:
    name, make = _CLASSES[module.__name__]
    now = getattr(module, name, None)
    if not isinstance(now, type):
        raise InvalidArgumentError(
            f"{module.__file__} has no class {name}, so this is not the trainer that this is made for "
            "(masoodafar-web/MyXTTSModel)"
        )
    ours = make(getattr(now, "_xtts_base", now), training)
    # Modules that imported the class before have the name, too.
    for one in list(sys.modules.values()):
        if getattr(one, "__name__", "").split(".")[0] == PACKAGE and vars(one).get(name) is now:
            setattr(one, name, ours)
    setattr(module, name, ours)
