"""MyXTTS's own loading, as its training makes it (myxtts/training/trainer.py, prepare_datasets). Runs in its Python.

The trainer writes a folder "processed" into its data. So it gets a folder of links to DATA, with a sample of the
clips: what a batch costs is the same, and the texts of a large corpus need not all be read first.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import re
from pathlib import Path
from typing import Any

_CLIPS = 1024
_TABLES = (".csv", ".txt", ".tsv")


def loader(config: str, data: str, scratch: str, batch_size: int = 0, num_workers: int = 0) -> Any:
    """Returns the batches of a training with this configuration, which do not end. 0: as the configuration says."""
    made = _made(config, data, scratch)
    asked = made.config
    with contextlib.redirect_stdout(io.StringIO()) as said:
        batches = made.create_tf_dataset(
            batch_size=batch_size or asked.batch_size,
            shuffle=True,
            repeat=True,
            prefetch=True,
            memory_cache=False,
            num_parallel_calls=num_workers or asked.num_workers,
            buffer_size_multiplier=asked.shuffle_buffer_multiplier,
            drop_remainder=False,
        )
    failed = re.search(r"TF-native loading FAILED.*?Error: (.*?)$", said.getvalue(), re.DOTALL | re.MULTILINE)
    if failed:  # the trainer prints it, and goes on
        batches.note = f"its native loader fails ({failed[1]}), and tf.numpy_function takes its place, on the CPU"
    batches.batch_size = batch_size or asked.batch_size
    return batches


@functools.lru_cache
def _made(config: str, data: str, scratch: str) -> Any:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # loading needs no GPU, and another program may train on it
    import yaml  # type: ignore[import-untyped,unused-ignore]
    from myxtts.config.config import DataConfig  # type: ignore[import-not-found,unused-ignore]
    from myxtts.data.ljspeech import LJSpeechDataset  # type: ignore[import-not-found,unused-ignore]

    with open(config, encoding="utf-8") as file:
        given = (yaml.safe_load(file) or {}).get("data") or {}
    given.pop("preprocessing_mode", None)  # a key of xtts-precompute train
    return LJSpeechDataset(_links(data, scratch), DataConfig(**given), subset="train", download=False)


def _links(data: str, scratch: str) -> str:
    folder = Path(scratch, "data")
    folder.mkdir()
    for entry in Path(data).resolve().iterdir():
        if entry.suffix in _TABLES and entry.is_file():
            _sample(entry, folder / entry.name)
        elif entry.name != "processed":
            (folder / entry.name).symlink_to(entry)
    return str(folder)


def _sample(table: Path, made: Path) -> None:
    """Copies the first line, which may name the columns, and some of the others."""
    lines = table.read_bytes().splitlines(keepends=True)
    others = range(1, len(lines))
    chosen = sorted(random.Random(20).sample(others, min(_CLIPS, len(others))))
    made.write_bytes(b"".join(lines[:1] + [lines[i] for i in chosen]))
