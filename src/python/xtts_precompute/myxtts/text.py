"""The trainer's own text processing, where it can be imported.

It is the trainer's TextProcessor, with the settings and symbols that its data set gives it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from .._base.errors import InvalidArgumentError
from .config import Config
from .lists import training_folder, training_list

MODULE, CLASS = "myxtts.utils.text", "TextProcessor"
# The attributes of a TextProcessor that decide which tokens it makes.
_SETTINGS = (
    "language", "cleaner_names", "add_blank", "use_phonemes", "phoneme_language_override",
    "tokenizer_type", "tokenizer_model", "symbols", "symbol_to_id"
)  # fmt: skip


class NoTextError(InvalidArgumentError):
    """The trainer's text processing is not available here."""


# ---- a processor, and its version


def is_processor(value: Any) -> bool:
    """Returns whether a value is a TextProcessor of any version of the trainer, by its attributes."""
    return hasattr(value, "text_to_sequence") and hasattr(value, "symbols") and hasattr(value, "cleaner_names")


def processor_version(processor: Any) -> str:
    """Returns a digest of its code as loaded, its settings and symbols, and its phonemizer's packages."""
    if getattr(processor, "use_phonemes", False) and getattr(processor, "allow_symbol_growth", False):
        raise InvalidArgumentError(
            "this TextProcessor numbers symbols as it meets them, so that its tokens depend on the "
            "order of texts: give it custom_symbols= and "
            "allow_symbol_growth=False, as the trainer does for its data sets, or give tokenizer_version="
        )
    return _version_of(processor, _SETTINGS)


def _version_of(processor: Any, settings: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for kind in type(processor).__mro__[:-1]:
        _put_module(digest, sys.modules.get(kind.__module__), kind)
    digest.update(_shown({name: getattr(processor, name, None) for name in settings}).encode())
    packages = [
        "unidecode",
        "phonemizer",
        *(["transformers"] if getattr(processor, "tokenizer_type", "") == "nllb" else []),
    ]
    digest.update(json.dumps([_package_version(name) for name in packages]).encode())
    speaker = getattr(processor, "phonemizer", None)
    if speaker is not None:
        digest.update(type(speaker).__qualname__.encode())
        if hasattr(speaker, "version"):
            digest.update(str(speaker.version()).encode())
    return digest.hexdigest()[:32]


def _put_module(digest: Any, module: Any, kind: type) -> None:
    """Adds a class to the digest, and the functions and tables of its module.

    The class itself may have been made in another module.
    """
    names = {} if module is None else dict(vars(module))
    for name, value in sorted({**names, kind.__qualname__: kind}.items()):
        if isinstance(value, types.FunctionType) and value.__module__ == kind.__module__:
            _put_code(digest, value.__code__)
        elif isinstance(value, type) and value.__module__ == kind.__module__:
            for inner in (one for _, one in sorted(vars(value).items()) if isinstance(one, types.FunctionType)):
                _put_code(digest, inner.__code__)
        elif isinstance(value, (str, int, list, tuple, dict)) and not name.startswith("__"):
            digest.update(f"{name}={_shown(value)}".encode())


def _put_code(digest: Any, code: types.CodeType) -> None:
    digest.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _put_code(digest, constant)
        else:
            shown = sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
            digest.update(repr(shown).encode("utf-8", "surrogatepass"))


def _shown(value: Any) -> str:
    """Returns a text that is the same in each process: functions in a table are shown by name."""
    return json.dumps(value, default=lambda one: getattr(one, "__qualname__", type(one).__qualname__))


def _package_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


# ---- the one of a data set


def own_tokenizer(config: Config, data: str | None) -> tuple[Callable[[str], Any], str]:
    """Returns a function that makes tokens as the trainer's data set does, and its version.

    Raises NoTextError, which says why there is none.
    """
    made = _imported()
    settings = {
        "language": config.words("language") or "en",
        "cleaner_names": config.items("text_cleaners") or ["english_cleaners"],
        "add_blank": config.switch("add_blank", True),
        "use_phonemes": config.switch("use_phonemes", True),
        "phoneme_language": config.words("phoneme_language"),
    }
    first = _made(made, settings, None)
    symbols, origin = _symbols(first, settings, config, data)
    version = hashlib.sha256(f"{_version_of(first, _SETTINGS[:-2])} {origin}".encode()).hexdigest()[:32]
    made_once: list[Any] = []

    def processor() -> Any:
        # Phonemizing a large list to number its symbols takes minutes, so it is not done if the
        # column is there already.
        if not made_once:
            made_once.append(_made(made, settings, symbols() if callable(symbols) else symbols))
        return made_once[0]

    if config.switch("enable_phone_normalization", False):
        return lambda text: processor().text_to_sequence(processor().text_to_phonemes(text)), f"{version} of phonemes"
    return lambda text: processor().text_to_sequence(text), version


def _imported() -> Any:
    try:
        return getattr(importlib.import_module(MODULE), CLASS)
    except Exception as error:  # the trainer's module may fail in any way
        if isinstance(error, ImportError) and (error.name or "").split(".")[0] == MODULE.split(".")[0]:
            raise NoTextError("the trainer (myxtts) cannot be imported here") from None
        raise NoTextError(
            f"the trainer's text processing cannot be imported ({type(error).__name__}: {error})"
        ) from None


def _made(kind: Any, settings: dict[str, Any], symbols: list[str] | None) -> Any:
    try:
        return kind(**settings, custom_symbols=symbols, allow_symbol_growth=symbols is None)
    except Exception as error:  # there is no phonemizer, or none for this language
        raise NoTextError(f"it cannot be set up: {str(error).rstrip('. ')}") from None


def _symbols(first: Any, settings: dict[str, Any], config: Config, data: str | None) -> tuple[Any, str]:
    """Returns the symbols by number, or a function that finds them; and a text that names them.

    The text is the same whenever the symbols are. The trainer numbers phonemes as it meets them in
    its training list, once, and keeps the numbers in a file.
    """
    phonemes = settings["use_phonemes"]
    if data is None:
        if phonemes:
            raise NoTextError("the numbers of its phonemes come from the texts of its training list: give data=")
        return None, "its own symbols"
    data = training_folder(config, data)
    folder = (
        f"tokens_custom_{'ph' if phonemes else 'noph'}_"
        f"{'blank' if settings['add_blank'] else 'noblank'}_{settings['language']}"
    )
    path = os.path.join(data, "processed", folder, "symbols.json")
    if os.path.isfile(path):
        symbols = _read_symbols(path)
        return symbols, json.dumps(symbols)
    if not phonemes:
        return None, "its own symbols"
    texts = [row.normalized for row in training_list(config, data)]
    if not texts:
        raise NoTextError(
            f"the numbers of its phonemes come from its training list, which {data} does not have. "
            "tokenizer=TextProcessor(..., custom_symbols=SYMBOLS, "
            "allow_symbol_growth=False) takes those of its training folder (processed/tokens_.../symbols.json there)"
        )

    def numbered() -> list[str]:
        for text in texts:
            first.text_to_sequence(text)
        return list(first.symbols)

    return numbered, hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _read_symbols(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            symbols = json.load(file)
    except (OSError, ValueError) as error:
        raise NoTextError(f"its symbols cannot be read: {path}: {error}") from None
    if not isinstance(symbols, list) or not symbols or not all(isinstance(one, str) for one in symbols):
        raise NoTextError(f"{path} is no list of symbols")
    return symbols
