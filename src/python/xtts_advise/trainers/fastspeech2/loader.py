"""FastSpeech 2's own loading, as its train.py makes it. Runs in its Python.

Its Dataset reads what preprocess.py has written, four .npy files of each clip, and never DATA. So preprocess.yaml lies
beside train.yaml, as in its own config/, and its preprocessed_path is that of the current folder, or of dataset.py's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_GROUP = 4  # batches that are read at once


def loader(config: str, _data: str, _scratch: str, batch_size: int = 0, num_workers: int = 0) -> Any:
    """Returns the batches of an epoch. 0: as the configuration, or train.py, says."""
    import dataset  # type: ignore[import-not-found,unused-ignore]
    import yaml  # type: ignore[import-untyped,unused-ignore]
    from torch.utils.data import DataLoader  # type: ignore[import-not-found,unused-ignore]

    given = yaml.load(Path(config).read_text(encoding="utf-8"), Loader=yaml.FullLoader)
    preprocess = yaml.load(_beside(config).read_text(encoding="utf-8"), Loader=yaml.FullLoader)
    size = given["optimizer"]["batch_size"] = batch_size or given["optimizer"]["batch_size"]
    paths = preprocess["path"]
    paths["preprocessed_path"] = _folder(paths["preprocessed_path"], os.path.dirname(dataset.__file__))
    clips = dataset.Dataset("train.txt", preprocess, given, sort=True, drop_last=True)
    if size * _GROUP >= len(clips):
        raise ValueError(f"the trainer asks for more than {size * _GROUP} clips, and train.txt has {len(clips)}")
    groups = DataLoader(
        clips, batch_size=size * _GROUP, shuffle=True, collate_fn=clips.collate_fn, num_workers=num_workers
    )
    return _Batches(groups, size, num_workers)


class _Batches:
    def __init__(self, groups: Any, batch_size: int, num_workers: int) -> None:
        self._groups, self.batch_size, self.num_workers = groups, batch_size, num_workers

    def __iter__(self) -> Iterator[Any]:
        for group in self._groups:
            yield from group


def _beside(config: str) -> Path:
    found = Path(config).with_name("preprocess.yaml")
    if not found.exists():
        raise FileNotFoundError(f"{found} is not there, and says where the preprocessed data is")
    return found


def _folder(path: str, of_trainer: str) -> str:
    """The trainer is started in its own folder."""
    found = [one for one in (path, os.path.join(of_trainer, path)) if os.path.isfile(os.path.join(one, "train.txt"))]
    if not found:
        raise FileNotFoundError(f"{path} has no train.txt: run the trainer's preprocess.py first")
    return found[0]
