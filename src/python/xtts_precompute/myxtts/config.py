"""The trainer's configuration: a config.yaml, a dict, or an object with attributes.

The builder's own reader reads and judges it. One table
(xtts_advise/trainers/myxtts/keys.yaml) says what each key means for features and to the loader.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from .._base.choices import one_of, text, whole
from .._base.errors import Error, InvalidArgumentError
from .._build import tools
from .._build.arguments import path_bytes, settings_texts

KeyClass = Literal["honoured", "no effect", "not reproduced"]
SECTIONS = ("data", "training", "model")
MODES = ("auto", "precompute", "runtime")
PARITY = "parity"  # where neither the configuration nor the caller names a mode
ALL_MODES = (*MODES, PARITY)
NATIVE_RECIPE = "myxtts-tf"
# The limits where the trainer sets none; the builder has the same (src/recipe/trainer_config.cpp).
MANY_FRAMES, MANY_TOKENS = 2600, 4096

# The values of features that a recipe does not give.
_UNSAID = {"too_long": "auto", "pad": "frames"}
# The reader's words for values that are not single.
_NOT_ONE = ("a list", "a section", "an alias", "a tagged value")
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")  # the words that PyYAML accepts


@dataclasses.dataclass(frozen=True)
class ConfigKey:
    """A key of the configuration, and what has become of it."""

    name: str
    """The key with its section: "data.n_mels"."""
    kind: KeyClass
    """"honoured", "no effect" (on batches), or "not reproduced".

    A key of the last class changes training, and batches do not have what it asks for.
    """
    note: str
    value: str | None
    """The value as it is written; "a list" or the like if it is not single; None if it is empty."""
    recipe_key: str
    """The key of the recipe that it has set: "corpus.language"."""
    items: tuple[str, ...] = ()
    """The items of a list of single values."""
    is_default: bool = False
    """The configuration does not have the key: `value` is what the trainer takes then."""
    about: str = ""
    """"sound" or "random sound": the key changes the sound, "random sound" while training alone."""


class Config:
    """What a configuration asks for: each key with its class, and the recipe that the keys make."""

    def __init__(
        self,
        config: Any,
        recipe: Any = None,
        settings: Any = None,
        tokenizer: Any = None,
        name: str = "the configuration",
        mode: str | None = None,
    ) -> None:
        self._path, self._text = _path_or_text(config)
        self.recipe = recipe
        """The recipe that the caller gave; None: the one that the configuration asks for."""
        self.settings = settings
        self.name = os.fspath(self._path) if self._path is not None else name
        with self.file() as path:
            document = self._read(path)
        self.sections: dict[str, dict[str, Any]] = document["sections"]
        self.fingerprints: dict[str, str] = document["fingerprints"]
        self.recipe_name: str = document["name"]
        self._ignored = frozenset(document["ignored"])
        self.uses_recipe_tokens = tokenizer == "recipe" or (
            tokenizer is None and self.sections["text"]["tokens"] == "characters"
        )
        """Batches have the recipe's tokens.

        Bytes are used only if the caller asks for them; a recipe with a vocabulary asks by itself.
        """
        self.keys = tuple(_judged(key, self.uses_recipe_tokens) for key in document["config"])
        self._by_name = {key.name: key for key in self.keys}
        # The builder has checked the configuration's.
        mode = one_of("mode", mode, ALL_MODES) if mode is not None else self.words("preprocessing_mode") or PARITY
        self.mode: Literal["auto", "precompute", "runtime", "parity"] = mode  # type: ignore[assignment]

    @property
    def path(self) -> str | None:
        """The path of the file, if there is one."""
        return self._path

    @contextlib.contextmanager
    def file(self) -> Iterator[str]:
        """Gives the path of a file that the builder can read, while the block lasts."""
        if self._path is not None:
            yield self._path
            return
        with tempfile.TemporaryDirectory(prefix="xtts-config-") as folder:
            path = os.path.join(folder, "config.json")  # JSON is YAML
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(self._text)
            try:
                yield path
            except Error as error:
                # The path of the temporary file would tell the user nothing.
                error.args = (re.sub(re.escape(path) + r"(:\d+)?", "config", str(error)), *error.args[1:])
                raise

    @contextlib.contextmanager
    def arguments(self) -> Iterator[dict[str, Any]]:
        """Gives arguments for xp.build() and xp.runtime(), while the block lasts."""
        settings = None if self._path is not None else self.as_settings()
        if settings is not None:
            yield {"recipe": self.base, "settings": settings}
            return
        with self.file() as path:
            yield {"recipe": self.recipe, "settings": self.settings, "config": path}

    def as_settings(self) -> list[str] | None:
        """Returns all that differs from the recipe, as settings.

        None: settings cannot express the configuration.
        """
        base = self._described([], b"", self.base)["sections"]
        changed = [one for name, section in self.sections.items() for one in _changed(base[name], section, name)]
        # A recipe has some value of each key that means nothing beside the others; as a setting, the key is an error.
        settings = [one for one in changed if one.split("=", 1)[0] not in self._ignored]
        for name, value in _UNSAID.items():
            if base["features"].get(name) is not None and self.sections["features"].get(name) is None:
                settings = [
                    *(one for one in settings if not one.startswith(f"features.{name}=")),
                    f"features.{name}={value}",
                ]
        try:
            described = self._described(settings, b"", self.base)
        except InvalidArgumentError:
            return None
        return settings if described["fingerprints"] == self.fingerprints else None

    def _read(self, path: str) -> Any:
        return self._described(settings_texts(self.settings), path_bytes("config", path), self.recipe)

    def _described(self, settings: list[str], config: bytes, recipe: Any) -> Any:
        name = b"" if recipe is None else path_bytes("recipe", recipe)
        return json.loads(tools.core().recipe(recipe=name, settings=settings, config=config))

    def plain_features(self) -> Any:
        """Returns the features of a cache that is made without an option."""
        return self._described([], b"", None)["sections"]["features"]

    @property
    def base(self) -> Any:
        """The recipe under the configuration."""
        return self.recipe_name if self.recipe is None else self.recipe

    # ---- keys

    @property
    def takes_features(self) -> bool:
        """The features of the cache are the features: mode precompute, unless the caller named a recipe."""
        return self.mode == "precompute" and self.recipe is None

    @property
    def is_native(self) -> bool:
        """The features are those of use_tf_native_loading."""
        return self.recipe_name == NATIVE_RECIPE

    @property
    def tokens_max(self) -> int:
        """The most tokens of a text, in the recipe's tokens."""
        return int(self.sections["text"]["max_tokens"])

    @property
    def text_max(self) -> int:
        """The most tokens of a text: the trainer cuts there, or fails at more where it pads."""
        cuts, pads = self._text_limits()
        return min(cuts, pads or cuts)

    @property
    def text_width(self) -> int:
        """The tokens that a batch has room for."""
        return self._text_limits()[1] or self.text_max

    @property
    def pads_less_than_it_cuts(self) -> bool:
        """The trainer fails at texts whose length lies between the two limits."""
        cuts, pads = self._text_limits()
        return bool(pads) and pads < cuts

    def _text_limits(self) -> tuple[int, int]:
        cuts = self.whole("max_text_tokens", 0, 0, 2**31) or MANY_TOKENS
        return cuts, (self.whole("max_text_length", 0, 0, 2**31) or 0) if self.switch(
            "pad_to_fixed_length", False
        ) else 0

    @property
    def frames_max(self) -> int | None:
        """The frames after which the trainer cuts a mel; None: it does not."""
        return self.whole("max_mel_frames", None, 0, 2**31) or None

    def not_reproduced(self, accept: Any = ()) -> list[ConfigKey]:
        """Returns the keys that change training, that batches do not have, and that are not accepted."""
        if isinstance(accept, str):
            raise InvalidArgumentError(f"accept must be a list of keys, not one text: accept=({accept!r},)")
        accepted = {text("one of accept", name).removeprefix("data.") for name in accept}
        return [
            key for key in self.keys if key.kind == "not reproduced" and key.name.removeprefix("data.") not in accepted
        ]

    def words(self, name: str) -> str | None:
        """Returns the text of data.NAME, or None."""
        key = self._by_name.get(f"data.{name}")
        value = (key and key.value) or None
        if value in _NOT_ONE:
            raise InvalidArgumentError(f"{self.name}: data.{name} is {value}, and has to be a single value")
        return value

    def value(self, name: str) -> str | None:
        """Returns the text of a key of any section, as it is written, or None."""
        key = self._by_name.get(name)
        return None if key is None or key.value in _NOT_ONE else key.value

    def items(self, name: str) -> list[str]:
        """Returns data.NAME, a list of texts or a single one, as a list."""
        key = self._by_name.get(f"data.{name}")
        if key is None or not key.value:
            return []
        return list(key.items) if key.value in _NOT_ONE else [key.value]

    def says(self, name: str) -> bool:
        """Returns whether the configuration itself has data.NAME."""
        key = self._by_name.get(f"data.{name}")
        return key is not None and not key.is_default

    def switch(self, name: str, default: bool) -> bool:
        """Returns data.NAME, which is true or false. Empty means off, as to the trainer."""
        value = (self.words(name) or "").lower()
        if self.says(name) and value in ("", "null", "~", "none"):
            return False
        if value and value not in _TRUE + _FALSE and value not in ("null", "~", "none"):
            raise InvalidArgumentError(f"{self.name}: data.{name} is {value!r}, which is neither true nor false")
        return value in _TRUE if value in _TRUE + _FALSE else default

    def whole(self, name: str, default: int | None, least: int, most: int) -> int | None:
        """Returns data.NAME, which is a whole number, or the default if it is absent or empty."""
        value = self.words(name)
        if value is None or value.lower() in ("null", "~", "none"):
            return default
        try:
            number = int(value.replace("_", ""))
        except ValueError:
            raise InvalidArgumentError(f"{self.name}: data.{name} is {value!r}, which is no whole number") from None
        return whole(f"{self.name}: data.{name}", number, least, most)


