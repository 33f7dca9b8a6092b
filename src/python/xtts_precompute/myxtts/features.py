"""Which features one of the trainer's data sets trains on, and whether a cache has them."""

from __future__ import annotations

import dataclasses
import json
import os
import types
from collections.abc import Mapping
from typing import Any, Literal

from .._base.errors import MismatchError
from .._build import tools
from .config import MANY_FRAMES, NATIVE_RECIPE, Config
from .source import feature_differences, misfits

MelLength = Literal["trainer", "true"]


@dataclasses.dataclass(frozen=True)
class Asked:
    """The features that one of the trainer's data sets is to have."""

    recipe: str
    settings: tuple[str, ...]
    """The settings that differ from the recipe, for features only."""
    features: Mapping[str, Any]
    native: bool
    """The trainer itself would load by TensorFlow's operations (use_tf_native_loading)."""
    takes: bool
    """Mode precompute: the features of the cache are the features, if rate, hop and mels fit."""
    max_frames: int | None
    mels: int
    pads: bool
    """Batches are padded to fixed shapes."""
    says_frames: bool
    """Batches say max_mel_frames for every clip."""

    @property
    def frames(self) -> int | None:
        """The frames of every batch; None: as many as its longest clip has."""
        return self.max_frames if self.pads or (self.native and self.max_frames) else None

    def arguments(self, replaces: bool) -> list[str]:
        """Returns the program's arguments for a cache with these features.

        One that replaces another (--overwrite) would have that one's recipe if it named none.

        In mode precompute it is the plain cache, in which nothing is cut. Else what the trainer cuts
        is cut, and no text is left out, since the trainer makes its tokens itself.
        """
        if self.takes:
            settings = list(self.settings)
        else:
            cut = ["too_long=truncate"] if self.max_frames else ["too_long=auto"]
            packed = [] if self.max_frames else ["storage.layout=packed"]
            settings = [*self.settings, f"features.{cut[0]}", *packed, "text.too_long=truncate"]
        return [
            *(["--recipe", self.recipe] if replaces or self.recipe != "myxtts" else []),
            *(word for one in settings for word in ("--set", one)),
        ]


def sound_of(config: Any) -> Any:
    """Returns what the trainer's AudioProcessor is for this configuration (ljspeech.py at 7e78353)."""
    return types.SimpleNamespace(
        sample_rate=config.sample_rate,
        n_fft=1024,
        hop_length=256,
        win_length=1024,
        n_mels=80,
        trim_silence=config.trim_silence,
        enable_loudness_normalization=getattr(config, "enable_loudness_normalization", True),
    )


def ask(config: Any, sound: Any, subset: str, has_native: bool, mode: str, mel_len: MelLength | None) -> Asked:
    """Returns what a data set asks for: by the trainer's DataConfig, and its AudioProcessor `sound`.

    `has_native`: this version of the trainer has native loading.
    """
    native = has_native and bool(getattr(config, "use_tf_native_loading", True))
    takes = mode == "precompute"
    max_frames = int(getattr(config, "max_mel_frames", 0) or 0) or None
    pads = bool(
        getattr(config, "pad_to_fixed_length", False) and getattr(config, "max_text_length", None) and max_frames
    )
    if native and not takes:
        _refuse_native(config, sound)
        settings = (
            [f"features.max_frames={max_frames}"]
            if max_frames
            else ["features.pad=frames", f"features.max_frames={MANY_FRAMES}"]
        )
        recipe = NATIVE_RECIPE
    else:
        if not native:
            _refuse_librosa(config, sound, subset, takes)
        keys = {"sample_rate": sound.sample_rate, "n_mels": sound.n_mels, "n_fft": sound.n_fft,
                "hop_length": sound.hop_length, "win_length": sound.win_length,
                "normalize_audio": bool(config.normalize_audio), "trim_silence": bool(sound.trim_silence),
                "enable_loudness_normalization": bool(sound.enable_loudness_normalization),
                "use_tf_native_loading": False, "max_mel_frames": max_frames or 0}  # fmt: skip
        changed = Config(keys).as_settings() or ()
        # A plain cache has lengths of its own, which the build chooses.
        lengths = ("features.too_long=", "features.max_frames=") if takes else ("features.too_long=",)
        settings = [one for one in changed if one.startswith("features.") and not one.startswith(lengths)]
        recipe = "myxtts"
    described = json.loads(tools.core().recipe(recipe=recipe.encode(), settings=settings, config=b""))
    says = mel_len == "trainer" or (mel_len is None and not takes)
    return Asked(
        recipe=recipe,
        settings=tuple(settings),
        features=described["sections"]["features"],
        native=native,
        takes=takes,
        max_frames=max_frames,
        mels=int(sound.n_mels),
        pads=pads,
        says_frames=native and says and max_frames is not None,
    )


