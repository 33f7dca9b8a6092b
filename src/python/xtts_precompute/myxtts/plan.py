"""Which caches the trainer's data sets read: all are looked at together, and made where that is wanted."""

from __future__ import annotations

import dataclasses
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from .._base.choices import one_of
from .._base.errors import Error, ResourceError
from .._build.tools import program
from .config import ALL_MODES
from .features import MelLength, ask, has_native_loading, sound_of
from .items import Clip, Folder, Items, Need, failure, look
from .lists import read_list, splits_in


@dataclasses.dataclass(frozen=True)
class Wish:
    """What install() was asked for."""

    caches: tuple[str, ...]
    mode: str | None = None
    mel_len: MelLength | None = None
    accepts_checkpoint: bool = False
    builds: bool = False
    """Caches that are missing are made by the commands that an error would name."""
    by_launcher: bool = False

    def mode_of(self, config: Any) -> str:
        """Returns the mode: the one that was asked for, or that of the trainer's configuration."""
        mode = self.mode or getattr(config, "preprocessing_mode", None) or "parity"
        return one_of("preprocessing_mode", mode, ALL_MODES)


class BuildFailedError(Error):
    """A command of --build ended with another code than 0, which is `code_of_build`."""

    def __init__(self, command: str, code: int) -> None:
        super().__init__(f"--build: this ended with {code}: {command}")
        self.code_of_build = code


def folder_of(theirs: Any, wish: Wish) -> Folder:
    """Returns what one of the trainer's data sets reads."""
    config = theirs.config
    asked = ask(
        config, theirs.audio_processor, theirs.subset, has_native_loading(theirs), wish.mode_of(config), wish.mel_len
    )
    data = os.fspath(theirs.data_path)
    clips = [clip(row["id"], (row["transcription"], row["normalized_transcription"])) for row in rows_of(theirs)]
    return Folder(theirs.subset, data, str(theirs.metadata_file), clips, asked, settings_for(config, data))


def folder_in(config: Any, data: str, subset: str, has_native: bool, wish: Wish) -> Folder | None:
    """Returns what a data set of the trainer will read, from its list alone, as ljspeech.py finds it.

    None: there is no list, which the trainer itself will say.
    """
    is_train = subset == "train"
    name = getattr(config, "metadata_train_file" if is_train else "metadata_eval_file", None)
    folder = getattr(config, "wavs_train_dir" if is_train else "wavs_eval_dir", None)
    table = os.path.join(data, name or "metadata.csv")
    sound = os.path.join(data, folder) if name and folder else os.path.join(os.path.dirname(table), "wavs")
    if not os.path.isfile(table):
        return None
    rows = read_list(table, lambda clip_id: os.path.exists(os.path.join(sound, f"{clip_id}.wav")))
    places = None if name else splits_in(data)
    if places is not None and sum(map(len, places.values())) == len(rows):
        rows = [rows[place] for place in places[subset]]
    if not rows:
        return None
    asked = ask(config, sound_of(config), subset, has_native, wish.mode_of(config), wish.mel_len)
    clips = [clip(row.id, (row.normalized,)) for row in rows]
    is_exact = bool(name) or places is not None
    return Folder(subset, data, table, clips, asked, settings_for(config, data), is_exact)


def clip(clip_id: Any, texts: Sequence[Any]) -> Clip:
    """Returns a line of a list, its texts as they are compared."""
    return Clip(str(clip_id), frozenset(" ".join(str(text).split()) for text in texts))


def rows_of(theirs: Any) -> list[Any]:
    """Returns the rows of the trainer's list, in the order of its data set."""
    places = range(len(theirs))
    chosen = getattr(theirs, "_custom_index_map", None) if theirs.use_custom_metadata else theirs.items
    return [theirs.metadata.iloc[place if chosen is None else chosen[place]] for place in places]


def settings_for(config: Any, data: str) -> tuple[str, ...]:
    """Returns the settings by which a build reads the lists of a folder that the trainer reads there."""
    named = {
        "metadata_train_file": getattr(config, "metadata_train_file", None),
        "metadata_eval_file": getattr(config, "metadata_eval_file", None),
    }
    found = {key: name for key, name in named.items() if name and os.path.isfile(os.path.join(data, name))}
    if len(found) == 2:
        return _lists(config, found, ("train", "eval"))
    if found:
        # For the program a single list is the first one, whatever the trainer uses it for.
        (key, name), *_ = found.items()
        return _lists(config, {"metadata_train_file": name}, (key.split("_")[1],))
    return ()


def _lists(config: Any, found: dict[str, str], folders: tuple[str, ...]) -> tuple[str, ...]:
    settings = [f"corpus.{key}={name}" for key, name in found.items()]
    for place, folder in zip(("train", "eval"), folders):
        given = getattr(config, f"wavs_{folder}_dir", None)
        if given:
            settings.append(f"corpus.wavs_{place}_folder={given}")
    return tuple(settings)


def ready(folders: Sequence[Folder], wish: Wish, mode: str) -> list[Items]:
    """Returns the records of each folder.

    One error names all caches that are missing, and their commands; or the caches are made.
    """
    found = _look(folders, wish)
    needs = [one for one in found if isinstance(one, Need)]
    if needs and wish.builds:
        _build(needs)
        found = _look(folders, wish)
        needs = [one for one in found if isinstance(one, Need)]
    if needs:
        raise failure(needs, mode, wish.by_launcher)
    return [one for one in found if isinstance(one, Items)]


def _look(folders: Sequence[Folder], wish: Wish) -> list[Items | Need]:
    found: list[Items | Need] = []
    of_folder: dict[str, Need] = {}  # the cache that will be made of a folder
    for folder in folders:
        used = [need.path for data, need in of_folder.items() if data != folder.data]
        one = look(folder, wish.caches, used)
        if isinstance(one, Need):
            first = of_folder.setdefault(folder.data, one)
            if first.path != one.path:  # one cache has the clips of both
                one = dataclasses.replace(one, command=first.command, path=first.path)
        found.append(one)
    return found


def _build(needs: Sequence[Need]) -> None:
    commands = {shlex.join(need.command): need.command for need in needs}
    for shown, command in commands.items():
        print(f"xtts-precompute: --build: {shown}", file=sys.stderr, flush=True)
        try:
            done = subprocess.run([os.fspath(program()), *command[1:]], check=False)
        except OSError as error:
            raise ResourceError(f"--build: {shown}: {error}") from error
        if done.returncode != 0:
            raise BuildFailedError(shown, done.returncode)