def _changed(base: Mapping[str, Any], section: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _changed(base.get(name) or {}, value, f"{prefix}.{name}")
        elif value != base.get(name):
            yield f"{prefix}.{name}={value if isinstance(value, str) else json.dumps(value)}"


def _judged(key: Mapping[str, Any], uses_recipe_tokens: bool) -> ConfigKey:
    name, kind, note, value = key["key"], key["class"], key["note"], key["value"]
    if kind == "no effect" and key["loader"] and value:
        kind, note = "honoured", key["loader"]
    elif kind == "no effect" and key["about"] == "text" and value:
        if not uses_recipe_tokens:
            kind, note = "honoured", "by the tokenizer"
        elif not key["default"] and value.lower() not in _FALSE:
            kind, note = "not reproduced", "tokens are those of the cache's recipe"
    return ConfigKey(name, kind, note, value, key["recipe_key"], tuple(key["items"]), key["default"], key["about"])


# ---- what a configuration may be


def _path_or_text(config: Any) -> tuple[str | None, str]:
    if isinstance(config, (str, bytes, os.PathLike)):
        return os.fsdecode(config), ""
    values = _attributes(config)
    if values is None:
        raise InvalidArgumentError(
            f"config must be the path of a config.yaml, a dict, or an object with attributes, not {config!r}"
        )
    found = {
        name: _attributes(values[name]) for name in SECTIONS if name in values and _attributes(values[name]) is not None
    }
    sections = found or {"data": values}
    if "data" not in sections:  # the settings of data stand beside a section for the model
        sections = {
            "data": {name: value for name, value in values.items() if name not in found and _attributes(value) is None},
            **found,
        }
    return None, json.dumps({name: _plain(section) for name, section in sections.items()}, indent=1, ensure_ascii=False)


def _attributes(config: Any) -> dict[str, Any] | None:
    """Returns the settings of a dict, a dataclass, a namespace or another object; None of plain data."""
    if isinstance(config, Mapping):
        return dict(config)
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        return {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    if config is None or isinstance(config, (str, bytes, bool, int, float, list, tuple, set, enum.Enum, os.PathLike)):
        return None
    kinds = reversed(config.__mro__ if isinstance(config, type) else type(config).__mro__)
    names = dict.fromkeys(name for kind in kinds if kind is not object for name in (*vars(kind), *_slots(kind)))
    names.update(dict.fromkeys(getattr(config, "__dict__", ())))
    shown = {name: getattr(config, name, None) for name in names if not name.startswith("_")}
    return {
        name: value
        for name, value in shown.items()
        if not isinstance(value, Callable)  # type: ignore[arg-type]
    } or None


def _slots(kind: type) -> tuple[str, ...]:
    slots = getattr(kind, "__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _plain(value: Any) -> Any:
    """Returns the value in a form that JSON can hold."""
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (bytes, os.PathLike)):
        return os.fsdecode(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):  # a NumPy value
        return _plain(value.tolist())
    inner = _attributes(value)
    return str(value) if inner is None else {str(name): _plain(one) for name, one in inner.items()}