def has_native_loading(theirs: Any) -> bool:
    """Returns whether this version of the trainer has native loading.

    Versions before its loader of TensorFlow operations have the key, but compute by librosa.
    """
    return "TFNativeDataLoader" in type(theirs)._xtts_base.create_tf_dataset.__code__.co_names


def has_native_in(package: str) -> bool:
    """Returns the same of the trainer's package in a folder, before its data set is imported."""
    return os.path.isfile(os.path.join(package, "data", "tf_native_loader.py"))


def _refuse_native(config: Any, sound: Any) -> None:
    if config.sample_rate != 22050:
        raise MismatchError(
            f"at {config.sample_rate} Hz use_tf_native_loading resamples by interpolating lines, which "
            "no recipe does. Train at 22050 Hz, or with "
            "use_tf_native_loading: false, whose features are also those of the trainer's inference"
        )
    if (sound.n_fft, sound.hop_length, sound.win_length, sound.n_mels) != (1024, 256, 1024, 80):
        raise MismatchError(
            "this trainer's AudioProcessor has other constants than 1024, 256, 1024, 80, for which "
            "recipe myxtts-tf is made"
        )


def _refuse_librosa(config: Any, sound: Any, subset: str, takes: bool) -> None:
    asks = []
    runs_vad = getattr(sound, "enable_vad", False) and getattr(sound, "vad_model", None) is not None
    if config.normalize_audio and runs_vad and not takes:
        asks.append("enable_vad cuts pauses out of clips by a network")
    for key in ("enable_pitch_shift", "enable_noise_mixing"):
        if subset == "train" and getattr(config, key, False):
            asks.append(f"{key} changes each clip at random")
    if asks:
        raise MismatchError(
            f"{'; '.join(asks)}: a cache holds clips unchanged. Turn it off, or train with mode runtime"
        )


def differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Returns what differs between two sections of features, but for what batches fill themselves."""
    return [one for one in feature_differences(stored, asked) if not one.startswith("features.pad_value:")]


def missing_features(asked: Asked, recipe: Mapping[str, Any]) -> list[str]:
    """Returns what a cache's recipe lacks of the features that are asked for, one line each."""
    if asked.takes:
        return misfits(recipe["features"], asked.features)
    differ = differences(recipe["features"], asked.features)
    if differ and {recipe["name"], asked.recipe} == {"myxtts", NATIVE_RECIPE}:
        return [
            (
                f'recipe: "{recipe["name"]}" in the cache, "{asked.recipe}" asked for, as '
                f"use_tf_native_loading is {'on' if asked.native else 'off'}"
            )
        ]
    return differ


def has_other_lengths(asked: Asked, stored: Mapping[str, Any]) -> bool:
    """Returns whether a build with the trainer's limits would find other features in the cache.

    Such a build is refused.
    """
    if asked.takes:
        return False
    return (stored.get("max_frames"), stored.get("too_long")) != (
        asked.max_frames or MANY_FRAMES,
        "truncate" if asked.max_frames else None,
    )
