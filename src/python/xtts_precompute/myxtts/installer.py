"""Runs the unchanged trainer on a cache: replaces its class LJSpeechDataset where it is defined.

This depends on the trainer's interface at 7e78353: the names of the module and the class;
`create_tf_dataset()` with its arguments; `config`, `subset`, `items`, `metadata` (id,
transcription, normalized_transcription), `audio_processor`, `text_processor`, `_detect_language()`
and `_apply_phone_level_normalization()`.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from .._base.choices import one_of
from .._base.errors import InvalidArgumentError
from .config import MODES
from .features import MelLength
from .trainer import Installed, cached

MODULE, CLASS = "myxtts.data.ljspeech", "LJSpeechDataset"


def install(cache: Any, mode: str | None = None, mel_len: MelLength = "trainer") -> None:
    """Makes the trainer's own LJSpeechDataset read its mels from a cache, from now on.

        import xtts_precompute as xp
        xp.myxtts.install("./cache")         # before the trainer's imports
        from myxtts.training.trainer import XTTSTrainer

    Only `create_tf_dataset()` changes. The trainer's splits, tokenizer, order under a seed, and
    `dataset[i]` stay as they are. A second call replaces the cache for data sets that are made
    after it.

    Args:
        cache: The path of a cache, or a list of paths: the trainer's two folders may have one each.
        mode: "precompute": the cache; if it is not the right one, an error that says how to make
            it. "auto": the cache; if it is not the right one, the trainer's own loading, with a
            warning. "runtime": the trainer's own loading. None: `preprocessing_mode` of the
            trainer's configuration if it has one, else "precompute".
        mel_len: The lengths in batches of use_tf_native_loading. "trainer": max_mel_frames for
            every clip, as its loader says. "true": each clip's own length, followed by padding.
    """
    paths = [cache] if isinstance(cache, (str, bytes, os.PathLike)) else list(cache)
    if not paths:
        raise InvalidArgumentError("install() needs the path of a cache")
    # The paths become absolute, because the trainer may change its folder before it reads.
    wish = Installed(
        tuple(os.path.abspath(os.fsdecode(path)) for path in paths),
        None if mode is None else one_of("mode", mode, MODES),
        one_of("mel_len", mel_len, ("trainer", "true")),  # type: ignore[arg-type]
    )
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    sys.meta_path.insert(0, _Finder(wish))
    if MODULE in sys.modules:
        _replace(sys.modules[MODULE], wish)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the trainer's module as other finders do, and replaces its class once it is loaded."""

    def __init__(self, wish: Installed) -> None:
        self._wish = wish

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if fullname != MODULE:
            return None
        for finder in sys.meta_path:
            found = (
                finder.find_spec(fullname, path, target)
                if finder is not self and hasattr(finder, "find_spec")
                else None
            )
            if found is not None and found.loader is not None:
                found.loader = _Loader(found.loader, self._wish)
                return found
        return None


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: Any, wish: Installed) -> None:
        self._inner = inner
        self._wish = wish

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        _replace(module, self._wish)

    def __getattr__(self, name: str) -> Any:  # get_source() and other methods that tracebacks use
        return getattr(self._inner, name)


def _replace(module: ModuleType, wish: Installed) -> None:
    now = getattr(module, CLASS, None)
    if not isinstance(now, type):
        raise InvalidArgumentError(
            f"{module.__file__} has no class {CLASS}, so this is not the trainer that this is made for "
            "(masoodafar-web/MyXTTSModel)"
        )
    theirs = getattr(now, "_xtts_base", now)
    ours = cached(theirs, wish)
    # Modules that imported the class before have the name, too.
    for one in list(sys.modules.values()):
        if getattr(one, "__name__", "").split(".")[0] == MODULE.split(".")[0] and vars(one).get(CLASS) is now:
            setattr(one, CLASS, ours)
    setattr(module, CLASS, ours)
