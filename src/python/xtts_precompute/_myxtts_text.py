"""The trainer's own text processing, where it can be imported: its TextProcessor with the settings and symbols that its data set gives it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import inspect
import json
import os
from collections.abc import Callable
from typing import Any

from ._errors import InvalidArgumentError
from ._myxtts_config import Config
from ._myxtts_lists import symbols_of

MODULE, CLASS = "myxtts.utils.text", "TextProcessor"
# What decides its tokens beside its code.
_SETTINGS = (
    "language", "cleaner_names", "add_blank", "use_phonemes", "phoneme_language_override", "allow_symbol_growth", "tokenizer_type", "tokenizer_model", "symbols"
)  # fmt: skip


class NoTextError(InvalidArgumentError):
    """The trainer's text processing cannot be had here."""


def is_processor(value: Any) -> bool:
    """A TextProcessor of the trainer's, of whichever version: it is told by what it has."""
    return hasattr(value, "text_to_sequence") and hasattr(value, "symbols") and hasattr(value, "cleaner_names")


def processor_version(processor: Any) -> str:
    """A digest of its module's source, its settings, its symbols, and the packages that it speaks through."""
    digest = hashlib.sha256()
    with open(inspect.getsourcefile(type(processor)) or "", "rb") as file:
        digest.update(file.read())
    digest.update(json.dumps({name: getattr(processor, name, None) for name in _SETTINGS}, sort_keys=True).encode())
    packages = ["unidecode", *(["phonemizer"] if processor.use_phonemes else []), *(["transformers"] if processor.tokenizer_type == "nllb" else [])]
    digest.update(json.dumps([_version(name) for name in packages]).encode())
    speaker = getattr(processor, "phonemizer", None)
    if speaker is not None and hasattr(speaker, "version"):
        digest.update(str(speaker.version()).encode())
    return digest.hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def own_tokenizer(config: Config, data: str | None) -> tuple[Callable[[str], Any], str]:
    """What makes a text to tokens as the trainer's data set does, and its version. NoTextError: why there is none."""
    try:
        made = getattr(importlib.import_module(MODULE), CLASS)
    except ImportError as error:
        if (error.name or "").split(".")[0] == MODULE.split(".")[0]:
            raise NoTextError("the trainer (myxtts) cannot be imported here") from None
        raise NoTextError(f"the trainer's text processing cannot be imported: {error}") from None
    use_phonemes, add_blank = config.switch("use_phonemes", True), config.switch("add_blank", True)
    language = config.words("language") or "en"
    settings = {
        "language": language,
        "cleaner_names": config.items("text_cleaners") or ["english_cleaners"],
        "add_blank": add_blank,
        "use_phonemes": use_phonemes,
        "phoneme_language": config.words("phoneme_language"),
    }
    try:
        symbols = _symbols(made, settings, config, data, f"tokens_custom_{'ph' if use_phonemes else 'noph'}_{'blank' if add_blank else 'noblank'}_{language}")
        processor = made(**settings, custom_symbols=symbols, allow_symbol_growth=symbols is None)
    except RuntimeError as error:  # no phonemizer, or not this language
        raise NoTextError(str(error)) from None
    version = processor_version(processor)
    if config.switch("enable_phone_normalization", False):
        return lambda text: processor.text_to_sequence(processor.text_to_phonemes(text)), f"{version} of phonemes"
    return processor.text_to_sequence, version


def _symbols(made: Any, settings: dict[str, Any], config: Config, data: str | None, folder: str) -> list[str] | None:
    """The trainer numbers phonemes as it meets them in its list, once, and keeps that."""
    if data is None:
        if settings["use_phonemes"]:
            raise NoTextError("the numbers of its phonemes come from the texts of its training list: give data=")
        return None
    path, rows = symbols_of(config, data, folder)
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            return list(json.load(file))
    if not settings["use_phonemes"]:
        return None
    if not rows:
        raise NoTextError(f"the numbers of its phonemes come from its training list, which {data} does not have")
    first = made(**settings)
    for row in rows:
        first.text_to_sequence(row.normalized)
    return list(first.symbols)
