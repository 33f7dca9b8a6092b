"""Which features one of the trainer's data sets trains on, and whether a cache has them."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any, Literal

from .._base.errors import MismatchError
from .._build import tools
from .config import MANY_FRAMES, NATIVE_RECIPE, Config
from .source import feature_differences

MelLength = Literal["trainer", "true"]


@dataclasses.dataclass(frozen=True)
class Asked:
    """The features that the trainer's configuration asks for."""

    recipe: str
    settings: tuple[str, ...]
    """The settings that differ from the recipe, for features only."""
    features: Mapping[str, Any]
    native: bool
    """The features are those of use_tf_native_loading."""
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

    def arguments(self) -> list[str]:
        """Returns the program's arguments for a cache with these features.

        What the trainer cuts is cut. No text is left out, since the trainer makes its tokens
        itself.
        """
        cut = ["features.too_long=truncate"] if self.max_frames else ["features.too_long=auto", "storage.layout=packed"]
        settings = [*self.settings, *cut, "text.too_long=truncate"]
        return [
            *(["--recipe", self.recipe] if self.recipe != "myxtts" else []),
            *(word for one in settings for word in ("--set", one)),
        ]


def asked_by(theirs: Any, mel_len: MelLength) -> Asked:
    """Returns what one of the trainer's data sets asks for.

    It depends on its configuration, and on its AudioProcessor, which has constants of its own.
    """
    config, sound = theirs.config, theirs.audio_processor
    native = has_native_loading(theirs) and bool(getattr(config, "use_tf_native_loading", True))
    max_frames = int(getattr(config, "max_mel_frames", 0) or 0) or None
    pads = bool(
        getattr(config, "pad_to_fixed_length", False) and getattr(config, "max_text_length", None) and max_frames
    )
    if native:
        _refuse_native(config, sound)
        settings = (
            [f"features.max_frames={max_frames}"]
            if max_frames
            else ["features.pad=frames", f"features.max_frames={MANY_FRAMES}"]
        )
        recipe = NATIVE_RECIPE
    else:
        _refuse_librosa(theirs)
        keys = {"sample_rate": sound.sample_rate, "n_mels": sound.n_mels, "n_fft": sound.n_fft,
                "hop_length": sound.hop_length, "win_length": sound.win_length,
                "normalize_audio": bool(config.normalize_audio), "trim_silence": bool(sound.trim_silence),
                "enable_loudness_normalization": bool(sound.enable_loudness_normalization),
                "use_tf_native_loading": False, "max_mel_frames": max_frames or 0}  # fmt: skip
        changed = Config(keys).as_settings() or ()
        settings = [one for one in changed if one.startswith("features.") and not one.startswith("features.too_long=")]
        recipe = "myxtts"
    described = json.loads(tools.core().recipe(recipe=recipe.encode(), settings=settings, config=b""))
    return Asked(
        recipe,
        tuple(settings),
        described["sections"]["features"],
        native,
        max_frames,
        int(sound.n_mels),
        pads,
        native and mel_len == "trainer" and max_frames is not None,
    )


def has_native_loading(theirs: Any) -> bool:
    """Returns whether this version of the trainer has native loading.

    Versions before its loader of TensorFlow operations have the key, but compute by librosa.
    """
    return "TFNativeDataLoader" in type(theirs)._xtts_base.create_tf_dataset.__code__.co_names


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


def _refuse_librosa(theirs: Any) -> None:
    config, sound = theirs.config, theirs.audio_processor
    asks = []
    if config.normalize_audio and getattr(sound, "enable_vad", False) and getattr(sound, "vad_model", None) is not None:
        asks.append("enable_vad cuts pauses out of clips by a network")
    for key in ("enable_pitch_shift", "enable_noise_mixing"):
        if theirs.subset == "train" and getattr(config, key, False):
            asks.append(f"{key} changes each clip at random")
    if asks:
        raise MismatchError(
            f"{'; '.join(asks)}: a cache holds clips unchanged. Turn it off, or train with mode runtime"
        )


def missing_features(asked: Asked, path: str) -> list[str]:
    """Returns what differs in a cache's features, one line each."""
    with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
        recipe = json.load(file)["recipe"]
    # Batches fill the padding behind a clip themselves.
    differ = [
        one
        for one in feature_differences(recipe["features"], asked.features)
        if not one.startswith("features.pad_value:")
    ]
    if differ and {recipe["name"], asked.recipe} == {"myxtts", NATIVE_RECIPE}:
        return [
            (
                f'recipe: "{recipe["name"]}" in the cache, "{asked.recipe}" asked for, as '
                f"use_tf_native_loading is {'on' if asked.native else 'off'}"
            )
        ]
    return differ


def has_other_lengths(asked: Asked, path: str) -> bool:
    """Returns whether a build with the trainer's limits would find other features in the cache.

    Such a build is refused.
    """
    with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
        stored = json.load(file)["recipe"]["features"]
    return (stored.get("max_frames"), stored.get("too_long")) != (
        asked.max_frames or MANY_FRAMES,
        "truncate" if asked.max_frames else None,
    )
